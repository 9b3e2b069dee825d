#pragma once
// Counters, gauges and histograms in the Prometheus text format (version 0.0.4). A family has a
// fixed list of label names; the values of a label come from closed lists or bounded sets, never
// from requests. Threads: any; one lock per family.
// Limit: kSeriesMax label combinations per family; further ones are counted under `other`.
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace saccade::telemetry {

inline constexpr std::size_t kSeriesMax = 256;

// Seconds. Fine where a picture must be answered, coarse where a long text is written.
inline constexpr std::array kLatencyBuckets = {
    0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.033, 0.05, 0.075, 0.1, 0.112, 0.12,
    0.15,  0.2,    0.3,   0.5,    0.75, 1.0,   1.5,  2.5,   5.0,  10.0,  20., 40.,   80.};

using LabelValues = std::vector<std::string>;

class Family {
 public:
  struct Options {
    std::string name;  // snake_case with its unit at the end; counters end in _total
    std::string help;
    std::vector<std::string> labels = {};
  };
  explicit Family(Options options) : options_(std::move(options)) {}
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  // Adds HELP, TYPE and every series to `out`.
  virtual void write(std::string& out) const = 0;

 protected:
  std::string head(std::string_view type) const;
  // {a="b"}, with `extra` (already formatted) at the end; empty without labels.
  std::string label_text(const LabelValues& values, const std::string& extra = {}) const;
  // One number per series, under the lock.
  void write_values(std::string_view type, const std::map<LabelValues, double>& series,
                    std::string& out) const;

  const Options options_;
  mutable std::mutex mutex_;  // guards the series of the family
};

class Counter final : public Family {
 public:
  using Family::Family;
  void add(const LabelValues& values = {}, double amount = 1);
  // A total that is counted elsewhere.
  void set_total(double total, const LabelValues& values = {});
  void write(std::string& out) const override { write_values("counter", series_, out); }

 private:
  std::map<LabelValues, double> series_;
};

class Gauge final : public Family {
 public:
  using Family::Family;
  void set(double value, const LabelValues& values = {});
  void write(std::string& out) const override { write_values("gauge", series_, out); }

 private:
  std::map<LabelValues, double> series_;
};

class Histogram final : public Family {
 public:
  // `buckets` rise; +Inf is added.
  Histogram(Options options, std::span<const double> buckets)
      : Family(std::move(options)), buckets_(buckets.begin(), buckets.end()) {}
  // Values that are no number are left out.
  void observe(double value, const LabelValues& values = {});
  void write(std::string& out) const override;

 private:
  struct Series {
    std::vector<std::uint64_t> counts;  // per bucket, the last is +Inf
    double sum = 0;
    std::uint64_t count = 0;
  };
  const std::vector<double> buckets_;
  std::map<LabelValues, Series> series_;
};

}  // namespace saccade::telemetry
