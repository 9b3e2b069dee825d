#include "telemetry/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace saccade::telemetry {
namespace {

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.begin(), buffer.end(), value).ptr;
  return std::string(buffer.data(), end);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

// The series of `values`, or the one that stands for all beyond the bound.
template <typename Map>
auto& series_of(Map& series, const LabelValues& values) {
  const auto found = series.find(values);
  if (found != series.end()) return found->second;
  if (series.size() < kSeriesMax) return series[values];
  return series[LabelValues(values.size(), "other")];
}

}  // namespace

std::string Family::head(std::string_view type) const {
  return "# HELP " + options_.name + " " + options_.help + "\n# TYPE " + options_.name + " " +
         std::string(type) + "\n";
}

std::string Family::label_text(const LabelValues& values, const std::string& extra) const {
  std::string out;
  for (std::size_t i = 0; i < options_.labels.size() && i < values.size(); ++i) {
    out += (out.empty() ? "" : ",") + options_.labels[i] + "=\"" + escaped(values[i]) + "\"";
  }
  if (!extra.empty()) out += (out.empty() ? "" : ",") + extra;
  return out.empty() ? out : "{" + out + "}";
}

void Family::write_values(std::string_view type, const std::map<LabelValues, double>& series,
                          std::string& out) const {
  const std::lock_guard lock(mutex_);
  out += head(type);
  for (const auto& [values, value] : series) {
    out += options_.name + label_text(values) + " " + number(value) + "\n";
  }
}

void Counter::add(const LabelValues& values, double amount) {
  const std::lock_guard lock(mutex_);
  series_of(series_, values) += amount;
}

void Counter::set_total(double total, const LabelValues& values) {
  const std::lock_guard lock(mutex_);
  series_of(series_, values) = total;
}

void Gauge::set(double value, const LabelValues& values) {
  const std::lock_guard lock(mutex_);
  series_of(series_, values) = value;
}

void Histogram::observe(double value, const LabelValues& values) {
  if (std::isnan(value)) return;
  const std::lock_guard lock(mutex_);
  Series& series = series_of(series_, values);
  series.counts.resize(buckets_.size() + 1);
  const auto bucket = std::lower_bound(buckets_.begin(), buckets_.end(), value);
  ++series.counts[static_cast<std::size_t>(bucket - buckets_.begin())];
  series.sum += value;
  ++series.count;
}

void Histogram::write(std::string& out) const {
  const std::lock_guard lock(mutex_);
  out += head("histogram");
  for (const auto& [values, series] : series_) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i <= buckets_.size(); ++i) {
      sum += series.counts[i];
      const std::string bound = i < buckets_.size() ? number(buckets_[i]) : "+Inf";
      out += options_.name + "_bucket" + label_text(values, "le=\"" + bound + "\"") + " " +
             std::to_string(sum) + "\n";
    }
    out += options_.name + "_sum" + label_text(values) + " " + number(series.sum) + "\n";
    out +=
        options_.name + "_count" + label_text(values) + " " + std::to_string(series.count) + "\n";
  }
}

}  // namespace saccade::telemetry
