#pragma once
// Elementwise functions over F32, eight at a time where the compiler can. Relative error of
// exponential <= 2e-7 against libm.
// Threads: pure.
#include <cstddef>

#include "engine/kernels/matmul.h"

namespace saccade::engine::kernels {

// x[i] = act(x[i]).
void activate(Activation activation, float* x, std::size_t count);

// x[i] = exp(x[i] - most); returns the sum. Softmax before its division.
float exponentials(float* x, std::size_t count, float most);

// Largest of count >= 1 values; NaN is ignored unless all are.
float largest_of(const float* x, std::size_t count);

}  // namespace saccade::engine::kernels
