#include "view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string_view>

namespace saccade::app {

namespace {

using emit::Event;
using emit::EventKind;

constexpr int kTimeColumns = 9, kTagColumns = 9;
constexpr std::string_view kDim = "2";

struct Look {
  std::string_view tag, tag_codes, text_codes;
};

Look look_of(const Event& event) {
  switch (event.kind) {
    case EventKind::kCaption:
      return {"see", "1;36", ""};
    case EventKind::kAnswer:
      return {"answer", "1;34", ""};
    case EventKind::kAlert:
      return event.yes.value_or(false) ? Look{"ALERT", "1;97;41", "1;31"}
                                       : Look{"clear", "1;32", kDim};
    case EventKind::kText:
      return {"read", "1;35", ""};
    case EventKind::kSpeech:
      return {"hear", "1;33", ""};
    case EventKind::kScene:
      return {"cut", "2;37", kDim};
    case EventKind::kDrop:
      return {"drop", "33", kDim};
    case EventKind::kStatus:
      return event.reason == "up"       ? Look{"up", "1;32", kDim}
             : event.reason == "source" ? Look{"source", "2;37", kDim}
             : event.reason == "connecting" || event.reason == "stale" ? Look{"source", "33", "33"}
             : event.reason == "failed" ? Look{"failed", "1;31", "31"}
                                        : Look{"error", "1;31", "31"};
    case EventKind::kKnobs:
      return {"knobs", "2;37", kDim};
    case EventKind::kStats:
      return {"stats", "2;37", ""};
  }
  return {"", "", ""};
}

std::string body_of(const Event& event) {
  std::string text = printable(event.text);
  switch (event.kind) {
    case EventKind::kSpeech:
      return "“" + text + "”";
    case EventKind::kAnswer:
    case EventKind::kAlert:
      return event.kind == EventKind::kAnswer && !event.prompt.empty()
                 ? printable(event.prompt) + ": " + text
                 : text;
    case EventKind::kScene:
      return "new scene";
    case EventKind::kDrop:
      return std::to_string(event.count) + (event.count == 1 ? " frame" : " frames") +
             " not served: " + printable(event.reason);
    case EventKind::kStatus: {
      // The tag has said it already.
      if (event.reason == "up") return text.empty() ? "pictures and sound arrive" : text;
      const bool said = event.reason == "source" || event.reason == "failed";
      const std::string reason = printable(event.reason);
      return text.empty() ? reason : said ? text : reason + ": " + text;
    }
    default:
      return text;
  }
}

// "93 % · 84 ms"; empty when the event has neither.
std::string facts_of(const Event& event) {
  std::string out;
  if (event.kind == EventKind::kScene) return out;
  if (event.confidence) {
    out = std::to_string(std::lround(*event.confidence * 100)) + " %";
  }
  if (event.frame_age_ms) {
    const double ms = *event.frame_age_ms;
    char age[32];
    std::snprintf(age, sizeof age, ms < 10'000 ? "%.0f ms" : "%.0f s", ms < 10'000 ? ms : ms / 1e3);
    out += (out.empty() ? "" : " · ") + std::string(age);
  }
  return out;
}

std::string padded_left(const std::string& text, int columns) {
  const int missing = columns - display_width(text);
  return missing > 0 ? std::string(static_cast<std::size_t>(missing), ' ') + text : text;
}

std::string padded_right(const std::string& text, int columns) {
  const int missing = columns - display_width(text);
  return missing > 0 ? text + std::string(static_cast<std::size_t>(missing), ' ') : text;
}

std::string number_text(double value) {
  char text[48];
  const bool whole = std::abs(value - std::round(value)) < 1e-9 && std::abs(value) < 1e15;
  std::snprintf(text, sizeof text, whole ? "%.0f" : std::abs(value) < 10 ? "%.2f" : "%.1f", value);
  return text;
}

}  // namespace

std::string clock_text(core::MediaTime time) {
  if (time.is_special()) return {};
  const std::int64_t hundredths = std::max<std::int64_t>(time.us(), 0) / 10'000;
  const long long seconds = hundredths / 100;
  char text[48];
  if (seconds >= 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", seconds / 3600, seconds / 60 % 60,
                  seconds % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld.%02lld", seconds / 60, seconds % 60,
                  static_cast<long long>(hundredths % 100));
  }
  return text;
}

