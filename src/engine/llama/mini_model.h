#pragma once
// For tests: the bundled model and pictures drawn from a seed.
#include <cstdint>
#include <string>
#include <vector>

#include "core/pixels.h"
#include "core/rng.h"
#include "engine/load.h"

namespace saccade::engine::test {

inline constexpr const char* kMiniText = "models/mini/saccade-mini-text-f16.gguf";
inline constexpr const char* kMiniVision = "models/mini/saccade-mini-mmproj-f16.gguf";

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // [height][width][3]
  core::PixelView view() const { return {rgb.data(), width, height, std::ptrdiff_t{3} * width}; }
};

// A plain background with some boxes and discs; the same seed draws the same picture.
inline Picture draw(std::uint64_t seed, int width = 192, int height = 192) {
  core::Rng rng(seed);
  const auto byte = [&] { return static_cast<std::uint8_t>(rng.between(0, 255)); };
  Picture out{width, height, {}};
  out.rgb.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  const std::uint8_t ground[3] = {byte(), byte(), byte()};
  for (std::size_t i = 0; i < out.rgb.size(); ++i) out.rgb[i] = ground[i % 3];
  for (auto shapes = rng.between(1, 5); shapes > 0; --shapes) {
    const std::uint8_t colour[3] = {byte(), byte(), byte()};
    const auto cx = rng.between(0, width), cy = rng.between(0, height);
    const auto r = rng.between(8, 50);
    const bool disc = rng.between(0, 1) == 1;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const auto dx = x - cx, dy = y - cy;
        const bool inside = disc ? dx * dx + dy * dy < r * r : dx * dx < r * r && dy * dy < r * r;
        if (!inside) continue;
        const auto at = (static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)) * 3;
        for (int c = 0; c < 3; ++c) out.rgb[at + static_cast<std::size_t>(c)] = colour[c];
      }
    }
  }
  return out;
}

// The pair with both cores of a small machine; aborts the test program when it cannot be loaded.
inline VisionLanguage load_mini(Engine engine = Engine::kLlama) {
  LoadOptions options;
  options.engine = engine;
  options.model_path = kMiniText;
  options.mmproj_path = kMiniVision;
  options.threads = 2;
  auto pair = load_vision_language(options);
  return std::move(pair).value();
}

inline ChatTurn user_turn(const std::vector<EncodedViewPtr>& views, const std::string& text) {
  ChatTurn turn;
  for (const auto& view : views) turn.parts.emplace_back().content = view;
  turn.parts.emplace_back().content = text;
  return turn;
}

// Token ids of a prompt; -1 stands for one visual token.
inline std::vector<TokenId> flatten(const Prompt& prompt) {
  std::vector<TokenId> out;
  for (const auto& piece : prompt.pieces) {
    if (const auto* ids = std::get_if<std::vector<TokenId>>(&piece)) {
      out.insert(out.end(), ids->begin(), ids->end());
    } else {
      out.insert(out.end(), static_cast<std::size_t>(std::get<VisualSpanPtr>(piece)->tokens), -1);
    }
  }
  return out;
}

// Steps to the end of the answer, at most `tokens_max`.
inline std::string answer(LanguageModel& model, int tokens_max = 48) {
  std::string out;
  for (int i = 0; i < tokens_max; ++i) {
    const auto step = model.step();
    if (!step || step->end) break;
    out += step->bytes;
  }
  return out;
}

}  // namespace saccade::engine::test
