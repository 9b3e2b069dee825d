#pragma once
// Is somebody speaking? One probability per 32 ms of sound.
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"

namespace saccade::perceive {

inline constexpr std::size_t kVoiceChunkSamples = 512;  // 32 ms at 16 kHz

// Remembers the sound before; one thread at a time.
class VoiceDetector {
 public:
  virtual ~VoiceDetector() = default;
  // Probability 0..1 that the next chunk [kVoiceChunkSamples] holds speech. Errors: kUsage (another
  // size), kNumeric (the network gave no number; its memory is then cleared), kInternal.
  virtual core::Result<float> probability(std::span<const float> chunk) = 0;
  // Forgets the sound before: call it when the sound does not continue.
  virtual void reset() = 0;
};

// Silero VAD (16 kHz ONNX) on one thread. Errors: kModelUnusable (absent, broken, another network).
core::Result<std::unique_ptr<VoiceDetector>> load_voice_detector(const std::string& path);

}  // namespace saccade::perceive
