#include "engine/kernels/matmul.h"

#include <algorithm>
#include <cstring>

#include "engine/kernels/activate.h"
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace saccade::engine::kernels {
namespace {

[[maybe_unused]] constexpr int kPairs = kBlock / 2;
constexpr int kChunkBlocks = 12;         // inner blocks per pass: a panel part of 24 KiB fits in L1
constexpr int kGroupBytes = 256 * 1024;  // of packed rows kept in L2 while panels pass
constexpr int kTile = kStripRows * kPanelColumns;

// One strip of some rows times one panel over `blocks` inner blocks, added to the tile.
struct Step {
  const std::int16_t* rows;
  const float* row_scales;
  std::ptrdiff_t row_step;    // values from row to row
  std::ptrdiff_t scale_step;  // row scales from row to row
  const std::int16_t* columns;
  const float* column_scales;
  int blocks;
};

#if defined(__AVX2__) && defined(__FMA__)

// Two products of one row with the panel's sixteen columns. In assembler because the compiler loads
// all rows first and then has no registers left for the sums, which halves the speed.
#define SACCADE_PAIR(row)                                                                  \
  asm("vpbroadcastd %[pair], %[x]\n\t"                                                     \
      "vpmaddwd %[left], %[x], %[t]\n\t"                                                   \
      "vpmaddwd %[right], %[x], %[x]\n\t"                                                  \
      "vpaddd %[t], %[low], %[low]\n\t"                                                    \
      "vpaddd %[x], %[high], %[high]"                                                      \
      : [low] "+x"(sums[row][0]), [high] "+x"(sums[row][1]), [x] "=&x"(x), [t] "=&x"(t)    \
      : [pair] "m"(*reinterpret_cast<const std::int32_t*>(a##row + at)), [left] "x"(left), \
        [right] "x"(right))

template <int kRows>
void add_product(const Step& step, float* tile) {
  const std::int16_t* const a0 = step.rows;
  const std::int16_t* const a1 = a0 + step.row_step;
  const std::int16_t* const a2 = a1 + step.row_step;
  const std::int16_t* const a3 = a2 + step.row_step;
  const std::int16_t* const a4 = a3 + step.row_step;
  const std::int16_t* const a5 = a4 + step.row_step;
  const std::int16_t* b = step.columns;
  const float* column_scales = step.column_scales;
  std::ptrdiff_t at = 0;
  for (int block = 0; block < step.blocks; ++block) {
    __m256i sums[kRows][2];
    for (auto& row : sums) row[0] = row[1] = _mm256_setzero_si256();
    for (const std::ptrdiff_t end = at + kBlock; at < end; at += 2) {
      const __m256i left = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
      const __m256i right = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 16));
      __m256i x, t;
      SACCADE_PAIR(0);
      if constexpr (kRows > 1) SACCADE_PAIR(1);
      if constexpr (kRows > 2) SACCADE_PAIR(2);
      if constexpr (kRows > 3) SACCADE_PAIR(3);
      if constexpr (kRows > 4) SACCADE_PAIR(4);
      if constexpr (kRows > 5) SACCADE_PAIR(5);
      b += 2 * kPanelColumns;
    }
    const __m256 scale[2] = {_mm256_loadu_ps(column_scales), _mm256_loadu_ps(column_scales + 8)};
    for (int r = 0; r < kRows; ++r) {
      const __m256 row = _mm256_set1_ps(step.row_scales[r * step.scale_step + block]);
      for (int half = 0; half < 2; ++half) {
        float* to = tile + r * kPanelColumns + 8 * half;
        _mm256_storeu_ps(to, _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[r][half]),
                                             _mm256_mul_ps(row, scale[half]), _mm256_loadu_ps(to)));
      }
    }
    column_scales += kPanelColumns;
  }
}

#undef SACCADE_PAIR

#else

template <int kRows>
void add_product(const Step& step, float* tile) {
  for (int block = 0; block < step.blocks; ++block) {
    const std::int16_t* b =
        step.columns + static_cast<std::ptrdiff_t>(block) * kPanelColumns * kBlock;
    for (int r = 0; r < kRows; ++r) {
      const std::int16_t* a = step.rows + r * step.row_step + block * kBlock;
      for (int c = 0; c < kPanelColumns; ++c) {
        std::int32_t sum = 0;
        for (int p = 0; p < kPairs; ++p) {
          const std::int16_t* right = b + (p * kPanelColumns + c) * 2;
          sum += a[2 * p] * right[0] + a[2 * p + 1] * right[1];
        }
        tile[r * kPanelColumns + c] +=
            static_cast<float>(sum) * (step.row_scales[r * step.scale_step + block] *
                                       step.column_scales[block * kPanelColumns + c]);
      }
    }
  }
}

#endif

