// doctor and models: what this machine can do and which weights it has.
#include <iostream>
#include <utility>

#include "commands.h"
#include "doctor.h"
#include "engine/load.h"
#include "models.h"
#include "session/host.h"

namespace saccade::app {
namespace {

std::vector<Check> host_checks() {
  std::vector<Check> checks;
  for (session::HostFact& fact : session::host_facts()) {
    checks.push_back({.name = std::move(fact.name),
                      .ok = fact.ok,
                      .detail = std::move(fact.detail),
                      .fix = fact.ok ? "" : std::move(fact.fix),
                      .required = false});
  }
  return checks;
}

}  // namespace

int run_doctor(CommandContext& context) {
  const auto loaded = context.settings();
  DoctorInput input;
  input.places = context.places();
  if (loaded) {
    input.paths = find_models(loaded->settings, input.places);
  } else {
    input.paths = loaded.error();
  }
  input.backend = engine::describe_backend();
  input.inspect = engine::inspect_gguf;
  input.more = host_checks();
  const std::vector<Check> checks = run_checks(input);
  const bool json = loaded && loaded->settings.json;
  std::cout << (json ? checks_json(checks) : checks_text(checks, context.out_style)) << std::flush;
  return doctor_exit_code(checks);
}

core::Status run_models(CommandContext& context, const std::string& file) {
  auto loaded = context.settings();
  if (!loaded) return std::move(loaded).error();
  std::vector<FoundModel> found;
  if (file.empty()) {
    found = list_models(context.places(), engine::inspect_gguf);
  } else {
    auto facts = engine::inspect_gguf(file);
    if (!facts) return std::move(facts).error();
    found.push_back({file, file, std::move(facts)});
  }
  std::cout << (loaded->settings.json ? models_json(found) : models_text(found, context.out_style))
            << std::flush;
  return {};
}

}  // namespace saccade::app
