#pragma once
// The two PP-OCR networks on OpenVINO: where is text, and what does a line say. Knows tensors only;
// pictures and boxes are the callers' business. OpenVINO is seen by the .cpp alone.
// Both networks are compiled once for any size: measured on AVX2 this is as fast as one compiled
// model per size, and needs neither the 0.3 s per new size nor the memory. What OpenVINO keeps per
// size is bounded by kShapesCached; callers round sizes up (kModelMultiple) so few occur.
// Threads: one caller at a time. Inference uses `threads` workers that sleep when idle.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "perceive/read/decode_ctc.h"

namespace saccade::perceive {

inline constexpr int kModelMultiple = 32;  // sides of a detector input, width of a line input
inline constexpr int kLineHeight = 48;     // rows of a line input
inline constexpr int kColumnsPerStep = 8;  // line pixels per recogniser column
inline constexpr int kReadThreadsMax = 64;
inline constexpr int kShapesCached = 256;  // compiled kernels OpenVINO keeps

struct TextModelOptions {
  std::string detector_path, recogniser_path;  // ONNX
  int threads = 1;                             // 1..kReadThreadsMax
};

// Network input, F32 [3][height][width], channels blue, green, red, -1..1.
struct ModelPicture {
  std::vector<float> planes;
  int height = 0, width = 0;
};

// How much each pixel looks like text, F32 [height][width], 0..1.
struct TextMap {
  std::vector<float> probability;
  int height = 0, width = 0;
};

class TextModels {
 public:
  // Errors: kUsage (threads), kModelUnusable (missing, unreadable, not this kind of network).
  static core::Result<std::unique_ptr<TextModels>> load(const TextModelOptions& options);
  ~TextModels();
  TextModels(const TextModels&) = delete;
  TextModels& operator=(const TextModels&) = delete;

  // Sides are multiples of kModelMultiple. Errors: kInternal, kNumeric.
  core::Result<TextMap> detect(const ModelPicture& picture);
  // Height is kLineHeight. One step per kColumnsPerStep pixels. Errors: kInternal, kNumeric.
  core::Result<std::vector<CtcStep>> recognize(const ModelPicture& line);

  // Characters by class; the first is the blank, the last the space.
  std::span<const std::string> symbols() const;

 private:
  struct State;
  explicit TextModels(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace saccade::perceive
