// SpeechModel on whisper.cpp: greedy, one segment per call, no state carried from call to call.
// The encoder's context is cut to the clip, which is what makes short clips cheap; word times come
// from alignment by cross attention (DTW).
#include <whisper.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <limits>
#include <memory>
#include <thread>

#include "core/limits.h"
#include "engine/load.h"
#include "engine/whisper/check_weights.h"
#include "engine/whisper/place_words.h"

namespace saccade::engine {
namespace {

using core::ErrorCode;

constexpr int kRate = core::limits::kAudioRate;
constexpr std::size_t kSamplesMax = 30UL * kRate;
constexpr std::size_t kSamplesMin = kRate / 50;  // shorter holds no word
constexpr std::size_t kSamplesPadded = kRate;    // alignment and decoder want at least this much
constexpr int kSamplesPerStep = 320;             // of the encoder's output
// Silence the encoder sees after the clip, about 5 s. On 40 clips of 2 to 4 s: with 160 steps the
// decoder misses some ends and loops; 256 to 450 give the fewest wrong words (12 %), the full
// window 16 % at four times the cost.
constexpr int kStepsMargin = 256;
constexpr int kStepsRounding = 64;  // fewer different graph sizes
constexpr int kStepsMax = 1500;
constexpr std::size_t kContextBytes = 200;  // of text that steers spelling
constexpr int kTokensFree = 8;              // limit of tokens of a clip: these ...
constexpr int kTokensPerSecond = 8;         // ... and so many per second; speech has 3 to 6
// A decoding that repeats itself is tried once more with this temperature. An unsure one is not:
// sampling would only make another, less likely text of it.
constexpr float kRetryTemperature = 0.6F;
constexpr float kLogprobRetry = -100.0F;
// Not said by anybody: an average log probability below the first, or below the second when the
// model itself believes in silence.
constexpr float kLogprobMin = -1.3F;
constexpr float kLogprobMinSilent = -0.8F;
constexpr float kNoSpeechMax = 0.6F;

struct ContextDeleter {
  void operator()(whisper_context* context) const { whisper_free(context); }
};
using Context = std::unique_ptr<whisper_context, ContextDeleter>;

// Heads whose attention follows the sound, known per published model.
whisper_alignment_heads_preset alignment_heads(const WhisperShape& shape) {
  const bool english = shape.english_only();
  switch (shape.audio_layers) {
    case 4:
      return english ? WHISPER_AHEADS_TINY_EN : WHISPER_AHEADS_TINY;
    case 6:
      return english ? WHISPER_AHEADS_BASE_EN : WHISPER_AHEADS_BASE;
    case 12:
      return english ? WHISPER_AHEADS_SMALL_EN : WHISPER_AHEADS_SMALL;
    case 24:
      return english ? WHISPER_AHEADS_MEDIUM_EN : WHISPER_AHEADS_MEDIUM;
    default:
      break;
  }
  if (shape.text_layers == 4) return WHISPER_AHEADS_LARGE_V3_TURBO;
  return shape.vocabulary == 51866 ? WHISPER_AHEADS_LARGE_V3 : WHISPER_AHEADS_LARGE_V2;
}

// Presets name heads of the published sizes; anything else aligns with its top layers.
bool is_published(const WhisperShape& shape) {
  const bool turbo = shape.audio_layers == 32 && shape.text_layers == 4;
  if (!turbo && shape.text_layers != shape.audio_layers) return false;
  switch (shape.audio_layers) {
    case 4:
      return shape.text_width == 384;
    case 6:
      return shape.text_width == 512;
    case 12:
      return shape.text_width == 768;
    case 24:
      return shape.text_width == 1024;
    default:
      return shape.text_width == 1280;
  }
}

// What one call's logits filter watches over.
struct Watch {
  std::size_t tokens_max = 0;
  whisper_token end = 0;
  std::size_t vocabulary = 0;
  bool not_a_number = false;
};

// Ends a decoding that runs away, before it costs seconds: too long for the clip, in a loop, or no
// numbers any more. It then ends with an end-of-text token, which the alignment relies on.
void end_runaway(whisper_context*, whisper_state*, const whisper_token_data* tokens, int count,
                 float* logits, void* user) {
  Watch& watch = *static_cast<Watch*>(user);
  bool bad = false;
  for (std::size_t i = 0; i < watch.vocabulary; ++i) bad |= std::isnan(logits[i]);
  watch.not_a_number |= bad;
  std::vector<std::int32_t> ids;
  ids.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) ids.push_back(tokens[i].id);
  if (!bad && ids.size() < watch.tokens_max && length_without_loop(ids) == ids.size()) return;
  std::fill_n(logits, watch.vocabulary, -std::numeric_limits<float>::infinity());
  logits[watch.end] = 0;
}

// The end of `context`, from a whole word on.
std::string steering(const std::string& context) {
  if (context.size() <= kContextBytes) return context;
  const std::size_t space = context.find(' ', context.size() - kContextBytes);
  return space == std::string::npos ? std::string() : context.substr(space);
}

class WhisperSpeech final : public SpeechModel {
 public:
  WhisperSpeech(Context context, int threads) : context_(std::move(context)), threads_(threads) {}

