#pragma once
// What the screen reads, followed over time. Looks only where pixels changed: an unchanged picture
// costs nothing, and lines outside the change just live on.
// In: a picture of any size and where it changed since the picture before (a map of the first
// picture, a scene cut, another size or a new epoch counts as "everywhere"). Out: text tracks in
// media time and source pixels.
// When reading must rest (Knobs::read_interval_min) changes pile up and are read later; what is
// found then is dated back to the last change of its pixels. Bounded by kTextLinesMax tracks,
// kTextLineBytesMax per line and kAreasMax changes kept apart.
// Threads: one at a time. Costs: see README.md.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/knobs.h"
#include "core/result.h"
#include "ingest/ingest_types.h"
#include "perceive/perceive_types.h"

namespace saccade::perceive {

class TextSense;

inline constexpr float kTextConfidenceMin = 0.3F;

struct ReadOptions {
  std::string detector_path, recogniser_path;  // PP-OCR as ONNX
  int threads = 1;                             // of inference, 1..64
  float confidence_min = kTextConfidenceMin;   // 0..1; lines below are not reported
};

// What one call cost.
struct ReadWork {
  int regions = 0;                 // detector runs
  int lines = 0;                   // recogniser runs
  std::int64_t detect_pixels = 0;  // looked at
};

struct ReadResult {
  std::vector<TextTrack> events;   // began, changed their text or ended now
  std::vector<TextTrack> visible;  // all live ones, in reading order
  ReadWork work;
};

class TextReader {
 public:
  // Errors: kUsage (a value out of range), kModelUnusable.
  static core::Result<std::unique_ptr<TextReader>> open(const ReadOptions& options);
  // With a recogniser of one's own. `confidence_min` as in ReadOptions.
  TextReader(std::unique_ptr<TextSense> sense, float confidence_min);
  ~TextReader();
  TextReader(TextReader&&) noexcept;
  TextReader& operator=(TextReader&&) noexcept;

  // Errors: kUsage (no picture, no time, a knob out of range), kInternal, kNumeric. After an error
  // nothing is lost: the next call looks at the same places again.
  core::Result<ReadResult> read(const ingest::Frame& picture, const ChangeMap& change,
                                const core::Knobs& knobs);

  // The stream has ended at `end`: ends all tracks. The next picture begins anew.
  ReadResult finish(core::MediaTime end);

  // All lines of one still picture in reading order, apart from any tracks. Looks at up to
  // kReadPixelsStill.
  core::Result<std::vector<TextLine>> read_still(const core::PixelView& view);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::perceive
