// One picture tile through our tower and through llama.cpp's: same weights, same threads, in turns,
// so that what else runs on the machine hits both alike.
//   bench_tile FOLDER [--rounds N] [--threads N] [--keep]
// FOLDER gets the model files (SmolVLM-256M's shape, random weights); --keep leaves them for peers
// that run elsewhere. Prints one JSON line: milliseconds and the median of the ratios by turns.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "engine/llama/mini_model.h"
#include "engine/test_models/random_model.h"
#include "series.h"

namespace {

using namespace saccade::engine;
using saccade::bench::milliseconds;
using saccade::bench::Series;

constexpr int kSide = 512, kTextWidth = 576;

struct Options {
  std::string folder;
  int rounds = 7, threads = 2;
  bool keep = false;
};

void measure(const Options& options) {
  const std::string text = options.folder + "/text.gguf", mmproj = options.folder + "/mmproj.gguf";
  test::DecoderFile decoder;
  decoder.width = kTextWidth;
  decoder.layers = 1;
  decoder.vocabulary = test::kMiniText;
  test::write_decoder(text, decoder);
  test::write_tower(mmproj, {"idefics3", kSide, 16, 768, 12, 12, 3072, 4, kTextWidth});
  LoadOptions load;
  load.model_path = text;
  load.mmproj_path = mmproj;
  load.threads = options.threads;
  const auto open = [&](Engine engine) {
    load.engine = engine;
    auto pair = load_vision_language(load);
    if (!pair) throw std::runtime_error(pair.error().message);
    return std::move(pair).value();
  };
  const VisionLanguage native = open(Engine::kNative), reference = open(Engine::kLlama);
  const auto picture = test::draw(7, kSide, kSide);
  const auto run = [&](VisionEncoder& encoder) {
    return milliseconds([&] { (void)encoder.encode(picture.view(), {}); });
  };
  Series ours, theirs, ratios;
  for (int i = -1; i < options.rounds; ++i) {
    const double a = run(*native.vision), b = run(*reference.vision);
    if (i < 0) continue;  // the first turn plans graphs
    ours.values.push_back(a);
    theirs.values.push_back(b);
    ratios.values.push_back(b / a);
  }
  std::printf("{");
  ratios.print("tile_speed_vs_mtmd");
  std::printf("\"native_ms\": %.1f, \"mtmd_ms\": %.1f, \"threads\": %d}\n", ours.median(),
              theirs.median(), options.threads);
  if (options.keep) return;
  std::filesystem::remove(text);
  std::filesystem::remove(mmproj);
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--keep") {
      options.keep = true;
    } else if (word == "--rounds" && i + 1 < count) {
      options.rounds = std::max(1, std::atoi(arguments[++i]));
    } else if (word == "--threads" && i + 1 < count) {
      options.threads = std::max(1, std::atoi(arguments[++i]));
    } else {
      options.folder = word;
    }
  }
  if (options.folder.empty()) {
    std::fputs("usage: bench_tile FOLDER [--rounds N] [--threads N] [--keep]\n", stderr);
    return 2;
  }
  measure(options);
  return 0;
}
