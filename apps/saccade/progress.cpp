#include "progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace saccade::app {

namespace {

constexpr std::int64_t kRedrawUs = 100'000, kPlainUs = 10'000'000;
constexpr int kBarColumnsMax = 30;

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return format("%.2f GB", bytes / 1e9);
  if (bytes >= 1e6) return format("%.1f MB", bytes / 1e6);
  return format("%.0f kB", bytes / 1e3);
}

std::string span_text(double seconds) {
  const auto s = static_cast<long long>(std::clamp(seconds, 0.0, 359'999.0) + 0.5);
  char text[48];
  if (s >= 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  }
  return text;
}

// Eighths of a block make the bar move smoothly.
std::string bar_text(double share, int columns) {
  const char* const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::clamp(share, 0.0, 1.0) * columns * 8);
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "█";
  out += parts[eighths % 8];
  return out;
}

}  // namespace

Progress::Progress(Options options, Footer& footer, const core::Clock& clock)
    : options_(std::move(options)), footer_(footer), clock_(clock), start_(clock.now()) {
  drawn_ = start_;
}

void Progress::update(double done) {
  if (options_.quiet || !std::isfinite(done)) return;
  if (first_ < 0) first_ = done;
  const core::SteadyTime now = clock_.now();
  const double seconds = static_cast<double>(core::us_between(start_, now)) / 1e6;
  const std::int64_t wait = footer_.active() ? (ever_drawn_ ? kRedrawUs : 0) : kPlainUs;
  if (core::us_between(drawn_, now) < wait) return;
  drawn_ = now;
  ever_drawn_ = true;
  if (footer_.active()) {
    footer_.set(Footer::Line::kProgress, bar_line(done, seconds));
  } else {
    footer_.print_error(plain_line(done, seconds) + "\n");
  }
}

void Progress::finish() {
  if (footer_.active() && ever_drawn_) footer_.set(Footer::Line::kProgress, {});
}

std::string Progress::plain_line(double done, double seconds) const {
  const bool bytes = options_.unit == Unit::kBytes;
  const auto amount = [&](double value) { return bytes ? bytes_text(value) : span_text(value); };
  std::string out = options_.label.empty() ? "" : printable(options_.label) + " ";
  if (options_.total > 0) {
    out += format("%.0f %% ", std::min(100.0, 100 * done / options_.total));
    out += "(" + amount(done) + " of " + amount(options_.total) + ")";
  } else {
    out += amount(done);
  }
  const double rate = seconds > 0 ? (done - std::max(first_, 0.0)) / seconds : 0;
  if (rate > 0) {
    out += bytes ? ", " + bytes_text(rate) + "/s" : ", " + format("%.1f x real time", rate);
    if (options_.total > done) out += ", " + span_text((options_.total - done) / rate) + " left";
  }
  return out;
}

std::string Progress::bar_line(double done, double seconds) const {
  const TerminalStyle& style = footer_.style();
  const bool bytes = options_.unit == Unit::kBytes;
  const double rate = seconds > 0.2 ? (done - std::max(first_, 0.0)) / seconds : 0;
  std::string facts;
  if (options_.total > 0) facts += format("%3.0f %%", std::min(100.0, 100 * done / options_.total));
  if (options_.total <= 0) facts += bytes ? bytes_text(done) : span_text(done);
  if (rate > 0) {
    facts += "  " + (bytes ? bytes_text(rate) + "/s" : format("%.1f x", rate));
    if (options_.total > done) facts += "  " + span_text((options_.total - done) / rate) + " left";
  }
  const int width = style.width - 1;
  const std::string label = shortened(printable(options_.label), std::max(8, width / 3));
  const int used = 2 + display_width(label) + 1 + 2 + display_width(facts);
  const int columns = std::min(kBarColumnsMax, width - used);
  std::string out = "  " + painted(label, "1", style) + " ";
  if (options_.total > 0 && columns >= 8) {
    const std::string bar = bar_text(done / options_.total, columns);
    const auto rest = static_cast<std::size_t>(std::max(0, columns - display_width(bar)));
    std::string track;
    for (std::size_t i = 0; i < rest; ++i) track += "░";
    out += painted(bar, "36", style) + painted(track, "2", style) + "  ";
  }
  return out + painted(shortened(facts, std::max(8, width - display_width(label) - 3)), "2", style);
}

}  // namespace saccade::app