  core::Result<std::vector<HeardWord>> transcribe(const std::vector<float>& samples,
                                                  const std::string& context) override {
    if (samples.size() > kSamplesMax)
      return core::error(
          ErrorCode::kUsage,
          "speech clip has " + std::to_string(samples.size() / kRate) + " s, allowed: 0 to 30 s",
          "cut it at a pause");
    if (samples.size() < kSamplesMin) return std::vector<HeardWord>{};
    if (!std::all_of(samples.begin(), samples.end(), [](float s) { return std::isfinite(s); }))
      return core::error(ErrorCode::kNumeric, "speech clip holds samples that are no numbers");
    std::vector<float> padded = samples;
    padded.resize(std::max(samples.size(), kSamplesPadded));
    Watch watch{.tokens_max = kTokensFree + kTokensPerSecond * samples.size() / kRate,
                .end = whisper_token_eot(context_.get()),
                .vocabulary = static_cast<std::size_t>(whisper_n_vocab(context_.get()))};
    const std::string prompt = steering(context);
    int failed = 0;
    try {
      failed = whisper_full(context_.get(), parameters(padded.size(), prompt, watch), padded.data(),
                            static_cast<int>(padded.size()));
    } catch (const std::exception& problem) {
      return core::error(ErrorCode::kInternal, std::string("whisper.cpp: ") + problem.what());
    }
    if (watch.not_a_number)
      return core::error(ErrorCode::kNumeric, "the speech model computed values that are no number",
                         "fetch the speech model again");
    if (failed != 0)
      return core::error(ErrorCode::kInternal,
                         "whisper.cpp failed with code " + std::to_string(failed));
    return place_words(heard_tokens(), samples);
  }

 private:
  whisper_full_params parameters(std::size_t samples, const std::string& prompt,
                                 Watch& watch) const {
    whisper_full_params p = whisper_full_default_params(WHISPER_SAMPLING_GREEDY);
    p.n_threads = threads_;
    p.no_context = true;
    p.no_timestamps = true;  // words get their times from the alignment
    p.single_segment = true;
    p.print_progress = p.print_realtime = p.print_special = p.print_timestamps = false;
    p.suppress_nst = true;
    p.language = whisper_is_multilingual(context_.get()) != 0 ? "auto" : "en";
    p.initial_prompt = prompt.empty() ? nullptr : prompt.c_str();
    const int steps = static_cast<int>(samples) / kSamplesPerStep + kStepsMargin;
    const int rounded = (steps + kStepsRounding - 1) / kStepsRounding * kStepsRounding;
    p.audio_ctx = std::min(rounded, kStepsMax);
    p.temperature_inc = kRetryTemperature;
    p.logprob_thold = kLogprobRetry;
    p.greedy.best_of = 1;
    p.logits_filter_callback = end_runaway;
    p.logits_filter_callback_user_data = &watch;
    return p;
  }

