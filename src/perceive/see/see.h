#pragma once
// The eye: one picture in, the views worth showing to the language model out. What did not change
// since it was last encoded is not encoded again.
//
// A picture is `unchanged` when no cell moved since the kept content and the kept content is
// younger than Knobs.refresh_max. Then nothing is encoded and the last views come back, grown
// older. Otherwise the global view is encoded, and up to Knobs.fovea_tiles_max tiles are shown:
// first those with pending change, then the others; within each those encoded longest ago go first,
// so that a blinking lamp cannot starve the rest and the sharp spot visits the whole picture in
// turn. A shown tile without pending change keeps its old tokens. A changed tile that found no
// place stays pending: change is never forgotten. Everything is reset by a new epoch, a backward
// step of time or another picture size.
//
// Threads: one thread, the encoder's owner. Time: media time only.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/knobs.h"
#include "core/limits.h"
#include "core/result.h"
#include "engine/vision_encoder.h"
#include "ingest/ingest_types.h"
#include "perceive/perceive_types.h"
#include "perceive/see/measure_change.h"
#include "perceive/see/tile_cache.h"
#include "perceive/see/tile_grid.h"

namespace saccade::perceive {

struct SeerOptions {
  std::size_t cache_bytes = core::limits::kTileCacheBytes;  // 0 = nothing is remembered
};

struct SeenResult {
  ChangeMap change;
  bool unchanged = false;
  std::vector<SeenView> views;  // global first; empty without encoder
  int encoded = 0;              // views computed for this picture
  int cache_hits = 0;           // views found in the tile cache
  // The encoder refused a view (NaN, for instance). Its view is missing, without the global view
  // all are; the stream goes on. The same pixels are neither tried nor reported again, other ones
  // are.
  std::optional<core::Error> fault;
};

class Seer {
 public:
  // `encoder` may be null: change is measured, nothing is encoded. It must outlive the Seer.
  explicit Seer(engine::VisionEncoder* encoder, SeerOptions options = {});

  // `frame` must hold a picture. Its pixels are not kept. Errors: kUsage (no picture, or a knob out
  // of range), kMediaUnusable (a picture without pixels). Faults of the encoder are in the result.
  core::Result<SeenResult> see(const ingest::Frame& frame, const core::Knobs& knobs);

  const TileCache& cache() const { return cache_; }

 private:
  // What is known of one view's place.
  struct Watched {
    Tile tile;
    engine::EncodedViewPtr encoded;  // null until encoded
    core::MediaTime encoded_at;
    int pending = 255;  // greatest change since then, 0 = none
    bool cached = false;
    std::optional<TileKey> refused;  // pixels the encoder failed on last

    bool global() const { return tile.place.global(); }
  };

  // One picture on its way through see().
  struct Glance {
    core::PixelView pixels;
    core::MediaTime time;
    int tiles_max = 0;
    SeenResult result;
  };

  bool continues(const core::PixelView& pixels, core::MediaTime time) const;
  void start_over(const core::PixelView& pixels);
  void note_change(const ChangeMeter::Outcome& outcome);
  void note_age(core::MediaTime time, core::MediaDuration refresh_max);
  // False when the encoder refused; the reason is then in the result.
  bool look(Glance& glance);
  bool encode(Watched& watched, Glance& glance);
  std::vector<std::size_t> choose_tiles(int tiles_max) const;
  std::vector<SeenView> shown_views(core::MediaTime time) const;

  engine::VisionEncoder* const encoder_;
  TileCache cache_;
  ChangeMeter meter_;
  int width_ = 0, height_ = 0;
  core::MediaTime last_time_;       // of the picture before
  core::MediaTime kept_time_;       // of the kept content; unset = none
  std::vector<Watched> watched_;    // [0] is the global view, then the grid
  std::vector<std::size_t> shown_;  // indexes into watched_, global first
};

}  // namespace saccade::perceive
