#pragma once
// Which of the media we allow this machine's FFmpeg can really open, for `saccade doctor`.
#include <string>
#include <vector>

namespace saccade::ingest {

struct MediaSupport {
  std::string name;     // "containers", "decoders", "protocols"
  std::string present;  // comma list
  std::string missing;  // comma list; empty = everything is there
};
std::vector<MediaSupport> media_support();

}  // namespace saccade::ingest