  // The text of the call just made; nothing when it is not to be believed.
  std::vector<HeardToken> heard_tokens() const {
    std::vector<HeardToken> tokens;
    double logprob_sum = 0;
    const whisper_token end = whisper_token_eot(context_.get());
    const int segments = whisper_full_n_segments(context_.get());
    for (int s = 0; s < segments; ++s) {
      const int count = whisper_full_n_tokens(context_.get(), s);
      for (int t = 0; t < count; ++t) {
        const whisper_token_data data = whisper_full_get_token_data(context_.get(), s, t);
        if (data.id >= end) continue;
        logprob_sum += data.plog;
        tokens.push_back({.id = data.id,
                          .bytes = whisper_full_get_token_text(context_.get(), s, t),
                          .end = static_cast<double>(data.t_dtw) / 100.0,
                          .probability = data.p});
      }
    }
    if (tokens.empty()) return {};
    const float no_speech = whisper_full_get_segment_no_speech_prob(context_.get(), 0);
    const float least = no_speech > kNoSpeechMax ? kLogprobMinSilent : kLogprobMin;
    if (logprob_sum / static_cast<double>(tokens.size()) < least) return {};
    std::vector<std::int32_t> ids;
    ids.reserve(tokens.size());
    for (const HeardToken& token : tokens) ids.push_back(token.id);
    tokens.resize(length_without_loop(ids));
    return tokens;
  }

  Context context_;
  int threads_;
};

// whisper.cpp reads the weights through the very file that was checked.
whisper_model_loader loader_of(std::ifstream& file) {
  whisper_model_loader loader{};
  loader.context = &file;
  loader.read = [](void* from, void* to, std::size_t bytes) {
    auto& in = *static_cast<std::ifstream*>(from);
    in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    return static_cast<std::size_t>(in.gcount());
  };
  loader.eof = [](void* from) { return static_cast<std::ifstream*>(from)->eof(); };
  loader.close = [](void*) {};
  return loader;
}

}  // namespace

core::Result<std::unique_ptr<SpeechModel>> load_speech(const std::string& path, int threads) {
  const auto unusable = [&](const std::string& why, const std::string& hint) {
    return core::error(ErrorCode::kModelUnusable, "speech model " + path + ": " + why, hint);
  };
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  // A folder opens, but has no sensible size.
  if (bytes < 0 || bytes == std::numeric_limits<std::streamoff>::max())
    return unusable("cannot be opened", "check the path and that it is a readable file");
  file.seekg(0);
  auto shape = check_whisper_weights(file, static_cast<std::uint64_t>(bytes), path);
  if (!shape) return std::move(shape).error();
  file.clear();
  file.seekg(0);

  whisper_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  whisper_context_params options = whisper_context_default_params();
  options.use_gpu = false;
  options.flash_attn = false;  // it keeps no attention to align by
  options.dtw_token_timestamps = true;
  options.dtw_aheads_preset =
      is_published(*shape) ? alignment_heads(*shape) : WHISPER_AHEADS_N_TOP_MOST;
  options.dtw_n_top = std::min(2, shape->text_layers);
  Context context;
  try {
    whisper_model_loader loader = loader_of(file);
    context.reset(whisper_init_with_params(&loader, options));
  } catch (const std::exception& problem) {
    return unusable(problem.what(), "fetch the speech model again");
  }
  if (!context) return unusable("whisper.cpp refuses it", "fetch the speech model again");
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::unique_ptr<SpeechModel>(
      std::make_unique<WhisperSpeech>(std::move(context), threads > 0 ? threads : cores));
}

}  // namespace saccade::engine
