#pragma once
// Packed rows times packed columns, F32 out, on one worker's share of the columns.
// Cost: about 1.45 times the F32 multiply rate of an AVX2 core. Without AVX2: the same numbers from
// plain loops, slowly.
// Threads: any; workers with different shares write different columns.
#include "engine/kernels/packed.h"

namespace saccade::engine::kernels {

enum class Activation { kNone, kGeluTanh, kGeluErf, kGeluQuick, kSilu };

// out[row][column] = act(rows . columns + bias[column]) + residual[row][column].
struct Product {
  PackedRows rows;
  PackedColumns columns;
  float* out = nullptr;  // [rows][columns], row-major, `step` floats from row to row
  std::ptrdiff_t step = 0;
  const float* bias = nullptr;      // [columns] or none
  const float* residual = nullptr;  // shape and step of out, or none
  Activation activation = Activation::kNone;
};
void multiply(const Product& product, Share share);

// One strip of rows times all panels without epilogue: out [rows of the strip][panels * 16] is
// overwritten. For callers that hold small operands, such as attention.
void multiply_strip(const PackedRows& rows, int strip, const PackedColumns& columns, float* out);

}  // namespace saccade::engine::kernels
