#pragma once
// Owning pointers for the C objects of the backend, without its headers.
#include <memory>

struct llama_model;
struct llama_context;
struct llama_vocab;
struct llama_batch_ext;
struct mtmd_context;

namespace saccade::engine::llama {

struct ModelDeleter {
  void operator()(llama_model* model) const;
};
struct ContextDeleter {
  void operator()(llama_context* context) const;
};
struct BatchDeleter {
  void operator()(llama_batch_ext* batch) const;
};
struct MtmdDeleter {
  void operator()(mtmd_context* context) const;
};
using ModelPtr = std::unique_ptr<llama_model, ModelDeleter>;
using ContextPtr = std::unique_ptr<llama_context, ContextDeleter>;
using BatchPtr = std::unique_ptr<llama_batch_ext, BatchDeleter>;
using MtmdPtr = std::unique_ptr<mtmd_context, MtmdDeleter>;

// Weights shared by both halves of a pair. Destroyed in reverse order of members.
struct Weights {
  ModelPtr model;
  MtmdPtr mtmd;  // null for a text-only model
};
using WeightsPtr = std::shared_ptr<const Weights>;

}  // namespace saccade::engine::llama
