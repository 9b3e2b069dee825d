#pragma once
// For tests: a session of our own decoder on one text model file.
#include <llama.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "engine/native/native_language.h"

namespace saccade::engine::test {

inline std::unique_ptr<LanguageModel> load_native_text(const std::string& path, int context = 512,
                                                       int cells = 1024) {
  auto params = llama_model_default_params();
  params.vocab_only = true;
  auto shared = std::make_shared<native::NativeLanguage::Shared>();
  auto text = std::make_shared<llama::Weights>();
  text->model.reset(llama_model_load_from_file(path.c_str(), params));
  auto file = gguf::WeightFile::open(path);
  auto device = Device::cpu(1);
  if (!text->model || !file || !device) throw std::runtime_error(path + " cannot be loaded");
  auto decoder = models::Decoder::load(std::move(*file), **device, cells);
  if (!decoder) throw std::runtime_error(decoder.error().message);
  shared->text = std::move(text);
  shared->traits.context_tokens = context;
  shared->engine = std::make_unique<native::DecodeEngine>(std::move(*device), std::move(*decoder));
  auto language = native::NativeLanguage::create(shared);
  if (!language) throw std::runtime_error(language.error().message);
  return std::move(*language);
}

}  // namespace saccade::engine::test
