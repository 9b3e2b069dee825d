#include "perceive/read/track_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/limits.h"
#include "perceive/read/decode_ctc.h"
#include "perceive/read/detect_text.h"
#include "perceive/read/order_lines.h"

namespace saccade::perceive {
namespace {

constexpr double kSamePlace = 0.3;  // overlap from which two boxes are one place
constexpr double kSameText = 0.5;   // similarity from which two texts may be one, read differently
constexpr double kCovered = 0.5;    // share of a box another one must cover to replace it
constexpr double kMovedHeights = 3.0;  // the same text this many heights away has moved

core::Rect intersection(const core::Rect& a, const core::Rect& b) {
  const int x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return core::Rect{x, y, std::min(a.x + a.width, b.x + b.width) - x,
                    std::min(a.y + a.height, b.y + b.height) - y};
}

double covered_share(const core::Rect& box, const core::Rect& by) {
  const core::Rect shared = intersection(box, by);
  if (shared.empty() || box.empty()) return 0;
  return static_cast<double>(shared.width) * shared.height /
         (static_cast<double>(box.width) * box.height);
}

bool touches_any(std::span<const DatedArea> areas, const core::Rect& box) {
  return std::any_of(areas.begin(), areas.end(),
                     [&](const DatedArea& area) { return touches(area.area, box); });
}

double middles_apart(const core::Rect& a, const core::Rect& b) {
  return std::hypot((a.x + a.width / 2.0) - (b.x + b.width / 2.0),
                    (a.y + a.height / 2.0) - (b.y + b.height / 2.0));
}

// How well a look fits a track: 0 = not at all. Place and text count alike; text that moved must be
// the same.
double fit(const core::Rect& box, const TextVote& vote, const LineReading& line) {
  const core::Rect seen = bounds(line.box);
  const double place = core::overlap(box, seen);
  const bool same_place = place >= kSamePlace;
  const double reach = kMovedHeights * std::min(box.height, seen.height);
  if (!same_place && middles_apart(box, seen) > reach) return 0;
  const double text = text_similarity(vote.characters(), line.characters);
  return text >= (same_place ? kSameText : 1.0) ? place + text : 0;
}

}  // namespace

bool touches(const core::Rect& a, const core::Rect& b) { return !intersection(a, b).empty(); }

void TextTracker::extend(core::MediaTime time, std::span<const DatedArea> unsure) {
  for (std::size_t t = live_.size(); t-- > 0;) {
    Live& live = live_[t];
    if (touches_any(unsure, live.box)) continue;
    if (live.missed) {
      end(t);
    } else {
      live.track.last = time;
    }
  }
}

void TextTracker::begin(const LineReading& line, const Sighting& sighting) {
  if (live_.size() >= core::limits::kTextLinesMax) {
    ++lines_dropped_;
    return;
  }
  Live live;
  live.box = bounds(line.box);
  live.vote.add(line);
  live.track.id = next_id_++;
  live.track.line = TextLine{line.text(), line.box, line.confidence};
  live.track.last = sighting.time;
  // The pixels may have changed before this look; what is read now has stood there since the last
  // change of any part of it.
  core::MediaTime first = core::MediaTime::unset();
  for (const DatedArea& area : sighting.areas) {
    if (touches(area.area, live.box) && area.since > first) first = area.since;
  }
  live.track.first = first.is_set() ? first : sighting.time;
  live_.push_back(std::move(live));
}

void TextTracker::confirm(Live& live, const LineReading& line, core::MediaTime time) {
  live.vote.add(line);
  const auto characters = live.vote.characters();
  const std::string text = live.vote.text();
  if (text != live.track.line.text) live.reported = false;
  live.track.line = TextLine{text, line.box, line_confidence(characters)};
  live.track.last = time;
  live.box = bounds(line.box);
  live.missed = false;
}

void TextTracker::end(std::size_t index) {
  live_[index].track.ended = true;
  ended_.push_back(std::move(live_[index].track));
  live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
}

std::vector<bool> TextTracker::match(const Sighting& sighting, std::vector<bool>& found) {
  struct Match {
    double fit;
    std::size_t track, line;
  };
  std::vector<Match> matches;
  for (std::size_t l = 0; l < sighting.lines.size(); ++l) {
    const core::Rect seen = bounds(sighting.lines[l].box);
    // Text may only have moved to where none stood: two values that swap places did not move.
    const bool vacant = std::none_of(live_.begin(), live_.end(), [&](const Live& live) {
      return core::overlap(live.box, seen) >= kSamePlace;
    });
    for (std::size_t t = 0; t < live_.size(); ++t) {
      if (!vacant && core::overlap(live_[t].box, seen) < kSamePlace) continue;
      const double value = fit(live_[t].box, live_[t].vote, sighting.lines[l]);
      if (value > 0) matches.push_back(Match{value, t, l});
    }
  }
  // Best pairs first, so that equal labels side by side keep their own.
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& a, const Match& b) { return a.fit > b.fit; });
  std::vector<bool> taken(sighting.lines.size(), false);
  for (const Match& match : matches) {
    const LineReading& line = sighting.lines[match.line];
    if (found[match.track] || taken[match.line]) continue;
    if (live_[match.track].vote.contradicts(line)) continue;
    found[match.track] = taken[match.line] = true;
    confirm(live_[match.track], line, sighting.time);
  }
  return taken;
}

