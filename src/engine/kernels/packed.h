#pragma once
// Operands of our matrix product in 16-bit integers. Both sides are cut into blocks of kBlock inner
// elements that share one F32 scale; products of a block are summed exactly in 32 bits and scaled
// into F32. Rounding is uniform inside a block: 1/8191 of its largest row element, 1/4095 of its
// largest weight, about what F16 storage costs. The gain: one AVX2 instruction multiplies sixteen
// pairs where F32 multiplies eight.
// Source: the pair product (vpmaddwd) and the panel layout of Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", TOMS 2008.
// Threads: pure functions over the caller's memory; a PackedMatrix is immutable once made.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace saccade::engine::kernels {

inline constexpr int kStripRows = 6;      // rows computed together
inline constexpr int kPanelColumns = 16;  // columns computed together
inline constexpr int kBlock = 64;         // inner elements that share a scale
// kRowLevels * kColumnLevels * kBlock < 2^31: a block's sum cannot overflow.
inline constexpr int kRowLevels = 8191;
inline constexpr int kColumnLevels = 4095;

struct Share {
  int index = 0, count = 1;  // this worker and all of them
};
// The part [first, last) of `total` items that belongs to a worker.
struct Range {
  int first = 0, last = 0;
};
Range part_of(int total, Share share);

inline int blocks_of(int inner) { return (inner + kBlock - 1) / kBlock; }
inline int strips_of(int rows) { return (rows + kStripRows - 1) / kStripRows; }
inline int panels_of(int columns) { return (columns + kPanelColumns - 1) / kPanelColumns; }

// Left operand, rows of activations: values [row][inner, padded to blocks], scales [row][block].
// A row with NaN or infinity gets a NaN scale, so that it shows in the result.
struct PackedRows {
  std::int16_t* values = nullptr;
  float* scales = nullptr;
  int rows = 0, inner = 0;

  // Bytes that `rows` x `inner` take, and the operand laid into such a buffer.
  static std::size_t bytes(int rows, int inner);
  static PackedRows in(void* buffer, int rows, int inner);
};

// Packs one row from its [inner] values, each times `factor`.
void pack_row(const PackedRows& out, int row, const float* values, float factor = 1.0F);

// Right operand: values [panel][inner pair][16][2], scales [panel][block][16].
struct PackedColumns {
  std::int16_t* values = nullptr;
  float* scales = nullptr;
  int columns = 0, inner = 0;

  static std::size_t bytes(int columns, int inner);
  static PackedColumns in(void* buffer, int columns, int inner);
};

// Where the values come from: column c, inner k at data[(c - first) * column_step + k *
// inner_step].
struct ColumnSource {
  const float* data = nullptr;
  std::ptrdiff_t column_step = 0, inner_step = 0;
  int first = 0;
};
// Packs some panels of `out`.
void pack_columns(const PackedColumns& out, const ColumnSource& source, Range panels);

// Weights in packed form: owns the memory.
class PackedMatrix {
 public:
  // `row(c, out)` writes the [inner] weights of output column c.
  PackedMatrix(int columns, int inner, const std::function<void(int, std::span<float>)>& row);
  const PackedColumns& columns() const { return columns_; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> memory_;
  PackedColumns columns_;
};

}  // namespace saccade::engine::kernels
