#include "perceive/read/read.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "core/limits.h"
#include "perceive/read/detect_text.h"
#include "perceive/read/order_lines.h"
#include "perceive/read/plan_regions.h"
#include "perceive/read/recognize_line.h"
#include "perceive/read/track_text.h"

namespace saccade::perceive {
namespace {

// How often a crop is grown after a line that reaches out of it, before the line is read as it is.
constexpr int kGrowRoundsMax = 4;
// Two boxes that overlap more are one line, found in two crops.
constexpr double kSameLine = 0.5;

bool touches_any(const core::Rect& line, std::span<const DatedArea> areas) {
  return std::any_of(areas.begin(), areas.end(),
                     [&](const DatedArea& area) { return touches(area.area, line); });
}

core::Error no_picture(const char* what) {
  return core::error(core::ErrorCode::kUsage,
                     std::string("reading text needs a picture with a time, but ") + what);
}

core::Status check(const core::Knobs& knobs) {
  constexpr std::int64_t kLeast = kModelMultiple * kModelMultiple;
  constexpr std::int64_t kMost = core::limits::kReadPixelsStill;
  if (knobs.read_pixels_max >= kLeast && knobs.read_pixels_max <= kMost) return {};
  return core::error(core::ErrorCode::kUsage, "read_pixels_max is " +
                                                  std::to_string(knobs.read_pixels_max) +
                                                  ", allowed are " + std::to_string(kLeast) +
                                                  " to " + std::to_string(kMost));
}

}  // namespace

struct TextReader::State {
  std::unique_ptr<TextSense> sense;
  float confidence_min;
  TextTracker tracker;
  std::vector<DatedArea> pending;                       // changed and not yet read
  std::int64_t pixels_max = core::limits::kReadPixels;  // of the last knobs
  PictureSize size;                                     // of the last picture; 0x0 before the first
  core::MediaTime seen, looked;                         // last picture; last pass

  State(std::unique_ptr<TextSense> with, float least)
      : sense(std::move(with)), confidence_min(least), tracker(least) {}

