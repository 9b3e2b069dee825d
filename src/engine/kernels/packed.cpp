#include "engine/kernels/packed.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace saccade::engine::kernels {
namespace {

constexpr std::size_t kAlign = 64;
constexpr int kPairs = kBlock / 2;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

#if defined(__AVX2__)

// Eight numbers at a time; a block is always whole here.
float largest(const float* x) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  __m256 most = _mm256_setzero_ps(), poison = _mm256_setzero_ps();
  for (int i = 0; i < kBlock; i += 8) {
    const __m256 v = _mm256_loadu_ps(x + i);
    most = _mm256_max_ps(most, _mm256_andnot_ps(sign, v));
    // 0 for finite numbers, NaN otherwise.
    poison = _mm256_add_ps(poison, _mm256_mul_ps(v, _mm256_setzero_ps()));
  }
  alignas(32) float out[16];
  _mm256_store_ps(out, most);
  _mm256_store_ps(out + 8, poison);
  for (int i = 1; i < 8; ++i) {
    out[0] = std::max(out[0], out[i]);
    out[8] += out[8 + i];
  }
  return out[0] + out[8];
}

void round_values(const float* x, float inverse, std::int16_t* out) {
  const __m256 factor = _mm256_set1_ps(inverse);
  for (int i = 0; i < kBlock; i += 16) {
    const __m256i low = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), factor));
    const __m256i high = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i + 8), factor));
    // The pack works inside halves; the permutation puts the quarters in order.
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), both);
  }
}

#else

float largest(const float* x) {
  float most = 0, poison = 0;  // 0 * finite = 0, otherwise NaN
  for (int i = 0; i < kBlock; ++i) {
    most = std::max(most, std::abs(x[i]));
    poison += x[i] * 0.0F;
  }
  return most + poison;
}

void round_values(const float* x, float inverse, std::int16_t* out) {
  for (int i = 0; i < kBlock; ++i) {
    out[i] = static_cast<std::int16_t>(std::nearbyint(x[i] * inverse));
  }
}

#endif

// Rounds a block to `levels`; returns its scale.
float round_block(const float* x, int levels, std::int16_t* out) {
  const float most = largest(x);
  if (!(most > 0)) {  // zeros, or NaN
    std::fill_n(out, kBlock, std::int16_t{0});
    return most;
  }
  // A scale below the smallest normal number would make its inverse infinite.
  const float scale =
      std::max(most / static_cast<float>(levels), std::numeric_limits<float>::min());
  round_values(x, 1.0F / scale, out);
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
  const std::size_t blocks =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(blocks_of(inner));
  return aligned(blocks * kBlock * sizeof(std::int16_t)) + aligned(blocks * sizeof(float));
}

PackedRows PackedRows::in(void* buffer, int rows, int inner) {
  const std::size_t values =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(blocks_of(inner)) * kBlock;
  auto* bytes = static_cast<std::uint8_t*>(buffer);
  return {reinterpret_cast<std::int16_t*>(bytes),
          reinterpret_cast<float*>(bytes + aligned(values * sizeof(std::int16_t))), rows, inner};
}

void pack_row(const PackedRows& out, int row, const float* values, float factor) {
  const int blocks = blocks_of(out.inner);
  std::int16_t* to = out.values + static_cast<std::ptrdiff_t>(row) * blocks * kBlock;
  float* scales = out.scales + static_cast<std::ptrdiff_t>(row) * blocks;
  for (int b = 0; b < blocks; ++b, values += kBlock, to += kBlock) {
    const int count = std::min(kBlock, out.inner - b * kBlock);
    float padded[kBlock];
    const float* from = values;
    if (count < kBlock) {
      std::copy_n(values, count, padded);
      std::fill(padded + count, padded + kBlock, 0.0F);
      from = padded;
    }
    scales[b] = factor * round_block(from, kRowLevels, to);
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
        out.scales[block + static_cast<std::size_t>(c)] = round_block(x, kColumnLevels, rounded);
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
