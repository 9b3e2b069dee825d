// Our products against plain double arithmetic, for every shape class: whole and cut strips, panels
// and blocks, long inner sides, workers that share, and numbers that must not hide.
#include "engine/kernels/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/rng.h"
#include "engine/kernels/activate.h"
#include "engine/kernels/attend_all.h"
#include "engine/kernels/rotate_heads.h"

namespace saccade::engine::kernels {
namespace {

// Twelve-bit rounding of both sides, averaged over a sum: about 2e-4 for normal values.
constexpr double kRelativeError = 5e-4;

std::size_t size_of(int count) { return static_cast<std::size_t>(count); }

std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  core::Rng rng(seed);
  std::vector<float> out(count);
  for (auto& x : out) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(rng.between(-1000, 1000)) / 1000;
    x = static_cast<float>(sum);
  }
  return out;
}

struct Case {
  int rows, columns, inner, workers;
};

// out = rows . columns with everything in its place.
std::vector<float> product(const Case& c, const std::vector<float>& a, const std::vector<float>& w,
                           const std::vector<float>& bias, Activation activation) {
  const PackedMatrix weights(c.columns, c.inner, [&](int column, std::span<float> row) {
    std::copy_n(w.begin() + static_cast<std::ptrdiff_t>(column) * c.inner, c.inner, row.begin());
  });
  std::vector<std::int64_t> buffer(PackedRows::bytes(c.rows, c.inner) / 8 + 8);
  const auto rows = PackedRows::in(buffer.data(), c.rows, c.inner);
  for (int r = 0; r < c.rows; ++r) {
    pack_row(rows, r, a.data() + static_cast<std::ptrdiff_t>(r) * c.inner);
  }
  std::vector<float> out(static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.columns),
                         -7);
  Product p{rows, weights.columns(), out.data(), c.columns};
  p.bias = bias.empty() ? nullptr : bias.data();
  p.activation = activation;
  for (int i = 0; i < c.workers; ++i) multiply(p, {i, c.workers});
  return out;
}

class MultiplyTest : public ::testing::TestWithParam<Case> {};

TEST_P(MultiplyTest, EqualsDoubleArithmetic) {
  const Case c = GetParam();
  const auto a = normal_values(size_of(c.rows) * size_of(c.inner), 1);
  const auto w = normal_values(size_of(c.columns) * size_of(c.inner), 2);
  const auto bias = normal_values(static_cast<std::size_t>(c.columns), 3);
  const auto out = product(c, a, w, bias, Activation::kNone);
  double error = 0, size = 0;
  for (int r = 0; r < c.rows; ++r) {
    for (int column = 0; column < c.columns; ++column) {
      double exact = bias[static_cast<std::size_t>(column)];
      for (int k = 0; k < c.inner; ++k) {
        exact += static_cast<double>(a[size_of(r) * size_of(c.inner) + size_of(k)]) *
                 w[size_of(column) * size_of(c.inner) + size_of(k)];
      }
      const double got = out[size_of(r) * size_of(c.columns) + size_of(column)];
      error += (got - exact) * (got - exact);
      size += exact * exact;
    }
  }
  EXPECT_LT(std::sqrt(error / size), kRelativeError);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MultiplyTest,
                         ::testing::Values(Case{1, 1, 1, 1}, Case{1, 16, 64, 1}, Case{6, 16, 64, 1},
                                           Case{5, 17, 65, 1}, Case{7, 33, 127, 2},
                                           Case{13, 100, 576, 3}, Case{64, 48, 3072, 2},
                                           Case{200, 20, 768, 2}, Case{2, 40, 4000, 5},
                                           Case{3, 10, 900, 4}));

// A row's result must not depend on what else is in the batch: prefix reuse relies on it.
TEST(MultiplyTest, ARowGivesTheSameBitsAloneAndInABatch) {
  const auto a = normal_values(std::size_t{11} * 200, 4);
  const auto w = normal_values(std::size_t{50} * 200, 5);
  const auto all = product({11, 50, 200, 2}, a, w, {}, Activation::kGeluTanh);
  for (int r = 0; r < 11; ++r) {
    const std::vector<float> row(a.begin() + r * 200, a.begin() + (r + 1) * 200);
    const auto alone = product({1, 50, 200, 1}, row, w, {}, Activation::kGeluTanh);
    for (int c = 0; c < 50; ++c) {
      ASSERT_EQ(alone[static_cast<std::size_t>(c)], all[static_cast<std::size_t>(r * 50 + c)]);
    }
  }
}

