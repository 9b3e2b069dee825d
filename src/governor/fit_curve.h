#pragma once
// Two small curves fitted to measured points: how the tail grows with the batch, and how time grows
// with resolution. Offline and for reports; the loop itself uses cost_model.h.
#include <array>
#include <span>

#include "core/result.h"

namespace saccade::governor {

struct Point {
  double x = 0, y = 0;
};

// P99 of a batch of B: a*B + b*log B + c*B^2 + d milliseconds.
struct BatchCurve {
  std::array<double, 4> abcd{};
  double at(double batch) const;
};
struct BatchFit {
  BatchCurve curve;
  double r2 = 0;             // on the points themselves; says little with few points
  double held_out_mape = 0;  // each batch size left out once, mean of |error| / measured
};
// Least squares. Errors: kUsage (fewer than 5 different batch sizes >= 1, or a value that is no
// number or not above 0).
core::Result<BatchFit> fit_batch_curve(std::span<const Point> points);

// Time or resolution as c * x^g, fitted in log space.
struct PowerLaw {
  double c = 0, g = 0;
  double at(double x) const;
  // The greatest x with at(x) <= y, inside low..high; low when there is none. g > 0.
  double invert(double y, double low, double high) const;
};
// Errors: kUsage (fewer than 2 different x, or a value that is not above 0).
core::Result<PowerLaw> fit_power_law(std::span<const Point> points);

}  // namespace saccade::governor