void add_product(const Step& step, int rows, float* tile) {
  switch (rows) {
    case 1:
      return add_product<1>(step, tile);
    case 2:
      return add_product<2>(step, tile);
    case 3:
      return add_product<3>(step, tile);
    case 4:
      return add_product<4>(step, tile);
    case 5:
      return add_product<5>(step, tile);
    default:
      return add_product<6>(step, tile);
  }
}

// Blocks [first, first + count) of one strip and one panel.
Step step_of(const PackedRows& rows, int strip, const PackedColumns& columns, int panel,
             Range blocks) {
  const std::ptrdiff_t all = blocks_of(rows.inner);
  const std::ptrdiff_t row_block = std::ptrdiff_t{kStripRows} * strip * all + blocks.first;
  const std::ptrdiff_t column_block = (panel * all + blocks.first) * kPanelColumns;
  return {rows.values + row_block * kBlock,
          rows.scales + row_block,
          all * kBlock,
          all,
          columns.values + column_block * kBlock,
          columns.scales + column_block,
          blocks.last - blocks.first};
}

// Where a tile stands in the result and how much of it exists.
struct Place {
  int row, column, rows, columns;
};

// Whole panels have a length that the compiler knows.
void copy(const float* from, int columns, float* to) {
  if (columns == kPanelColumns) {
    std::memcpy(to, from, sizeof(float) * kPanelColumns);
  } else {
    std::memcpy(to, from, sizeof(float) * static_cast<std::size_t>(columns));
  }
}

void load(const Product& product, const Place& at, float* tile) {
  for (int r = 0; r < at.rows; ++r) {
    copy(product.out + (at.row + r) * product.step + at.column, at.columns,
         tile + r * kPanelColumns);
  }
}

void store(const Product& product, const Place& at, const float* tile) {
  for (int r = 0; r < at.rows; ++r) {
    copy(tile + r * kPanelColumns, at.columns,
         product.out + (at.row + r) * product.step + at.column);
  }
}

void finish(const Product& product, const Place& at, float* tile) {
  if (product.bias != nullptr) {
    for (int r = 0; r < at.rows; ++r) {
      for (int c = 0; c < at.columns; ++c) {
        tile[r * kPanelColumns + c] += product.bias[at.column + c];
      }
    }
  }
  activate(product.activation, tile, static_cast<std::size_t>(at.rows) * kPanelColumns);
  if (product.residual != nullptr) {
    for (int r = 0; r < at.rows; ++r) {
      const float* from = product.residual + (at.row + r) * product.step + at.column;
      for (int c = 0; c < at.columns; ++c) tile[r * kPanelColumns + c] += from[c];
    }
  }
}

// One group of strips against the worker's panels over one chunk of the inner dimension.
void multiply_group(const Product& product, Range strips, Range panels, Range blocks) {
  const bool first = blocks.first == 0;
  const bool last = blocks.last == blocks_of(product.rows.inner);
  for (int panel = panels.first; panel < panels.last; ++panel) {
    const int column = panel * kPanelColumns;
    const int columns = std::min(kPanelColumns, product.columns.columns - column);
    for (int strip = strips.first; strip < strips.last; ++strip) {
      const int row = strip * kStripRows;
      const Place at{row, column, std::min(kStripRows, product.rows.rows - row), columns};
      alignas(32) float tile[kTile] = {};
      if (!first) load(product, at, tile);
      add_product(step_of(product.rows, strip, product.columns, panel, blocks), at.rows, tile);
      if (last) finish(product, at, tile);
      store(product, at, tile);
    }
  }
}

}  // namespace

void multiply(const Product& product, Share share) {
  const Range panels = part_of(panels_of(product.columns.columns), share);
  const int strips = strips_of(product.rows.rows);
  const int blocks = blocks_of(product.rows.inner);
  const int strip_bytes =
      kStripRows * kBlock * static_cast<int>(sizeof(std::int16_t)) * std::min(blocks, kChunkBlocks);
  const int group = std::max(1, kGroupBytes / strip_bytes);
  for (int block = 0; block < blocks; block += kChunkBlocks) {
    for (int strip = 0; strip < strips; strip += group) {
      multiply_group(product, {strip, std::min(strips, strip + group)}, panels,
                     {block, std::min(blocks, block + kChunkBlocks)});
    }
  }
}

void multiply_strip(const PackedRows& rows, int strip, const PackedColumns& columns, float* out) {
  const int panels = panels_of(columns.columns);
  const int count = std::min(kStripRows, rows.rows - strip * kStripRows);
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(panels) * kPanelColumns;
  for (int panel = 0; panel < panels; ++panel) {
    alignas(32) float tile[kTile] = {};
    add_product(step_of(rows, strip, columns, panel, {0, blocks_of(rows.inner)}), count, tile);
    for (int r = 0; r < kStripRows; ++r) {
      std::memcpy(out + r * step + panel * kPanelColumns, tile + r * kPanelColumns,
                  kPanelColumns * sizeof(float));
    }
  }
}

}  // namespace saccade::engine::kernels
