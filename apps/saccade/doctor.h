#pragma once
// `saccade doctor`: what works on this machine, and one fix per problem. Facts other rooms know
// (media protocols, sandbox, GGUF headers) are handed in.
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"
#include "engine/load.h"
#include "find_models.h"
#include "terminal.h"

namespace saccade::app {

struct Check {
  std::string name;
  bool ok = true;
  std::string detail;    // what was found
  std::string fix;       // the next step; empty when there is nothing to do
  bool required = true;  // not ok and required = exit code 1; else it is only told
};

struct DoctorInput {
  core::Result<ModelPaths> paths = ModelPaths{};
  ModelPlaces places;
  std::string backend;  // engine::describe_backend()
  std::function<core::Result<engine::GgufFacts>(const std::string&)> inspect;
  std::vector<Check> more;  // from ingest and others; shown after ours
  std::string system_root;  // "" in earnest; a folder that stands for / in tests
};

std::vector<Check> run_checks(const DoctorInput& input);
// 0, or 1 when something required does not work.
int doctor_exit_code(const std::vector<Check>& checks);
std::string checks_text(const std::vector<Check>& checks, const TerminalStyle& style);
// {"ok":...,"checks":[{"name","ok","required","detail","fix"}]}
std::string checks_json(const std::vector<Check>& checks);

}  // namespace saccade::app
