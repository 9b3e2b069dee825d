#include "engine/backend/device.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>

#include <string>

namespace saccade::engine {

void DeviceDeleter::operator()(ggml_backend* backend) const { ggml_backend_free(backend); }
void DeviceDeleter::operator()(ggml_context* context) const { ggml_free(context); }
void DeviceDeleter::operator()(ggml_gallocr* allocator) const { ggml_gallocr_free(allocator); }

core::Result<std::unique_ptr<Device>> Device::cpu(int threads) {
  ggml_backend_t backend = ggml_backend_cpu_init();
  if (backend == nullptr) {
    return core::error(core::ErrorCode::kUnsupported, "the processor backend could not start");
  }
  ggml_backend_cpu_set_n_threads(backend, threads);
  return std::unique_ptr<Device>(new Device(backend, threads));
}

core::Status Device::compute(ggml_cgraph* graph) {
  const ggml_status status = ggml_backend_graph_compute(backend_.get(), graph);
  if (status == GGML_STATUS_SUCCESS) return {};
  if (status == GGML_STATUS_ABORTED) {
    return core::error(core::ErrorCode::kCancelled, "the computation was stopped");
  }
  return core::error(core::ErrorCode::kInternal,
                     std::string("the graph failed: ") + ggml_status_to_string(status));
}

}  // namespace saccade::engine
