#include "governor/cost_model.h"

#include <algorithm>
#include <cmath>

namespace saccade::governor {
namespace {

constexpr int kSweeps = 50;
constexpr double kLeastMs = 0.01;      // predicted, so that a ratio means something
constexpr double kRidge = 1e-9;        // of the diagonal: a kind of work never seen has no price
constexpr std::size_t kSortEvery = 8;  // errors between two looks at their quantiles
constexpr double kUnknownTail = 1.5;   // P99 over P50 before there are errors to look at

using Row = std::array<double, CostModel::kTerms>;

Row row_of(const StepShape& s) { return {1, s.views, s.prompt_tokens, s.new_tokens, s.company}; }

bool usable(const Row& row, double ms) {
  const auto fine = [](double v) { return std::isfinite(v) && v >= 0; };
  return fine(ms) && std::all_of(row.begin(), row.end(), fine);
}

}  // namespace

double CostModel::mean(const Row& row) const {
  double ms = 0;
  for (std::size_t i = 0; i < kTerms; ++i) ms += prices_[i] * row[i];
  return std::max(ms, kLeastMs);
}

void CostModel::observe(const StepShape& shape, double ms) {
  const Row row = row_of(shape);
  if (!usable(row, ms)) {
    ++refused_;
    return;
  }
  if (steps_ >= kStepsToKnow) {
    const double expected = mean(row) * median_error_;
    const double off = std::abs(ms - expected) / std::max(ms, kLeastMs);
    mape_ = errors_.empty() ? off : mape_ + (1 - kForget) * (off - mape_);
    note_error(ms / mean(row));
  }
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j < kTerms; ++j) {
      products_[i][j] = kForget * products_[i][j] + row[i] * row[j];
    }
    targets_[i] = kForget * targets_[i] + row[i] * ms;
  }
  ++steps_;
  solve();
}

void CostModel::note_error(double error) {
  if (errors_.size() < kErrorsKept) {
    errors_.push_back(error);
  } else {
    errors_[next_error_] = error;
  }
  next_error_ = (next_error_ + 1) % kErrorsKept;
  if (tail_error_ > 0 && next_error_ % kSortEvery != 0) return;
  std::vector<double> sorted = errors_;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  median_error_ = at(0.5);
  tail_error_ = at(0.99);
}

// Coordinate descent from the prices that held so far: exact for a convex problem, and where a kind
// of work did not vary, its price stays what it was.
void CostModel::solve() {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 0; i < kTerms; ++i) {
      const double own = products_[i][i];
      if (own <= kRidge) continue;
      double rest = targets_[i];
      for (std::size_t j = 0; j < kTerms; ++j) {
        if (j != i) rest -= products_[i][j] * prices_[j];
      }
      prices_[i] = std::max(0.0, rest / own);
    }
  }
}

Prediction CostModel::predict(const StepShape& shape) const {
  Prediction out;
  const Row row = row_of(shape);
  if (steps_ == 0 || !usable(row, 0)) return out;
  out.known = steps_ >= kStepsToKnow;
  const double ms = mean(row);
  out.p50_ms = ms * median_error_;
  out.p99_ms = ms * (tail_error_ > 0 ? tail_error_ : kUnknownTail);
  return out;
}

CostModel CostModel::from_prices(const std::array<double, kTerms>& prices) {
  CostModel model;
  for (std::size_t i = 0; i < kTerms; ++i) {
    model.prices_[i] = std::isfinite(prices[i]) ? std::max(0.0, prices[i]) : 0;
    model.products_[i][i] = 1;
    model.targets_[i] = model.prices_[i];
  }
  model.steps_ = kStepsToKnow;
  return model;
}

}  // namespace saccade::governor
