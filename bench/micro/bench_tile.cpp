// One picture tile through our tower and through llama.cpp's: same weights, same threads, in turns,
// so that what else runs on the machine hits both alike.
//   bench_tile FOLDER [--rounds N] [--threads N] [--keep]
// FOLDER gets the model files (SmolVLM-256M's shape, random weights); --keep leaves them for peers
// that run elsewhere. Prints one JSON line: milliseconds and the median of the ratios by turns.
#include <llama.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/llama/mini_model.h"
#include "engine/native/native_vision.h"
#include "engine/test_models/random_model.h"

namespace {

using namespace saccade::engine;

constexpr int kSide = 512, kTextWidth = 576;

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

std::unique_ptr<VisionEncoder> load_native(const std::string& text, const std::string& mmproj,
                                           int threads) {
  auto params = llama_model_default_params();
  params.vocab_only = true;
  auto weights = std::make_shared<llama::Weights>();
  weights->model.reset(llama_model_load_from_file(text.c_str(), params));
  auto file = gguf::WeightFile::open(mmproj);
  auto device = Device::cpu(threads);
  auto vision = native::NativeVision::create(
      {weights, std::shared_ptr<Device>(std::move(*device)), std::move(*file)});
  return std::move(*vision);
}

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
  test::write_siglip(mmproj, {kSide, 16, 768, 12, 12, 3072, 4, kTextWidth, true, 1});
  LoadOptions load;
  load.model_path = text;
  load.mmproj_path = mmproj;
  load.threads = options.threads;
  load.engine = Engine::kLlama;
  auto reference = load_vision_language(load);
  if (!reference) throw std::runtime_error(reference.error().message);
  const auto native = load_native(text, mmproj, options.threads);
  const auto picture = test::draw(7, kSide, kSide);
  const auto run = [&](VisionEncoder& encoder) {
    return milliseconds([&] { (void)encoder.encode(picture.view(), {}); });
  };
  std::vector<double> ours, theirs, ratios;
  for (int i = -1; i < options.rounds; ++i) {
    const double a = run(*native), b = run(*reference->vision);
    if (i < 0) continue;  // the first turn plans graphs
    ours.push_back(a);
    theirs.push_back(b);
    ratios.push_back(b / a);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf(
      "{\"tile_speed_vs_mtmd\": {\"value\": %.3f, \"samples\": %zu, \"low\": %.3f, \"high\": "
      "%.3f}, "
      "\"native_ms\": %.1f, \"mtmd_ms\": %.1f, \"threads\": %d}\n",
      median(ratios), ratios.size(), ratios.front(), ratios.back(), median(ours), median(theirs),
      options.threads);
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
