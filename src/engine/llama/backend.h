#pragma once
// Start-up of the backend and its words. llama.cpp, ggml and mtmd log through us: nothing is
// printed, the last complaint is kept for our own messages.
// Threads: any.
#include <string>

#include "core/result.h"

namespace saccade::engine::llama {

// Once per process; later calls are cheap. Errors: kUnsupported when the processor lacks AVX2, FMA
// or F16C, which the build needs.
core::Status start_backend();

// The last error line since the last call, or "".
std::string take_last_complaint();

}  // namespace saccade::engine::llama
