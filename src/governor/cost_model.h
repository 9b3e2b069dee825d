#pragma once
// What a step will take, learnt from the steps that were taken: an additive model (each kind of
// work has its price, none is negative) fitted by least squares in which old steps fade, and the
// spread of what it got wrong. Source: additive roofline of serving simulators; Lawson and Hanson
// for the constraint, here by coordinate descent since there are five terms.
// Pure and deterministic; one thread. A step with a number that is no number, or is negative, is
// left out and counted.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace saccade::governor {

// One Moment's work. All counts, >= 0.
struct StepShape {
  double views = 0;          // encoded, not taken from the cache
  double prompt_tokens = 0;  // that the language model had to read
  double new_tokens = 0;     // that it wrote
  double company = 0;        // other Moments on the device at the same time, mean
};

struct Prediction {
  double p50_ms = 0, p99_ms = 0;
  bool known = false;  // false until kStepsToKnow steps were seen
};

class CostModel {
 public:
  static constexpr std::size_t kTerms = 5;  // constant and the four of StepShape
  static constexpr std::size_t kStepsToKnow = 8;
  static constexpr std::size_t kErrorsKept = 256;
  static constexpr double kForget = 0.98;  // weight of a step in the view of the next one

  void observe(const StepShape& shape, double ms);
  Prediction predict(const StepShape& shape) const;

  // Milliseconds per unit: constant, view, prompt token, new token, companion. Never negative.
  std::array<double, kTerms> prices() const { return prices_; }
  // Mean of |measured - predicted| / measured, each step predicted before it was learnt from; old
  // steps fade. 0 until there was one.
  double mape() const { return mape_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t refused() const { return refused_; }

  // A model that was learnt before, as a start: it counts as kStepsToKnow steps and fades.
  static CostModel from_prices(const std::array<double, kTerms>& prices);

 private:
  using Row = std::array<double, kTerms>;
  void solve();
  void note_error(double error);
  double mean(const Row& row) const;

  std::array<Row, kTerms> products_{};  // faded sum of x xT
  Row targets_{};                       // faded sum of x y
  std::array<double, kTerms> prices_{};
  std::vector<double> errors_;  // measured over predicted, a ring
  std::size_t next_error_ = 0;
  double median_error_ = 1, tail_error_ = 0;  // P50 and P99 of errors_; 0 = none yet
  double mape_ = 0;
  std::uint64_t steps_ = 0, refused_ = 0;
};

}  // namespace saccade::governor
