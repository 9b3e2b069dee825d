#include "engine/native/load_native.h"

#include <llama.h>

#include <utility>

#include "engine/llama/backend.h"
#include "engine/native/native_language.h"
#include "engine/native/native_vision.h"

namespace saccade::engine::native {
namespace {

constexpr float kTextShare = 0.7F;  // of the progress; the vision file has the rest

core::Error cancelled() { return core::error(core::ErrorCode::kCancelled, "loading was stopped"); }

bool report(const LoadOptions& options, float done) {
  return !options.progress || options.progress(done);
}

core::Result<llama::WeightsPtr> load_vocabulary(const std::string& path) {
  auto params = llama_model_default_params();
  params.vocab_only = true;
  llama::take_last_complaint();
  auto out = std::make_shared<llama::Weights>();
  out->model.reset(llama_model_load_from_file(path.c_str(), params));
  if (!out->model) {
    return core::error(core::ErrorCode::kModelUnusable, path + ": " + llama::take_last_complaint(),
                       "use a model file made for this version of llama.cpp");
  }
  return llama::WeightsPtr(std::move(out));
}

core::Result<std::unique_ptr<LanguageModel>> load_language(const CheckedFiles& files,
                                                           llama::WeightsPtr text,
                                                           std::unique_ptr<gguf::WeightFile> file) {
  const LoadOptions& options = files.options;
  const llama_model* model = text->model.get();
  // A vocabulary alone does not know its context.
  const auto& header = files.text.header;
  const int trained = static_cast<int>(
      header.number(header.text("general.architecture") + ".context_length").value_or(0));
  const auto context = llama::context_tokens(trained, options.context_tokens);
  if (!context) return context.error();
  auto device = Device::cpu(files.language_threads);
  if (!device) return device.error();
  auto decoder = models::Decoder::load(std::move(file), **device, *context * options.sessions);
  if (!decoder) return decoder.error();
  auto shared = std::make_shared<NativeLanguage::Shared>();
  shared->traits.name = llama::meta(model, "general.name");
  shared->traits.context_tokens = *context;
  shared->traits.vision = !options.mmproj_path.empty();
  shared->traits.reduced_spans = true;
  shared->traits.wants_context = llama::meta(model, "saccade.context_lines") != "false";
  shared->text = std::move(text);
  shared->engine = std::make_unique<DecodeEngine>(std::move(*device), std::move(*decoder));
  return NativeLanguage::create(std::move(shared));
}

}  // namespace

core::Result<std::optional<VisionLanguage>> load_native(const CheckedFiles& files,
                                                        std::string& reason) {
  using Loaded = std::optional<VisionLanguage>;
  const LoadOptions& options = files.options;
  auto file = gguf::WeightFile::open(options.model_path, files.text);
  if (!file) return file.error();
  if (!models::Decoder::serves(**file)) {
    reason = options.model_path + ": architecture '" +
             (*file)->header().text("general.architecture") + "' has no graph of ours";
    return Loaded();
  }
  std::unique_ptr<gguf::WeightFile> mmproj;
  if (files.mmproj) {
    auto opened = gguf::WeightFile::open(options.mmproj_path, *files.mmproj);
    if (!opened) return opened.error();
    if (!models::serves_tower(**opened)) {
      reason = options.mmproj_path + ": projector '" +
               (*opened)->header().text("clip.projector_type") +
               "' or its weight type has no graph of ours";
      return Loaded();
    }
    mmproj = std::move(*opened);
  }
  auto text = load_vocabulary(options.model_path);
  if (!text) return text.error();
  if (!report(options, 0)) return cancelled();
  VisionLanguage out;
  auto language = load_language(files, *text, std::move(*file));
  if (!language) return language.error();
  out.language = std::move(*language);
  if (!report(options, mmproj ? kTextShare : 1)) return cancelled();
  if (mmproj) {
    auto device = Device::cpu(files.vision_threads);
    if (!device) return device.error();
    auto vision = NativeVision::create(
        {*text, std::shared_ptr<Device>(std::move(*device)), std::move(mmproj)});
    if (!vision) return vision.error();
    out.vision = std::move(*vision);
    if (!report(options, 1)) return cancelled();
  }
  return Loaded(std::move(out));
}

}  // namespace saccade::engine::native
