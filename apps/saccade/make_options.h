#pragma once
// Settings become session options, and name the weights.
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "core/result.h"
#include "policy_folder.h"
#include "print_error.h"
#include "session/models.h"
#include "session/session.h"
#include "settings.h"

namespace saccade::app {

using session::Senses;

struct OptionRules {
  bool default_prompt = false;  // ask "What do you see?" when nothing else is asked
};

// Errors: kUsage (filter file unreadable, a prompt without the sense `see`).
core::Result<session::SessionOptions> session_options(const Settings& settings,
                                                      const std::string& source,
                                                      const Senses& senses,
                                                      const OptionRules& rules);

// Finds the weights of `senses`. Errors: kModelUnusable, kUsage.
core::Result<session::ModelFiles> find_model_files(const CommandContext& context,
                                                   const Settings& settings, const Senses& senses);

// Finds and loads the weights of `senses`. Errors: kModelUnusable, kUsage.
core::Result<session::LoadedModels> open_models(const CommandContext& context,
                                                const Settings& settings, const Senses& senses);

// Notes on stderr for prompts that the model was not trained on.
void note_on_prompts(CommandContext& context, const Settings& settings,
                     const std::vector<std::string>& prompts);

core::Knobs knobs_of(const Settings& settings);
// The folder of --policies; nothing without one. Errors: those of PolicyFolder::open.
core::Result<std::optional<PolicyFolder>> open_policies(const Settings& settings);
// Errors: kUsage (a policy that there is not).
core::Result<session::Governing> governing_of(const Settings& settings,
                                              const std::optional<PolicyFolder>& policies);
// Reads changed policies again; `take` gets what is there then. What is wrong is told, and the
// policies stay as they were.
template <typename Take>
void renew_policies(CommandContext& context, PolicyFolder& policies, bool at_once, Take take) {
  const auto renewed = policies.renew(context.clock.now(), at_once);
  if (renewed && *renewed) take(policies.book());
  if (renewed && !*renewed) {
    context.footer.print_error(error_line(renewed->error(), context.footer.style()));
  }
}
engine::SamplingOptions sampling_of(const Settings& settings);
// One word or phrase per line; empty lines are left out. Errors: kUsage.
core::Result<std::vector<std::string>> filter_words_of(const Settings& settings);
ingest::SourceOptions source_of(const Settings& settings, const std::string& url);

}  // namespace saccade::app
