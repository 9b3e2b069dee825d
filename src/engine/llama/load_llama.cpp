// Weights are read into memory rather than mapped: a file that is cut short or replaced later
// cannot take the process down.
#include "engine/llama/load_llama.h"

#include <llama.h>
#include <mtmd.h>

#include <algorithm>
#include <utility>

#include "engine/llama/backend.h"
#include "engine/llama/llama_language.h"
#include "engine/llama/llama_vision.h"

namespace saccade::engine::llama {
namespace {

constexpr float kTextShare = 0.8F;  // of the progress; the vision file has the rest
constexpr int kAllLayers = 999;

core::Error unusable(const std::string& message, std::string hint) {
  return core::error(core::ErrorCode::kModelUnusable, message, std::move(hint));
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

core::Result<MtmdPtr> load_mmproj(const CheckedFiles& files, const llama_model* model) {
  const LoadOptions& options = files.options;
  Progress progress{&options.progress, kTextShare, 1 - kTextShare, false};
  auto params = mtmd_context_params_default();
  params.use_gpu = options.gpu;
  params.print_timings = false;
  params.n_threads = files.vision_threads;
  params.warmup = false;
  params.progress_callback = on_progress;
  params.progress_callback_user_data = &progress;
  take_last_complaint();
  MtmdPtr context(mtmd_init_from_file(options.mmproj_path.c_str(), model, params));
  if (context && mtmd_support_vision(context.get())) return context;
  if (progress.cancelled) return core::error(core::ErrorCode::kCancelled, "loading was stopped");
  const std::string complaint = take_last_complaint();
  if (complaint.find("mismatch") != std::string::npos) {
    return foreign_mmproj(files, complaint);
  }
  return unusable(options.mmproj_path + ": " + complaint,
                  "use an mmproj file made for this version of llama.cpp");
}

}  // namespace

core::Result<VisionLanguage> load_llama(const CheckedFiles& files) {
  const LoadOptions& options = files.options;
  auto weights = std::make_shared<Weights>();
  auto model = load_text(options);
  if (!model) return model.error();
  weights->model = std::move(*model);
  if (files.mmproj) {
    auto context = load_mmproj(files, weights->model.get());
    if (!context) return context.error();
    weights->mtmd = std::move(*context);
  }
  VisionLanguage out;
  auto language = LlamaLanguage::create(weights, {options.context_tokens, files.language_threads});
  if (!language) {
    auto error = language.error();
    error.message = options.model_path + ": " + error.message;
    return error;
  }
  out.language = std::move(*language);
  if (files.mmproj) {
    auto vision = LlamaVision::create(weights, *files.mmproj);
    if (!vision) return vision.error();
    out.vision = std::move(*vision);
  }
  return out;
}

}  // namespace saccade::engine::llama
