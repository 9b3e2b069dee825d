#include "engine/llama/backend.h"

#include <cpuid.h>
#include <ggml-backend.h>
#include <llama.h>
#include <mtmd-helper.h>
#include <mtmd.h>

#include <mutex>

#include "engine/llama/handles.h"
#include "engine/load.h"

namespace saccade::engine {
namespace llama {
namespace {

constexpr std::size_t kComplaintBytesMax = 512;

// Process-wide because the backend's log hooks are.
std::mutex log_mutex;
std::string last_complaint;  // guarded by log_mutex

void keep_complaint(ggml_log_level level, const char* text, void* /*user*/) {
  if (text == nullptr || level != GGML_LOG_LEVEL_ERROR) return;
  std::string line(text, std::char_traits<char>::length(text));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  const auto last = line.find_last_not_of(' ');
  if (last == std::string::npos) return;
  line.resize(std::min(last + 1, kComplaintBytesMax));
  const std::lock_guard lock(log_mutex);
  last_complaint = std::move(line);
}

// Leaf 1 of cpuid: clang 14 does not know the name "f16c".
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

std::string missing_features() {
  std::string missing;
  if (__builtin_cpu_supports("avx2") == 0) missing += " AVX2";
  if (__builtin_cpu_supports("fma") == 0) missing += " FMA";
  if (!has_f16c()) missing += " F16C";
  return missing;
}

void start_once() {
  llama_log_set(keep_complaint, nullptr);
  mtmd_helper_log_set(keep_complaint, nullptr);
  llama_backend_init();
}

}  // namespace

void ModelDeleter::operator()(llama_model* model) const { llama_model_free(model); }
void ContextDeleter::operator()(llama_context* context) const { llama_free(context); }
void BatchDeleter::operator()(llama_batch_ext* batch) const { llama_batch_ext_free(batch); }
void MtmdDeleter::operator()(mtmd_context* context) const { mtmd_free(context); }

core::Status start_backend() {
  if (const std::string missing = missing_features(); !missing.empty()) {
    return core::error(core::ErrorCode::kUnsupported, "this processor lacks" + missing,
                       "run on an x86-64-v3 machine (2013 or newer), or build for this one");
  }
  static std::once_flag once;
  std::call_once(once, start_once);
  return {};
}

std::string take_last_complaint() {
  const std::lock_guard lock(log_mutex);
  std::string out;
  out.swap(last_complaint);
  return out;
}

}  // namespace llama

std::string describe_backend() {
  if (const auto status = llama::start_backend(); !status) return status.error().message;
  std::string out = std::string("llama.cpp ") + llama_version() + ";";
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    out += std::string(i == 0 ? " " : ", ") + ggml_backend_dev_name(device) + " (" +
           ggml_backend_dev_description(device) + ")";
  }
  return out + "; AVX2 FMA F16C";
}

}  // namespace saccade::engine