TEST(MultiplyTest, NanAndInfinityInARowShowInThatRowOnly) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto a = normal_values(std::size_t{3} * 100, 6);
    const auto w = normal_values(std::size_t{20} * 100, 7);
    a[150] = bad;
    const auto out = product({3, 20, 100, 1}, a, w, {}, Activation::kGeluTanh);
    for (int c = 0; c < 20; ++c) {
      EXPECT_TRUE(std::isfinite(out[static_cast<std::size_t>(c)]));
      EXPECT_TRUE(std::isnan(out[static_cast<std::size_t>(20 + c)]));
      EXPECT_TRUE(std::isfinite(out[static_cast<std::size_t>(40 + c)]));
    }
  }
}

TEST(MultiplyTest, HugeAndTinyValuesKeepTheirScale) {
  std::vector<float> a(64, 1e30F), w(64, 1e-30F);
  EXPECT_NEAR(product({1, 1, 64, 1}, a, w, {}, Activation::kNone)[0], 64.0F, 0.05F);
  std::fill(a.begin(), a.end(), 1e-44F);  // below the smallest normal number
  EXPECT_EQ(product({1, 1, 64, 1}, a, w, {}, Activation::kNone)[0], 0.0F);
}

TEST(ActivateTest, EqualsLibm) {
  std::vector<float> x;
  for (float v = -12; v < 12; v += 0.01F) x.push_back(v);
  auto y = x;
  activate(Activation::kSilu, y.data(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(y[i], x[i] / (1 + std::exp(-static_cast<double>(x[i]))), 2e-6);
  }
  y = x;
  activate(Activation::kGeluTanh, y.data(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    const double exact = 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
    EXPECT_NEAR(y[i], exact, 3e-6);
  }
}

// Three heads of 20; groups as `starts` says.
void expect_attention(const std::vector<int>& starts) {
  const HeadsShape shape(3, 20, starts);
  const int width = shape.width(), rows = shape.rows();
  const auto qkv = normal_values(std::size_t{3} * size_of(rows) * size_of(width), 8);
  std::vector<std::int64_t> packed(packed_heads_bytes(shape) / 8 + 8);
  std::vector<float> out(size_of(rows) * size_of(width));
  AttendScratch scratch(shape, 2);
  for (int i = 0; i < 2; ++i) pack_heads(shape, qkv.data(), packed.data(), {i, 2});
  for (int i = 0; i < 2; ++i) {
    attend({shape, qkv.data(), packed.data(), out.data(), &scratch}, {i, 2});
  }
  const auto at = [&](int row, int part, int column) {
    return static_cast<double>(qkv[size_of(row * 3 + part) * size_of(width) + size_of(column)]);
  };
  double error = 0, size = 0;
  int group = 0;
  for (int row = 0; row < rows; ++row) {
    while (row >= starts[size_of(group + 1)]) ++group;
    for (int column = 0; column < width; ++column) {
      const int head = column / 20 * 20;
      double sum = 0, weights = 0;
      for (int key = starts[size_of(group)]; key < starts[size_of(group + 1)]; ++key) {
        double score = 0;
        for (int k = 0; k < 20; ++k) score += at(row, 0, head + k) * at(key, 1, head + k);
        const double weight = std::exp(score / std::sqrt(20.0));
        weights += weight;
        sum += weight * at(key, 2, column);
      }
      const double got = out[size_of(row) * size_of(width) + size_of(column)];
      error += (got - sum / weights) * (got - sum / weights);
      size += sum / weights * (sum / weights);
    }
  }
  EXPECT_LT(std::sqrt(error / size), kRelativeError);
}

TEST(AttendTest, EqualsDoubleArithmetic) { expect_attention(equal_groups(37, 2)); }

TEST(AttendTest, GroupsOfAnySizeSeeThemselvesOnly) { expect_attention({0, 4, 68, 69, 85, 149}); }

TEST(RotateTest, TurnsQueriesAndKeysAndLeavesValues) {
  // Two heads of four: pairs (0, 2) and (1, 3); the second row is turned by the first turn again.
  const std::vector<float> turns{0, 1, 1, 0};  // cosines, then sines: a quarter turn and none
  std::vector<float> qkv(48), out(48);
  for (std::size_t i = 0; i < qkv.size(); ++i) qkv[i] = static_cast<float>(i);
  rotate_heads({2, 4, 2, 1, qkv.data(), turns.data(), out.data()}, {0, 1});
  for (std::size_t i = 0; i < qkv.size(); ++i) {
    const bool value = i % 24 >= 16;
    const std::size_t lane = i % 4;
    const float expected = value || lane % 2 == 1 ? qkv[i] : lane == 0 ? -qkv[i + 2] : qkv[i - 2];
    EXPECT_FLOAT_EQ(out[i], expected) << i;
  }
}

}  // namespace
}  // namespace saccade::engine::kernels
