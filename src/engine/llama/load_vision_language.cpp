// Headers are checked before llama.cpp opens a file, and weights are read into memory rather than
// mapped: a file that is cut short or replaced later cannot take the process down.
#include <llama.h>
#include <mtmd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "engine/gguf/inspect_gguf.h"
#include "engine/llama/backend.h"
#include "engine/llama/llama_language.h"
#include "engine/llama/llama_vision.h"
#include "engine/load.h"
#include "engine/native/load_native.h"

namespace saccade::engine {
namespace llama {
namespace {

constexpr int kThreadsMax = 256;
constexpr float kTextShare = 0.8F;  // of the progress; the vision file has the rest
constexpr int kAllLayers = 999;

core::Error unusable(const std::string& message, std::string hint) {
  return core::error(core::ErrorCode::kModelUnusable, message, std::move(hint));
}

// Names for messages: "path (model name)".
std::string name_file(const std::string& path, const gguf::OpenedHeader& file) {
  const std::string name = file.header.text("general.name");
  return name.empty() ? path : path + " (" + name + ")";
}

struct Progress {
  const std::function<bool(float)>* report = nullptr;
  float from = 0, share = 1;
  bool cancelled = false;
};

bool on_progress(float done, void* user) {
  auto* progress = static_cast<Progress*>(user);
  if (!*progress->report) return true;
  const bool go_on =
      (*progress->report)(progress->from + progress->share * std::clamp(done, 0.0F, 1.0F));
  progress->cancelled = progress->cancelled || !go_on;
  return go_on;
}

core::Result<gguf::OpenedHeader> open_text(const std::string& path) {
  auto file = gguf::read_gguf(path);
  if (!file) return file.error();
  if (file->header.text("general.architecture") == "clip") {
    return unusable(path + ": is a vision projector (mmproj), not a language model",
                    "give it as --mmproj and name the text model as --model");
  }
  if (file->header.find("tokenizer.ggml.model") == nullptr || file->header.tensors == 0) {
    return unusable(path + ": holds no language model with its vocabulary", "use another file");
  }
  return file;
}

core::Result<gguf::OpenedHeader> open_mmproj(const std::string& path) {
  auto file = gguf::read_gguf(path);
  if (!file) return file.error();
  const auto& header = file->header;
  if (header.text("general.architecture") != "clip") {
    return unusable(path + ": is no vision projector (its architecture is '" +
                        header.text("general.architecture") + "')",
                    "the mmproj file comes beside the text model");
  }
  if (!header.boolean("clip.has_vision_encoder").value_or(false)) {
    return unusable(path + ": holds no vision encoder", "use an mmproj file made for pictures");
  }
  return file;
}

core::Error foreign_mmproj(const std::string& text, const std::string& mmproj,
                           const std::string& why) {
  return unusable(mmproj + " belongs to another model than " + text + ": " + why,
                  "use the mmproj that was published with the text model");
}

core::Result<ModelPtr> load_text(const LoadOptions& options) {
  Progress progress{&options.progress, 0, options.mmproj_path.empty() ? 1.0F : kTextShare, false};
  auto params = llama_model_default_params();
  params.n_gpu_layers = options.gpu ? kAllLayers : 0;
  params.load_mode = LLAMA_LOAD_MODE_NONE;
  params.check_tensors = true;
  params.progress_callback = on_progress;
  params.progress_callback_user_data = &progress;
  take_last_complaint();
  ModelPtr model(llama_model_load_from_file(options.model_path.c_str(), params));
  if (model) return model;
  if (progress.cancelled) return core::error(core::ErrorCode::kCancelled, "loading was stopped");
  return unusable(options.model_path + ": " + take_last_complaint(),
                  "use a model file made for this version of llama.cpp");
}

core::Result<MtmdPtr> load_mmproj(const LoadOptions& options, const llama_model* model,
                                  const std::string& text_name, const std::string& mmproj_name,
                                  int threads) {
  Progress progress{&options.progress, kTextShare, 1 - kTextShare, false};
  auto params = mtmd_context_params_default();
  params.use_gpu = options.gpu;
  params.print_timings = false;
  params.n_threads = threads;
  params.warmup = false;
  params.progress_callback = on_progress;
  params.progress_callback_user_data = &progress;
  take_last_complaint();
  MtmdPtr context(mtmd_init_from_file(options.mmproj_path.c_str(), model, params));
  if (context && mtmd_support_vision(context.get())) return context;
  if (progress.cancelled) return core::error(core::ErrorCode::kCancelled, "loading was stopped");
  const std::string complaint = take_last_complaint();
  if (complaint.find("mismatch") != std::string::npos) {
    return foreign_mmproj(text_name, mmproj_name, complaint);
  }
  return unusable(options.mmproj_path + ": " + complaint,
                  "use an mmproj file made for this version of llama.cpp");
}

// Found out before anything is loaded where the family says it plainly; mtmd checks the others.
core::Status check_widths(const LoadOptions& options, const gguf::OpenedHeader& text,
                          const gguf::OpenedHeader& mmproj) {
  if (mmproj.header.text("clip.projector_type") != "idefics3") return {};
  const auto last = mmproj.header.shapes.find("mm.model.fc.weight");
  const auto width =
      text.header.number(text.header.text("general.architecture") + ".embedding_length");
  if (last == mmproj.header.shapes.end() || last->second.size() != 2 || !width) return {};
  if (static_cast<double>(last->second[1]) == *width) return {};
  return foreign_mmproj(name_file(options.model_path, text), name_file(options.mmproj_path, mmproj),
                        "visual tokens are " + std::to_string(last->second[1]) +
                            " wide, the text model takes " +
                            std::to_string(static_cast<long long>(*width)));
}

core::Result<int> thread_count(int wanted) {
  if (wanted < 0 || wanted > kThreadsMax) {
    return core::error(core::ErrorCode::kUsage, std::to_string(wanted) + " threads (allowed 0.." +
                                                    std::to_string(kThreadsMax) + ")");
  }
  if (wanted > 0) return wanted;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kThreadsMax);
}

core::Result<VisionLanguage> load_on_llama(const LoadOptions& options, int threads,
                                           const gguf::OpenedHeader& text,
                                           const std::optional<gguf::OpenedHeader>& mmproj) {
  auto weights = std::make_shared<Weights>();
  auto model = load_text(options);
  if (!model) return model.error();
  weights->model = std::move(*model);
  if (mmproj) {
    auto context = load_mmproj(options, weights->model.get(), name_file(options.model_path, text),
                               name_file(options.mmproj_path, *mmproj), threads);
    if (!context) return context.error();
    weights->mtmd = std::move(*context);
  }
  VisionLanguage out;
  auto language = LlamaLanguage::create(weights, {options.context_tokens, threads});
  if (!language) {
    auto error = language.error();
    error.message = options.model_path + ": " + error.message;
    return error;
  }
  out.language = std::move(*language);
  if (mmproj) {
    auto vision = LlamaVision::create(weights, *mmproj);
    if (!vision) return vision.error();
    out.vision = std::move(*vision);
  }
  return out;
}

}  // namespace
}  // namespace llama

