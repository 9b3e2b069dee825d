// Our decoder against libllama: same file, same threads, in turns.
//   bench_language FOLDER VOCABULARY [--rounds N] [--threads N] [--model FILE]
// Without --model: SmolLM2-135M's shape with random F16 weights and the vocabulary of another GGUF.
// Prints one JSON line: ratios of prefill (256 tokens) and decode (64 tokens) speed, and the time
// to the first token of a conversation at 20 turns, warm against read anew.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/load.h"
#include "engine/test_models/random_model.h"
#include "series.h"

namespace {

using namespace saccade::engine;
using saccade::bench::milliseconds;
using saccade::bench::Series;

constexpr int kPromptTokens = 256, kAnswerTokens = 64, kTurns = 20, kTurnTokens = 40;

// A prompt that shares nothing with others of another `kind`.
Prompt prompt_of(int tokens, int kind) {
  Prompt out;
  std::vector<TokenId> ids;
  for (int i = 0; i < tokens; ++i) ids.push_back(300 + (i * 7 + kind * 131) % 400);
  out.tokens = tokens;
  out.pieces.emplace_back(std::move(ids));
  return out;
}

void check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(what);
}

struct Times {
  double prefill = 0, decode = 0;
};

Times run(LanguageModel& model, int kind) {
  Times out;
  SamplingOptions warm;
  warm.temperature = 2.0F;  // so that no answer ends early
  out.prefill =
      milliseconds([&] { check(model.start(prompt_of(kPromptTokens, kind), warm).ok(), "start"); });
  out.decode = milliseconds([&] {
    for (int i = 0; i <= kAnswerTokens; ++i) {
      const auto step = model.step();
      check(step.ok(), "step");
      if (step->end) check(model.start(prompt_of(kPromptTokens, kind), warm).ok(), "start");
    }
  });
  return out;
}

std::unique_ptr<LanguageModel> load(const std::string& path, int threads, Engine engine) {
  LoadOptions options;
  options.model_path = path;
  options.threads = threads;
  options.context_tokens = 2048;
  options.engine = engine;
  auto loaded = load_vision_language(options);
  check(loaded.ok(), "load");
  return std::move(loaded->language);
}

struct Options {
  std::string folder, vocabulary, model;
  int rounds = 7, threads = 2;
};

void measure(const Options& options) {
  std::string path = options.model;
  if (path.empty()) {
    path = options.folder + "/smollm2-shape.gguf";
    test::DecoderFile shape;
    shape.width = 576;
    shape.layers = 30;
    shape.heads = 9;
    shape.heads_kv = 3;
    shape.head_size = 64;
    shape.inner = 1536;
    shape.context = 8192;
    shape.vocabulary = options.vocabulary;
    if (!std::filesystem::exists(path)) test::write_decoder(path, shape);
  }
  const auto ours = load(path, options.threads, Engine::kNative);
  const auto theirs = load(path, options.threads, Engine::kLlama);
  Series prefill, decode, warm, ours_prefill, ours_decode;
  for (int i = -1; i < options.rounds; ++i) {
    const Times a = run(*ours, i + 1), b = run(*theirs, i + 1);
    // One more turn on a long conversation: the history is in memory, or it is not.
    const int history = kTurns * kTurnTokens;
    check(ours->start(prompt_of(history, 50 + i), {}).ok(), "start");
    const double continued =
        milliseconds([&] { (void)ours->start(prompt_of(history + kTurnTokens, 50 + i), {}); });
    const double anew =
        milliseconds([&] { (void)ours->start(prompt_of(history + kTurnTokens, 90 + i), {}); });
    if (i < 0) continue;  // the first turn plans graphs
    prefill.values.push_back(b.prefill / a.prefill);
    decode.values.push_back(b.decode / a.decode);
    warm.values.push_back(continued / anew);
    ours_prefill.values.push_back(a.prefill);
    ours_decode.values.push_back(a.decode);
  }
  std::printf("{");
  prefill.print("prefill_speed_vs_libllama");
  decode.print("decode_speed_vs_libllama");
  warm.print("warm_ttft_vs_resend");
  std::printf("\"prefill_tokens_per_s\": %.0f, \"decode_tokens_per_s\": %.1f, \"threads\": %d}\n",
              kPromptTokens * 1e3 / ours_prefill.median(),
              kAnswerTokens * 1e3 / ours_decode.median(), options.threads);
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--rounds" && i + 1 < count) {
      options.rounds = std::max(1, std::atoi(arguments[++i]));
    } else if (word == "--threads" && i + 1 < count) {
      options.threads = std::max(1, std::atoi(arguments[++i]));
    } else if (word == "--model" && i + 1 < count) {
      options.model = arguments[++i];
    } else {
      words.push_back(word);
    }
  }
  if (words.size() != 2) {
    std::fputs(
        "usage: bench_language FOLDER VOCABULARY [--rounds N] [--threads N] [--model FILE]\n",
        stderr);
    return 2;
  }
  options.folder = words[0];
  options.vocabulary = words[1];
  measure(options);
  return 0;
}
