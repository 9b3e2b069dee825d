#include "engine/kernels/packed.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

namespace saccade::engine::kernels {
namespace {

constexpr std::size_t kAlign = 64;
constexpr int kPairs = kBlock / 2;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Largest magnitude of a block; NaN when an element is not finite.
float largest(const float* x, int count) {
  // Eight partial results, so that the loop becomes vector code. 0 * finite = 0, else NaN.
  float most[8] = {}, poison[8] = {};
  int i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int j = 0; j < 8; ++j) {
      const float magnitude = std::abs(x[i + j]);
      most[j] = magnitude > most[j] ? magnitude : most[j];
      poison[j] += x[i + j] * 0.0F;
    }
  }
  for (; i < count; ++i) {
    most[0] = std::max(most[0], std::abs(x[i]));
    poison[0] += x[i] * 0.0F;
  }
  float sum = 0;
  for (const float p : poison) sum += p;
  return *std::max_element(most, most + 8) + sum;
}

// Rounds a block to `levels`; returns its scale.
float round_block(const float* x, int count, int levels, std::int16_t* out) {
  const float most = largest(x, count);
  const float steps = static_cast<float>(levels);
  if (!(most > 0)) {  // zeros, or NaN
    std::fill_n(out, kBlock, std::int16_t{0});
    return most;
  }
  // A scale below the smallest normal number would make its inverse infinite.
  const float scale = std::max(most / steps, std::numeric_limits<float>::min());
  const float inverse = 1.0F / scale;
  for (int i = 0; i < count; ++i) {
    // The sum is exact to the integer: adding 1.5 * 2^23 rounds to nearest in the mantissa.
    constexpr float kRound = 12'582'912.0F;
    out[i] =
        static_cast<std::int16_t>(static_cast<std::int32_t>((x[i] * inverse + kRound) - kRound));
  }
  std::fill(out + count, out + kBlock, std::int16_t{0});
  return scale;
}

}  // namespace

Range part_of(int total, Share share) {
  const auto at = [&](int i) {
    return static_cast<int>(static_cast<std::int64_t>(total) * i / share.count);
  };
  return {at(share.index), at(share.index + 1)};
}

std::size_t PackedRows::bytes(int rows, int inner) {
  const std::size_t blocks = static_cast<std::size_t>(strips_of(rows)) *
                             static_cast<std::size_t>(blocks_of(inner)) * kStripRows;
  return aligned(blocks * kBlock * sizeof(std::int16_t)) + aligned(blocks * sizeof(float));
}

PackedRows PackedRows::in(void* buffer, int rows, int inner) {
  const std::size_t values = static_cast<std::size_t>(strips_of(rows)) *
                             static_cast<std::size_t>(blocks_of(inner)) * kStripRows * kBlock;
  auto* bytes = static_cast<std::uint8_t*>(buffer);
  return {reinterpret_cast<std::int16_t*>(bytes),
          reinterpret_cast<float*>(bytes + aligned(values * sizeof(std::int16_t))), rows, inner};
}

void pack_strip(const PackedRows& out, int strip, const std::function<const float*(int)>& row) {
  const int blocks = blocks_of(out.inner);
  const std::size_t first_block =
      static_cast<std::size_t>(strip) * static_cast<std::size_t>(blocks) * kStripRows;
  std::int16_t* values = out.values + first_block * kBlock;
  float* scales = out.scales + first_block;
  for (int r = 0; r < kStripRows; ++r) {
    const int at = strip * kStripRows + r;
    const float* x = at < out.rows ? row(at) : nullptr;
    for (int b = 0; b < blocks; ++b) {
      std::int16_t rounded[kBlock] = {};
      float scale = 0;
      if (x != nullptr) {
        const int count = std::min(kBlock, out.inner - b * kBlock);
        scale = round_block(x + b * kBlock, count, kRowLevels, rounded);
      }
      scales[b * kStripRows + r] = scale;
      std::int16_t* to = values + static_cast<std::ptrdiff_t>(b) * kStripRows * kBlock + 2 * r;
      for (int p = 0; p < kPairs; ++p) {
        std::memcpy(to + static_cast<std::ptrdiff_t>(p) * kStripRows * 2, rounded + 2 * p,
                    2 * sizeof(std::int16_t));
      }
    }
  }
}

std::size_t PackedColumns::bytes(int columns, int inner) {
  const std::size_t blocks = static_cast<std::size_t>(panels_of(columns)) *
                             static_cast<std::size_t>(blocks_of(inner)) * kPanelColumns;
  return blocks * kBlock * sizeof(std::int16_t) + aligned(blocks * sizeof(float));
}

PackedColumns PackedColumns::in(void* buffer, int columns, int inner) {
  const std::size_t values = static_cast<std::size_t>(panels_of(columns)) *
                             static_cast<std::size_t>(blocks_of(inner)) * kPanelColumns * kBlock;
  auto* first = static_cast<std::int16_t*>(buffer);
  return {first, reinterpret_cast<float*>(first + values), columns, inner};
}

void pack_columns(const PackedColumns& out, const ColumnSource& source, Range panels) {
  const int blocks = blocks_of(out.inner);
  for (int panel = panels.first; panel < panels.last; ++panel) {
    for (int b = 0; b < blocks; ++b) {
      const std::size_t block =
          (static_cast<std::size_t>(panel) * static_cast<std::size_t>(blocks) +
           static_cast<std::size_t>(b)) *
          kPanelColumns;
      std::int16_t* values = out.values + block * kBlock;
      for (int c = 0; c < kPanelColumns; ++c) {
        const int column = panel * kPanelColumns + c;
        const int count = column < out.columns ? std::min(kBlock, out.inner - b * kBlock) : 0;
        float x[kBlock] = {};
        const float* from = source.data + (column - source.first) * source.column_step +
                            static_cast<std::ptrdiff_t>(b) * kBlock * source.inner_step;
        for (int k = 0; k < count; ++k) x[k] = from[k * source.inner_step];
        std::int16_t rounded[kBlock];
        out.scales[block + static_cast<std::size_t>(c)] =
            round_block(x, count, kColumnLevels, rounded);
        for (int p = 0; p < kPairs; ++p) {
          std::memcpy(values + (static_cast<std::ptrdiff_t>(p) * kPanelColumns + c) * 2,
                      rounded + 2 * p, 2 * sizeof(std::int16_t));
        }
      }
    }
  }
}

void PackedMatrix::Free::operator()(void* memory) const { std::free(memory); }

PackedMatrix::PackedMatrix(int columns, int inner,
                           const std::function<void(int, std::span<float>)>& row) {
  memory_.reset(std::aligned_alloc(kAlign, aligned(PackedColumns::bytes(columns, inner))));
  if (!memory_) throw std::bad_alloc();
  columns_ = PackedColumns::in(memory_.get(), columns, inner);
  std::vector<float> panel(static_cast<std::size_t>(kPanelColumns) *
                           static_cast<std::size_t>(inner));
  for (int p = 0; p < panels_of(columns); ++p) {
    const int first = p * kPanelColumns;
    for (int c = 0; c < kPanelColumns && first + c < columns; ++c) {
      row(first + c, std::span<float>(panel).subspan(
                         static_cast<std::size_t>(c) * static_cast<std::size_t>(inner),
                         static_cast<std::size_t>(inner)));
    }
    pack_columns(columns_, {panel.data(), inner, 1, first}, {p, p + 1});
  }
}

}  // namespace saccade::engine::kernels