void TextTracker::observe(const Sighting& sighting) {
  std::vector<bool> found(live_.size(), false);
  const std::vector<bool> taken = match(sighting, found);
  settle_others(sighting, found, taken);
  for (std::size_t l = 0; l < sighting.lines.size(); ++l) {
    const LineReading& line = sighting.lines[l];
    if (!taken[l] && legible(line)) begin(line, sighting);
  }
}

bool TextTracker::legible(const LineReading& line) const {
  return !line.characters.empty() && line.confidence >= confidence_min_;
}

void TextTracker::settle_others(const Sighting& sighting, const std::vector<bool>& found,
                                const std::vector<bool>& taken) {
  for (std::size_t t = found.size(); t-- > 0;) {
    Live& live = live_[t];
    if (found[t]) continue;
    const bool looked = touches_any(sighting.areas, live.box);
    // Where only the pixels beside it changed, a new line over it replaces it all the same: a line
    // has grown.
    bool replaced = false;
    for (std::size_t l = 0; l < sighting.lines.size() && !replaced; ++l) {
      const LineReading& line = sighting.lines[l];
      replaced = (looked || !taken[l]) && legible(line) &&
                 covered_share(live.box, bounds(line.box)) >= kCovered;
    }
    if (replaced || live.missed) {
      end(t);
    } else if (looked) {
      live.missed = true;
    } else {
      live.track.last = sighting.time;
    }
  }
}

void TextTracker::finish(core::MediaTime end_time) {
  while (!live_.empty()) {
    Live& live = live_.front();
    const auto left = end_time.since(live.track.last);
    if (!live.missed && left && left->us() > 0) live.track.last = end_time;
    end(0);
  }
}

std::vector<core::Rect> TextTracker::boxes() const {
  std::vector<core::Rect> boxes;
  for (const Live& live : live_) boxes.push_back(live.box);
  return boxes;
}

std::vector<TextTrack> TextTracker::visible() const {
  std::vector<Quad> boxes;
  for (const Live& live : live_) boxes.push_back(live.track.line.box);
  std::vector<TextTrack> tracks;
  for (const std::size_t i : reading_order(boxes)) tracks.push_back(live_[i].track);
  return tracks;
}

std::vector<TextTrack> TextTracker::take_events() {
  std::vector<TextTrack> events = std::exchange(ended_, {});
  std::vector<Quad> boxes;
  for (const Live& live : live_) boxes.push_back(live.track.line.box);
  for (const std::size_t i : reading_order(boxes)) {
    if (std::exchange(live_[i].reported, true)) continue;
    events.push_back(live_[i].track);
  }
  return events;
}

}  // namespace saccade::perceive
