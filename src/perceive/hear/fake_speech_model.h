#pragma once
// For tests: a speech model and a voice detector that understand a made-up language without
// weights. A word is a burst of a constant level between gaps of silence; its level is its name.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/limits.h"
#include "engine/speech_model.h"
#include "perceive/hear/detect_voice.h"

namespace saccade::perceive {

inline constexpr int kFakeWords = 20;
inline constexpr float kFakeLevelStep = 0.04F;

// Level of word `index`, 0..kFakeWords - 1.
inline float fake_level(int index) { return kFakeLevelStep * static_cast<float>(index + 1); }
inline std::string fake_word(int index) { return " w" + std::to_string(index); }

class FakeSpeechModel final : public engine::SpeechModel {
 public:
  // A word cut by the end of the clip is misheard, as a real model would.
  core::Result<std::vector<engine::HeardWord>> transcribe(const std::vector<float>& samples,
                                                          const std::string& context) override {
    ++calls;
    longest_clip = std::max(longest_clip, samples.size());
    contexts.push_back(context);
    if (fail_next) {
      fail_next = false;
      return core::error(core::ErrorCode::kInternal, "the fake model was told to fail");
    }
    std::vector<engine::HeardWord> words;
    for (std::size_t at = 0; at < samples.size() && !deaf;) {
      if (samples[at] == 0.0F) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < samples.size() && samples[end] == samples[at]) ++end;
      const int index = static_cast<int>(std::lround(samples[at] / kFakeLevelStep)) - 1;
      std::string text = end == samples.size() ? " hm" : fake_word(index);
      if (fickle && (calls + words.size()) % 3 == 0) text = " eh";
      words.push_back({text, seconds(at), seconds(end), 0.9F});
      at = end;
    }
    return words;
  }

  bool fail_next = false;  // the next call gives an error
  bool deaf = false;       // hears nothing any more
  bool fickle = false;     // mishears every third word, another one each time
  std::size_t calls = 0, longest_clip = 0;
  std::vector<std::string> contexts;  // one per call

 private:
  static double seconds(std::size_t sample) {
    return static_cast<double>(sample) / core::limits::kAudioRate;
  }
};

class FakeVoiceDetector final : public VoiceDetector {
 public:
  core::Result<float> probability(std::span<const float> chunk) override {
    if (fail_next) {
      fail_next = false;
      return core::error(core::ErrorCode::kNumeric, "the fake detector was told to fail");
    }
    const auto loud = std::count_if(chunk.begin(), chunk.end(), [](float s) { return s != 0.0F; });
    return loud * 4 > static_cast<std::ptrdiff_t>(chunk.size()) ? 0.95F : 0.02F;
  }
  void reset() override { ++resets; }

  bool fail_next = false;
  int resets = 0;
};

}  // namespace saccade::perceive