core::Result<VisionLanguage> load_vision_language(const LoadOptions& options) {
  if (auto status = llama::start_backend(); !status) return status.error();
  const auto threads = llama::thread_count(options.threads);
  if (!threads) return threads.error();
  if (options.sessions < 1 || options.sessions > kSessionsMax) {
    return core::error(core::ErrorCode::kUsage, std::to_string(options.sessions) +
                                                    " sessions (allowed 1.." +
                                                    std::to_string(kSessionsMax) + ")");
  }
  const auto text = llama::open_text(options.model_path);
  if (!text) return text.error();
  std::optional<gguf::OpenedHeader> mmproj;
  if (!options.mmproj_path.empty()) {
    auto opened = llama::open_mmproj(options.mmproj_path);
    if (!opened) return opened.error();
    if (auto status = llama::check_widths(options, *text, *opened); !status) return status.error();
    mmproj = std::move(*opened);
  }
  // A processor is all our graphs run on so far.
  if (options.engine != Engine::kLlama && !options.gpu) {
    std::string reason;
    auto native = native::load_native(options, *threads, reason);
    if (!native) return native.error();
    if (*native) return std::move(**native);
    if (options.engine == Engine::kNative) {
      return core::error(core::ErrorCode::kUnsupported, reason,
                         "leave the choice of the engine to saccade");
    }
  }
  return llama::load_on_llama(options, *threads, *text, mmproj);
}

}  // namespace saccade::engine
