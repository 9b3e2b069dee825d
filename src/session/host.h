#pragma once
// What the program must know of the rooms below to host them: the decode worker's entry and what
// this machine offers.
#include <string>
#include <vector>

namespace saccade::session {

// Body of the hidden subcommand `decode-worker`. Returns the process exit code.
int run_decode_worker();

// One fact for `saccade doctor`.
struct HostFact {
  std::string name;
  bool ok = false;
  std::string detail;  // what was found
  std::string fix;     // the next step when not ok
};
std::vector<HostFact> host_facts();

}  // namespace saccade::session
