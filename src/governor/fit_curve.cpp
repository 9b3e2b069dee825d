#include "governor/fit_curve.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace saccade::governor {
namespace {

constexpr std::size_t kTerms = 4;
using Row = std::array<double, kTerms>;

Row row_of(double batch) { return {batch, std::log(batch), batch * batch, 1}; }

bool positive(std::span<const Point> points) {
  return std::all_of(points.begin(), points.end(), [](const Point& p) {
    return std::isfinite(p.x) && std::isfinite(p.y) && p.x > 0 && p.y > 0;
  });
}

std::set<double> places(std::span<const Point> points) {
  std::set<double> out;
  for (const Point& p : points) out.insert(p.x);
  return out;
}

// Gaussian elimination with pivots on the normal equations. The columns are scaled to length one
// first, since B^2 is much longer than the constant.
Row least_squares(std::span<const Point> points) {
  Row scale{};
  for (const Point& p : points) {
    const Row row = row_of(p.x);
    for (std::size_t i = 0; i < kTerms; ++i) scale[i] += row[i] * row[i];
  }
  for (double& s : scale) s = s > 0 ? std::sqrt(s) : 1;
  std::array<std::array<double, kTerms + 1>, kTerms> m{};
  for (const Point& p : points) {
    const Row row = row_of(p.x);
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) m[i][j] += row[i] * row[j] / scale[i] / scale[j];
      m[i][kTerms] += row[i] * p.y / scale[i];
    }
  }
  for (std::size_t k = 0; k < kTerms; ++k) {
    const auto pivot = std::max_element(
        m.begin() + static_cast<std::ptrdiff_t>(k), m.end(),
        [k](const auto& a, const auto& b) { return std::abs(a[k]) < std::abs(b[k]); });
    std::swap(m[k], *pivot);
    if (std::abs(m[k][k]) < 1e-14) continue;
    for (std::size_t i = 0; i < kTerms; ++i) {
      if (i == k) continue;
      const double share = m[i][k] / m[k][k];
      for (std::size_t j = k; j <= kTerms; ++j) m[i][j] -= share * m[k][j];
    }
  }
  Row out{};
  for (std::size_t i = 0; i < kTerms; ++i) {
    out[i] = std::abs(m[i][i]) < 1e-14 ? 0 : m[i][kTerms] / m[i][i] / scale[i];
  }
  return out;
}

double r2_of(const BatchCurve& curve, std::span<const Point> points) {
  double mean = 0, off = 0, spread = 0;
  for (const Point& p : points) mean += p.y / static_cast<double>(points.size());
  for (const Point& p : points) {
    off += std::pow(p.y - curve.at(p.x), 2);
    spread += std::pow(p.y - mean, 2);
  }
  return spread > 0 ? 1 - off / spread : 1;
}

}  // namespace

double BatchCurve::at(double batch) const {
  const Row row = row_of(batch);
  double y = 0;
  for (std::size_t i = 0; i < kTerms; ++i) y += abcd[i] * row[i];
  return y;
}

core::Result<BatchFit> fit_batch_curve(std::span<const Point> points) {
  const std::set<double> batches = places(points);
  if (!positive(points) || batches.size() < kTerms + 1 || *batches.begin() < 1) {
    return core::error(core::ErrorCode::kUsage,
                       std::to_string(batches.size()) + " batch sizes do not tell a curve",
                       "measure at least 5 different sizes from 1 up, each with a time above 0");
  }
  BatchFit fit;
  fit.curve.abcd = least_squares(points);
  fit.r2 = r2_of(fit.curve, points);
  double off = 0;
  for (const double left_out : batches) {
    std::vector<Point> rest;
    for (const Point& p : points) {
      if (p.x != left_out) rest.push_back(p);
    }
    const BatchCurve curve{least_squares(rest)};
    for (const Point& p : points) {
      if (p.x == left_out) off += std::abs(curve.at(p.x) - p.y) / p.y;
    }
  }
  fit.held_out_mape = off / static_cast<double>(points.size());
  return fit;
}

double PowerLaw::at(double x) const { return c * std::pow(x, g); }

double PowerLaw::invert(double y, double low, double high) const {
  if (!(y > 0) || !(c > 0) || g == 0) return low;
  return std::clamp(std::pow(y / c, 1 / g), low, high);
}

core::Result<PowerLaw> fit_power_law(std::span<const Point> points) {
  if (!positive(points) || places(points).size() < 2) {
    return core::error(core::ErrorCode::kUsage, "these points do not tell a power law",
                       "measure at least 2 different sizes, all numbers above 0");
  }
  const auto n = static_cast<double>(points.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const Point& p : points) {
    const double x = std::log(p.x), y = std::log(p.y);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  PowerLaw law;
  law.g = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  law.c = std::exp((sy - law.g * sx) / n);
  return law;
}

}  // namespace saccade::governor