void LiveView::on_event(const Event& event) {
  if (event.kind == EventKind::kSpeech && footer_.active()) {
    std::string tentative;
    if (!event.final) {
      const int room = footer_.style().width - kTimeColumns - kTagColumns - 3;
      std::string words = printable(event.text);
      // The newest words are the ones that change: the beginning gives way.
      while (display_width(words) > room) {
        const auto blank = words.find(' ');
        words = blank == words.npos ? shortened(words, room) : words.substr(blank + 1);
      }
      tentative = std::string(kTimeColumns + 2, ' ') +
                  painted(padded_right("hear", kTagColumns), "33", footer_.style()) +
                  painted(words + "…", "2;3", footer_.style());
    }
    footer_.set(Footer::Line::kTentative, tentative);
  }
  if (event.kind == EventKind::kStats) {
    if (summary_) footer_.print_error(summary(event));
    return;
  }
  if (is_news(event)) footer_.print(line(event));
}

bool LiveView::is_news(const Event& event) {
  if (event.kind == EventKind::kKnobs) return false;
  if (event.kind == EventKind::kSpeech && event.text.empty()) return false;  // words taken back
  if (!event.final && event.kind != EventKind::kText) return false;
  if (event.id.empty()) return true;
  const std::size_t text = std::hash<std::string>()(event.text);
  const auto found = std::find_if(shown_.begin(), shown_.end(),
                                  [&](const Shown& shown) { return shown.id == event.id; });
  if (found != shown_.end()) {
    return std::exchange(found->text, text) != text;
  }
  if (shown_.size() >= kShownMax) shown_.pop_front();
  shown_.push_back({event.id, text});
  return true;
}

std::string LiveView::line(const Event& event) const {
  const Look look = look_of(event);
  const std::string facts = facts_of(event);
  const std::string indent(kTimeColumns + 2 + kTagColumns, ' ');
  const int facts_columns = facts.empty() ? 0 : display_width(facts) + 2;
  const int room = style_.width - static_cast<int>(indent.size()) - 1;
  // Without a terminal nobody cuts lines: one event stays one line, and greps well.
  const std::string body = body_of(event);
  const bool wraps = style_.tty && room - facts_columns >= 16;
  const std::vector<std::string> rows =
      wraps ? wrap(body, room - facts_columns) : std::vector<std::string>{body};
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0) {
      const std::string tag(look.tag);
      const auto gap = static_cast<std::size_t>(kTagColumns - display_width(tag));
      out += painted(padded_left(clock_text(event.t0), kTimeColumns), kDim, style_) + "  " +
             painted(tag, look.tag_codes, style_) + std::string(gap, ' ');
    } else {
      out += indent;
    }
    out += painted(rows[i], look.text_codes, style_);
    if (i == 0 && !facts.empty()) {
      const int fill = wraps ? room - display_width(rows[i]) - display_width(facts) : 2;
      out += std::string(static_cast<std::size_t>(std::max(fill, 2)), ' ') +
             painted(facts, kDim, style_);
    }
    out += "\n";
  }
  return out;
}

// Two columns of names and values under a rule; zeros of things that can go wrong are left out.
std::string LiveView::summary(const Event& event) const {
  const TerminalStyle& style = footer_.style();
  std::vector<std::string> cells;
  for (const auto& [name, value] : event.numbers) {
    const bool quiet_when_zero = name.starts_with("dropped_") || name == "answers_failed";
    if (quiet_when_zero && value == 0) continue;
    std::string label = name, unit;
    for (const auto& [suffix, shown] : {std::pair<std::string_view, std::string_view>{"_ms", " ms"},
                                        {"_mb", " MB"},
                                        {"_s", " s"},
                                        {"_x", " x"}}) {
      if (!label.ends_with(suffix)) continue;
      label.resize(label.size() - suffix.size());
      unit = shown;
      break;
    }
    std::replace(label.begin(), label.end(), '_', ' ');
    cells.push_back(painted(padded_right(printable(label), 18), kDim, style) +
                    painted(padded_left(number_text(value) + unit, 12), "1", style));
  }
  if (cells.empty()) return {};
  const int columns = style.width >= 70 ? 2 : 1;
  const auto rows = (cells.size() + columns - 1) / static_cast<std::size_t>(columns);
  std::string out = "\n";
  for (std::size_t row = 0; row < rows; ++row) {
    out += "  " + cells[row];
    if (columns == 2 && row + rows < cells.size()) out += "     " + cells[row + rows];
    out += "\n";
  }
  return out;
}

}  // namespace saccade::app
