#pragma once
// One processor that computes graphs. The thread that made it owns it: nobody else may compute on
// it. Graph memory is planned once per graph and reused; tensors that a graph reads from outside
// keep their own memory.
#include <memory>

#include "core/result.h"

struct ggml_backend;
struct ggml_cgraph;
struct ggml_context;
struct ggml_gallocr;
struct ggml_tensor;

namespace saccade::engine {

struct DeviceDeleter {
  void operator()(ggml_backend* backend) const;
  void operator()(ggml_context* context) const;
  void operator()(ggml_gallocr* allocator) const;
};

class Device {
 public:
  // The machine's processor with `threads` >= 1 workers. Errors: kUnsupported.
  static core::Result<std::unique_ptr<Device>> cpu(int threads);

  int threads() const { return threads_; }
  ggml_backend* backend() const { return backend_.get(); }
  // Runs the whole graph. Errors: kInternal, kCancelled.
  core::Status compute(ggml_cgraph* graph);

 private:
  Device(ggml_backend* backend, int threads) : backend_(backend), threads_(threads) {}
  std::unique_ptr<ggml_backend, DeviceDeleter> backend_;
  int threads_;
};

}  // namespace saccade::engine
