#pragma once
// Settings become session options, and name the weights.
#include <string>
#include <vector>

#include "commands.h"
#include "core/result.h"
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

core::Knobs knobs_of(const Settings& settings);
engine::SamplingOptions sampling_of(const Settings& settings);
// One word or phrase per line; empty lines are left out. Errors: kUsage.
core::Result<std::vector<std::string>> filter_words_of(const Settings& settings);
ingest::SourceOptions source_of(const Settings& settings, const std::string& url);

}  // namespace saccade::app
