#pragma once
// Decides which sound belongs to which picture, and when that is certain. Works on plain axis
// microseconds of one epoch; the rules and their reasons are in align.h. Nothing in here knows of
// clocks' drift, Knobs or the ledger, so the rules can be tested alone.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "align/align.h"

namespace saccade::align {

struct HeldPicture {
  ingest::Frame frame;
  core::SteadyTime pushed;  // when it came into this room
};

struct HeldSound {
  ingest::Frame frame;
  core::SteadyTime pushed;
  std::int64_t place_us = 0;  // where it is grouped: its stamp, or later when it came late
  bool stray = false;         // of an older epoch: never the nearest
};

// The content of one Moment.
struct Group {
  std::int64_t time_us = 0;
  std::optional<HeldPicture> picture;
  std::vector<HeldSound> sound;
  std::optional<std::int64_t> nearest_us;  // sound nearest to the picture, as far as it came
  bool joined = false;                     // that sound is inside the window
};

class JoinWindow {
 public:
  explicit JoinWindow(const AlignOptions& options);

  // False when it is not newer than the last picture given out, or is there already.
  bool add_picture(HeldPicture picture);
  void add_sound(HeldSound sound);
  void promise(SourceKind kind, std::int64_t watermark_us);
  void end(SourceKind kind);

  // The next group in order, or nothing when ...
  std::optional<Group> next_certain();                  // ... the watermarks do not allow it yet
  std::optional<Group> next_due(core::SteadyTime now);  // ... nothing has waited for `lateness`
  std::optional<Group> next_held();                     // ... nothing is held

  // A new epoch whose first frame is at `start_us`. Nothing may be held.
  void restart(std::int64_t start_us);

  std::size_t pending() const { return pictures_.size() + sounds_.size(); }

 private:
  struct Reach {
    bool expected = false;
    std::optional<std::int64_t> newest_us, promised_us;
  };
  Reach& reach(SourceKind kind) { return kind == SourceKind::kVideo ? video_ : audio_; }
  std::int64_t watermark_us(const Reach& reach) const;
  bool beyond(const Reach& reach, std::int64_t at_us) const;
  std::int64_t chunk_us() const;
  bool chunk_stands_alone() const;
  bool chunk_certain() const;
  bool picture_certain() const;
  bool full() const;
  std::optional<std::int64_t> nearest_us(std::int64_t at_us) const;
  Group take_picture();
  Group take_chunk(std::int64_t end_us);
  void take_sound(Group& group, std::int64_t until_us);

  const std::int64_t window_us_, lateness_us_, reorder_us_, sound_moment_us_;
  Reach video_, audio_;
  std::deque<HeldPicture> pictures_;             // by time
  std::deque<HeldSound> sounds_;                 // by place, then time
  std::deque<std::int64_t> taken_us_;            // stamps of sound given out lately
  std::optional<std::int64_t> cut_us_;           // sound before this was given out
  std::optional<std::int64_t> last_picture_us_;  // given out
  std::int64_t start_us_ = 0;                    // of the epoch
};

}  // namespace saccade::align