  void start_anew() {
    pending.clear();
    size = PictureSize{};
    seen = looked = core::MediaTime::unset();
  }
  void note_changes(core::MediaTime time, const ChangeMap& change);
  // Boxes of the lines that touch `areas`, whole even where they reach out of `crop`.
  core::Result<std::vector<Quad>> find_lines(const core::PixelView& view, core::Rect crop,
                                             std::span<const DatedArea> areas, ReadWork& work);
  // Reads everything that changed since the last pass.
  core::Result<Sighting> look(const core::PixelView& view, core::MediaTime time, ReadWork& work);
};

void TextReader::State::note_changes(core::MediaTime time, const ChangeMap& change) {
  const core::Rect whole{0, 0, size.width, size.height};
  if (!seen.is_set() || change.scene_cut) {
    add_area(pending, DatedArea{whole, time});
    return;
  }
  for (const core::Rect& region : change.regions) {
    add_area(pending, DatedArea{core::clip(region, size.width, size.height), time});
  }
}

core::Result<std::vector<Quad>> TextReader::State::find_lines(const core::PixelView& view,
                                                              core::Rect crop,
                                                              std::span<const DatedArea> areas,
                                                              ReadWork& work) {
  std::vector<Quad> boxes;
  for (int round = 0; round < kGrowRoundsMax; ++round) {
    auto found = sense->detect(view.crop(crop), pixels_max);
    if (!found) return found.error();
    ++work.regions;
    work.detect_pixels += static_cast<std::int64_t>(crop.width) * crop.height;
    boxes.clear();
    core::Rect wider = crop;
    for (FoundText& text : *found) {
      for (auto& corner : text.box) {
        corner[0] += static_cast<float>(crop.x);
        corner[1] += static_cast<float>(crop.y);
      }
      const core::Rect line = bounds(text.box);
      if (!touches_any(line, areas)) continue;
      boxes.push_back(text.box);
      wider = grown_around(wider, line, size);
    }
    if (wider == crop) break;
    crop = wider;
  }
  return boxes;
}

core::Result<Sighting> TextReader::State::look(const core::PixelView& view, core::MediaTime time,
                                               ReadWork& work) {
  const auto known = tracker.boxes();
  Sighting sighting;
  sighting.time = time;
  sighting.areas = with_touched_lines(pending, known);
  std::vector<core::Rect> read;
  for (const core::Rect& crop : plan_crops(sighting.areas, size)) {
    const auto boxes = find_lines(view, crop, sighting.areas, work);
    if (!boxes) return boxes.error();
    for (const Quad& box : *boxes) {
      const core::Rect line = bounds(box);
      const bool again = std::any_of(read.begin(), read.end(), [&](const core::Rect& other) {
        return core::overlap(line, other) > kSameLine;
      });
      if (again || read.size() >= core::limits::kTextLinesMax) continue;
      read.push_back(line);
      auto reading = sense->recognize(view, box);
      if (!reading) return reading.error();
      ++work.lines;
      if (!reading->characters.empty()) sighting.lines.push_back(std::move(*reading));
    }
  }
  return sighting;
}

TextReader::TextReader(std::unique_ptr<TextSense> sense, float confidence_min)
    : state_(std::make_unique<State>(std::move(sense), confidence_min)) {}
TextReader::~TextReader() = default;
TextReader::TextReader(TextReader&&) noexcept = default;
TextReader& TextReader::operator=(TextReader&&) noexcept = default;

core::Result<std::unique_ptr<TextReader>> TextReader::open(const ReadOptions& options) {
  if (!(options.confidence_min >= 0 && options.confidence_min <= 1)) {
    return core::error(core::ErrorCode::kUsage, "least confidence of text is " +
                                                    std::to_string(options.confidence_min) +
                                                    ", allowed are 0 to 1");
  }
  auto sense = PpOcr::open({options.detector_path, options.recogniser_path, options.threads});
  if (!sense) return sense.error();
  return std::make_unique<TextReader>(std::move(*sense), options.confidence_min);
}

core::Result<ReadResult> TextReader::read(const ingest::Frame& picture, const ChangeMap& change,
                                          const core::Knobs& knobs) {
  const ingest::Picture* shown = picture.picture();
  if (shown == nullptr || shown->pixels.empty()) return no_picture("got none");
  if (picture.time.is_special()) return no_picture("its time is not set");
  if (auto status = check(knobs); !status) return status.error();
  State& state = *state_;
  state.pixels_max = knobs.read_pixels_max;
  const core::PixelView view = shown->pixels.view();
  const PictureSize size{view.width, view.height};
  const bool jumped = state.seen.is_set() && !picture.time.since(state.seen);
  if (jumped || (state.seen.is_set() && size != state.size)) {
    state.tracker.finish(core::MediaTime::unset());
    state.start_anew();
  }
  state.size = size;
  state.note_changes(picture.time, change);
  state.seen = picture.time;

  ReadResult result;
  const auto rested = picture.time.since(state.looked);
  if (state.pending.empty() || (rested && *rested < knobs.read_interval_min)) {
    state.tracker.extend(picture.time, state.pending);
  } else {
    const auto sighting = state.look(view, picture.time, result.work);
    if (!sighting) return sighting.error();
    state.tracker.observe(*sighting);
    state.pending.clear();
    state.looked = picture.time;
  }
  result.events = state.tracker.take_events();
  result.visible = state.tracker.visible();
  return result;
}

ReadResult TextReader::finish(core::MediaTime end) {
  ReadResult result;
  state_->tracker.finish(end);
  state_->start_anew();
  result.events = state_->tracker.take_events();
  return result;
}

core::Result<std::vector<TextLine>> TextReader::read_still(const core::PixelView& view) {
  std::vector<TextLine> lines, ordered;
  if (view.empty()) return ordered;
  const auto found = state_->sense->detect(view, core::limits::kReadPixelsStill);
  if (!found) return found.error();
  std::vector<Quad> boxes;
  for (const FoundText& text : *found) {
    const auto reading = state_->sense->recognize(view, text.box);
    if (!reading) return reading.error();
    if (reading->characters.empty() || reading->confidence < state_->confidence_min) continue;
    lines.push_back(TextLine{reading->text(), reading->box, reading->confidence});
    boxes.push_back(reading->box);
  }
  for (const std::size_t i : reading_order(boxes)) ordered.push_back(std::move(lines[i]));
  return ordered;
}

}  // namespace saccade::perceive
