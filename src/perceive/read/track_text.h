#pragma once
// Lines followed over time: a still caption is one track with a first and a last time, not fifty
// readings. Pure logic on readings and rectangles; no pixels, no clock.
// A look matches a track by place (overlap) and text; matched looks vote. Other text at the same
// place ends the old track at once and begins a new one. A track that is not found again is kept
// for one more picture: seen again it goes on, else it ends. (When that picture shows the same
// there, a second look would say the same, so none is made.) `last` is the last time it was really
// seen, so it is never later than the truth.
// Limit: kTextLinesMax tracks; looks beyond are dropped, and counted.
#include <cstdint>
#include <span>
#include <vector>

#include "core/media_time.h"
#include "core/pixels.h"
#include "perceive/perceive_types.h"
#include "perceive/read/text_sense.h"
#include "perceive/read/vote_text.h"

namespace saccade::perceive {

// A rectangle of pixels whose content has been the same since `since`.
struct DatedArea {
  core::Rect area;
  core::MediaTime since;
};

// One pass over parts of a picture.
struct Sighting {
  core::MediaTime time;
  std::vector<LineReading> lines;
  std::vector<DatedArea> areas;  // everything legible that touches these is in `lines`
};

class TextTracker {
 public:
  // Tracks below `confidence_min` are neither begun nor reported.
  explicit TextTracker(float confidence_min) : confidence_min_(confidence_min) {}

  // The picture at `time` shows the same as before outside `unsure`: of the tracks that touch none
  // of it, those seen are still there, and those missed are gone.
  void extend(core::MediaTime time, std::span<const DatedArea> unsure);
  void observe(const Sighting& sighting);
  // Ends all tracks. Those seen until now last until `end`, if it is a time of theirs.
  void finish(core::MediaTime end);

  // Boxes of live tracks.
  std::vector<core::Rect> boxes() const;
  // Live tracks in reading order.
  std::vector<TextTrack> visible() const;
  // What began, changed its text or ended since the last call, in that order; ended ones come once.
  std::vector<TextTrack> take_events();
  std::uint64_t lines_dropped() const { return lines_dropped_; }

 private:
  struct Live {
    TextTrack track;
    TextVote vote;
    core::Rect box;
    bool missed = false;    // not found at the last look
    bool reported = false;  // nothing new since the last event
  };
  bool legible(const LineReading& line) const;
  void begin(const LineReading& line, const Sighting& sighting);
  void confirm(Live& live, const LineReading& line, core::MediaTime time);
  void end(std::size_t index);
  // Gives each track at most one line of the sighting and marks it found; true per line taken.
  std::vector<bool> match(const Sighting& sighting, std::vector<bool>& found);
  // What becomes of tracks that no line was given to.
  void settle_others(const Sighting& sighting, const std::vector<bool>& found,
                     const std::vector<bool>& taken);

  float confidence_min_;
  std::uint64_t next_id_ = 1, lines_dropped_ = 0;
  std::vector<Live> live_;
  std::vector<TextTrack> ended_;
};

// Whether two rectangles share a pixel.
bool touches(const core::Rect& a, const core::Rect& b);

}  // namespace saccade::perceive
