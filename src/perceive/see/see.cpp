#include "perceive/see/see.h"

#include <algorithm>
#include <string>
#include <utility>

namespace saccade::perceive {
namespace {

core::Status check_knobs(const core::Knobs& knobs) {
  if (knobs.change_threshold < 0 || knobs.change_threshold > 255) {
    return core::error(
        core::ErrorCode::kUsage,
        "change threshold " + std::to_string(knobs.change_threshold) + " is outside 0..255",
        "use 12 for camera pictures, less for clean screens");
  }
  if (knobs.fovea_tiles_max < 0) {
    return core::error(core::ErrorCode::kUsage,
                       "fovea tiles " + std::to_string(knobs.fovea_tiles_max) + " is below 0",
                       "use 0 for the global view only");
  }
  return {};
}

core::Error no_pixels(const ingest::Frame& frame, bool has_picture) {
  const std::string at = " at " + frame.time.to_string() + " s";
  if (!has_picture) {
    return core::error(core::ErrorCode::kUsage, "the frame" + at + " holds sound, not a picture",
                       "hand over frames with a picture only");
  }
  return core::error(core::ErrorCode::kMediaUnusable, "the picture" + at + " has no pixels",
                     "check the source with `saccade doctor`");
}

// Greatest level of the changed cells that touch `area`; 0 when there is none.
int change_in(const ChangeMeter::Outcome& outcome, core::Rect area, int cell_pixels) {
  const ChangeMap& map = outcome.map;
  const int bottom = std::min(map.rows - 1, (area.y + area.height - 1) / cell_pixels);
  const int right = std::min(map.columns - 1, (area.x + area.width - 1) / cell_pixels);
  int most = 0;
  for (int row = area.y / cell_pixels; row <= bottom; ++row) {
    for (int column = area.x / cell_pixels; column <= right; ++column) {
      const std::size_t cell = static_cast<std::size_t>(row) * map.columns + column;
      if (outcome.changed[cell] != 0) most = std::max<int>(most, map.level[cell]);
    }
  }
  return most;
}

}  // namespace

Seer::Seer(engine::VisionEncoder* encoder, SeerOptions options)
    : encoder_(encoder), cache_(options.cache_bytes) {}

core::Result<SeenResult> Seer::see(const ingest::Frame& frame, const core::Knobs& knobs) {
  const ingest::Picture* picture = frame.picture();
  if (picture == nullptr || picture->pixels.view().empty()) {
    return no_pixels(frame, picture != nullptr);
  }
  if (const core::Status status = check_knobs(knobs); !status) return status.error();

  Glance glance{picture->pixels.view(), frame.time, knobs.fovea_tiles_max, {}};
  const bool follows = continues(glance.pixels, frame.time);
  if (!follows) start_over(glance.pixels);
  last_time_ = frame.time;

  ChangeMeter::Outcome outcome = meter_.measure(glance.pixels, knobs.change_threshold);
  // Ingest has also seen the pictures between the last one and this one.
  if (follows && picture->scene_cut && outcome.map.changed_share >= kSceneCutShare) {
    outcome.map.scene_cut = true;
  }
  note_change(outcome);
  note_age(frame.time, knobs.refresh_max);
  glance.result.change = std::move(outcome.map);

  const bool global_still = watched_.front().pending == 0;
  glance.result.unchanged = global_still;
  if (!global_still) {
    if (look(glance)) kept_time_ = frame.time;
    // Also after a refusal: the view stays pending, and readers of the change map have seen it.
    meter_.keep();
  }
  glance.result.views = shown_views(frame.time);
  return std::move(glance.result);
}

bool Seer::continues(const core::PixelView& pixels, core::MediaTime time) const {
  if (pixels.width != width_ || pixels.height != height_) return false;
  const auto step = time.since(last_time_);
  return step.has_value() && *step >= core::MediaDuration();
}

void Seer::start_over(const core::PixelView& pixels) {
  meter_.reset();
  width_ = pixels.width;
  height_ = pixels.height;
  kept_time_ = core::MediaTime::unset();
  shown_.clear();
  watched_.clear();
  const auto watch = [this](const Tile& tile) { watched_.emplace_back().tile = tile; };
  watch({{}, {0, 0, width_, height_}});
  if (encoder_ == nullptr) return;
  for (const Tile& tile : plan_tiles(width_, height_, encoder_->traits())) {
    watch(tile);
  }
}

void Seer::note_change(const ChangeMeter::Outcome& outcome) {
  if (outcome.map.regions.empty()) return;
  const int cell_pixels = cell_side(width_, height_);
  for (Watched& watched : watched_) {
    watched.pending =
        std::max(watched.pending, change_in(outcome, watched.tile.source, cell_pixels));
  }
}

void Seer::note_age(core::MediaTime time, core::MediaDuration refresh_max) {
  for (Watched& watched : watched_) {
    const auto age = time.since(watched.global() ? kept_time_ : watched.encoded_at);
    if (!age || *age >= refresh_max) watched.pending = std::max(watched.pending, 1);
  }
}

bool Seer::look(Glance& glance) {
  if (encoder_ == nullptr) {
    watched_.front().pending = 0;
    return true;
  }
  shown_.clear();
  if (!encode(watched_.front(), glance)) return false;
  shown_.push_back(0);
  for (const std::size_t tile : choose_tiles(glance.tiles_max)) {
    if (watched_[tile].pending == 0 || encode(watched_[tile], glance)) shown_.push_back(tile);
  }
  return true;
}

bool Seer::encode(Watched& watched, Glance& glance) {
  const core::PixelView pixels = glance.pixels.crop(watched.tile.source);
  const auto key = make_tile_key(pixels, watched.tile.place, encoder_->traits().fingerprint);
  watched.encoded = key ? cache_.find(*key) : nullptr;
  watched.cached = watched.encoded != nullptr;
  if (watched.cached) {
    ++glance.result.cache_hits;
  } else if (key && watched.refused == key) {
    return false;
  } else {
    core::Result<engine::EncodedViewPtr> encoded = encoder_->encode(pixels, watched.tile.place);
    if (!encoded) {
      watched.refused = key;
      watched.pending = 255;
      glance.result.fault = std::move(encoded).error();
      return false;
    }
    watched.encoded = std::move(*encoded);
    ++glance.result.encoded;
    if (key) cache_.insert(*key, watched.encoded);
  }
  watched.refused.reset();
  watched.encoded_at = glance.time;
  watched.pending = 0;
  return true;
}

std::vector<std::size_t> Seer::choose_tiles(int tiles_max) const {
  std::vector<std::size_t> tiles;
  for (std::size_t i = 1; i < watched_.size(); ++i) tiles.push_back(i);
  std::stable_sort(tiles.begin(), tiles.end(), [this](std::size_t a, std::size_t b) {
    const Watched &wa = watched_[a], &wb = watched_[b];
    if ((wa.pending > 0) != (wb.pending > 0)) return wa.pending > 0;
    if (wa.encoded_at != wb.encoded_at) return wa.encoded_at < wb.encoded_at;
    return wa.pending > wb.pending;
  });
  if (tiles.size() > static_cast<std::size_t>(tiles_max)) tiles.resize(tiles_max);
  std::sort(tiles.begin(), tiles.end());  // shown in reading order
  return tiles;
}

std::vector<SeenView> Seer::shown_views(core::MediaTime time) const {
  std::vector<SeenView> views;
  for (const std::size_t i : shown_) {
    const Watched& w = watched_[i];
    SeenView view{w.tile.place, w.tile.source, w.encoded, false, {}};
    view.age = time.since(w.encoded_at).value_or(core::MediaDuration());
    view.cached = w.cached && w.encoded_at == time;
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace saccade::perceive
