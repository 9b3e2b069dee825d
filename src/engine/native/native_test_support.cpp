#include "engine/native/native_test_support.h"

#include <llama.h>

#include <stdexcept>
#include <utility>

#include "engine/native/native_language.h"

namespace saccade::engine::test {

std::unique_ptr<LanguageModel> load_native_text(const std::string& path, NativeText options) {
  auto params = llama_model_default_params();
  params.vocab_only = true;
  auto shared = std::make_shared<native::NativeLanguage::Shared>();
  auto text = std::make_shared<llama::Weights>();
  text->model.reset(llama_model_load_from_file(path.c_str(), params));
  auto file = gguf::WeightFile::open(path);
  auto device = Device::cpu(1);
  if (!text->model || !file || !device) throw std::runtime_error(path + " cannot be loaded");
  auto decoder = models::Decoder::load(std::move(file).value(), **device, options.cells);
  if (!decoder) throw std::runtime_error(decoder.error().message);
  shared->text = std::move(text);
  shared->traits.context_tokens = options.context;
  shared->engine =
      std::make_unique<native::DecodeEngine>(std::move(device).value(), std::move(decoder).value());
  auto language = native::NativeLanguage::create(shared);
  if (!language) throw std::runtime_error(language.error().message);
  return std::move(language).value();
}

}  // namespace saccade::engine::test
