#pragma once
// Opens model files. The rest of the program sees only the interfaces.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/result.h"
#include "engine/language_model.h"
#include "engine/speech_model.h"
#include "engine/vision_encoder.h"

namespace saccade::engine {

// Whose graphs run a model.
enum class Engine {
  kAuto,    // ours where we have them, else llama.cpp's
  kNative,  // ours or an error
  kLlama,   // llama.cpp's: every family it loads
};

inline constexpr int kSessionsMax = 32;

struct LoadOptions {
  std::string model_path;   // text GGUF
  std::string mmproj_path;  // vision GGUF; empty = text only
  int context_tokens = 0;   // 0 = the model's own, at most 8192
  int threads = 0;          // of each model; 0 = by its size, at most the cores of the machine
  bool gpu = false;         // offload when the build has a device
  Engine engine = Engine::kAuto;
  int sessions = 1;  // that answer at the same time, 1..kSessionsMax; memory for each (native)
  // 0..1; returning false aborts the load. May be empty.
  std::function<bool(float)> progress;
};

// A pair that belongs together. `vision` is null for a text-only model; it must die first.
struct VisionLanguage {
  std::unique_ptr<LanguageModel> language;
  std::unique_ptr<VisionEncoder> vision;
};

// Errors: kModelUnusable (absent, not GGUF, cut short, mmproj of another model: says which),
// kUnsupported (kNative and no graph of ours), kUsage (threads, sessions).
core::Result<VisionLanguage> load_vision_language(const LoadOptions& options);

// whisper.cpp weights ("ggml" format). Errors: kModelUnusable.
core::Result<std::unique_ptr<SpeechModel>> load_speech(const std::string& path, int threads);

// One-line facts for `doctor` and `models`: build, processor features, devices.
std::string describe_backend();

// Header facts of a GGUF file, checked before use (T17): every count, size and offset inside the
// file. Errors: kModelUnusable with the reason.
struct GgufFacts {
  std::string architecture, name, projector;
  std::uint64_t file_bytes = 0, tensors = 0, parameters = 0;
  std::uint32_t version = 0;
  // Kinds of question it was trained on, with {places} for words; empty = any (saccade.prompts).
  std::vector<std::string> prompts = {};
};
core::Result<GgufFacts> inspect_gguf(const std::string& path);

}  // namespace saccade::engine
