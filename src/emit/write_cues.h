#pragma once
// Subtitle files: WebVTT and SubRip. Two steps, so that a server can stream and a file can be tidy:
//   CueWriter   one cue after the other as text to append
//   CueSheet    collects what many senses say at once and lays it out as one row of cues
// Promises of both: start times never go back, no two cues overlap, every cue lasts at least 1 ms,
// milliseconds carry (59.9996 s is 00:01:00.000; corpus 22, 23), nothing in a text can end a cue
// early or open markup. Times are media seconds; epochs only rise, so they are left out.
// Threads: one.
#include <cstddef>
#include <string>
#include <vector>

#include "core/media_time.h"

namespace saccade::emit {

enum class CueFormat { kWebVtt, kSubRip };

struct Cue {
  core::MediaTime start, end;
  std::string text;  // whole UTF-8; several lines allowed, empty ones are left out
  std::string lane;  // CueSheet: one voice; two cues of one lane never show together
};

class CueWriter {
 public:
  explicit CueWriter(CueFormat format) : format_(format) {}

  // First thing in the file. A WebVTT file without any cue is just this.
  std::string header() const;
  // The cue as text, or nothing when it has no visible text. A start before the end of the cue
  // before it is moved there.
  std::string push(const Cue& cue);

 private:
  CueFormat format_;
  long number_ = 0;
  std::int64_t last_end_ms_ = 0;
};

// Bounded: kCueSheetCuesMax cues and kCueSheetBytesMax bytes of text.
inline constexpr std::size_t kCueSheetCuesMax = 200'000;
inline constexpr std::size_t kCueSheetBytesMax = 64ULL << 20;
// Lines shown at once; the ones that began last win.
inline constexpr std::size_t kCueLanesShownMax = 8;

class CueSheet {
 public:
  // False when full: the cue is not taken.
  bool add(Cue cue);
  // The whole file.
  std::string render(CueFormat format) const;
  std::size_t size() const { return cues_.size(); }

 private:
  std::vector<Cue> cues_;
  std::size_t bytes_ = 0;
};

// Cues of many lanes as one row: within a lane a later cue ends the one before; across lanes what
// shows at the same time becomes one cue with a line each, oldest first.
std::vector<Cue> lay_out_cues(const std::vector<Cue>& cues);

}  // namespace saccade::emit
