#include "emit/write_cues.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

namespace saccade::emit {

namespace {

// Far beyond any stream (11,000 years), and small enough that sums cannot overflow.
constexpr std::int64_t kCueMsMax = 360'000'000'000'000;

std::int64_t to_ms(core::MediaTime t) {
  if (!t.is_set()) return 0;
  // Rounded before it is split into fields: so a carry reaches the hours.
  const std::int64_t us = std::clamp<std::int64_t>(t.us(), 0, kCueMsMax * 1000);
  return (us + 500) / 1000;
}

std::string stamp(std::int64_t ms, CueFormat format) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%02lld:%02lld:%02lld%c%03lld",
                static_cast<long long>(ms / 3'600'000), static_cast<long long>(ms / 60'000 % 60),
                static_cast<long long>(ms / 1000 % 60), format == CueFormat::kWebVtt ? '.' : ',',
                static_cast<long long>(ms % 1000));
  return text.data();
}

void append_escaped(std::string& out, char c, CueFormat format) {
  if (format == CueFormat::kWebVtt) {
    if (c == '&') return void(out.append("&amp;"));
    if (c == '<') return void(out.append("&lt;"));
    if (c == '>') return void(out.append("&gt;"));
  } else if (c == '>') {
    // SubRip has no escapes; an arrow in the text would look like a time line.
    while (out.ends_with("--")) out.pop_back();
  }
  out.push_back(c);
}

// Lines with something visible in them, escaped, each ended by \n.
std::string cue_lines(const std::string& text, CueFormat format) {
  std::string out, line;
  const auto end_line = [&] {
    if (line.find_first_not_of(" \t") != std::string::npos) out += line + "\n";
    line.clear();
  };
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      end_line();
    } else if (static_cast<unsigned char>(c) >= 0x20 || c == '\t') {
      append_escaped(line, c, format);
    }
  }
  end_line();
  return out;
}

}  // namespace

std::string CueWriter::header() const { return format_ == CueFormat::kWebVtt ? "WEBVTT\n\n" : ""; }

std::string CueWriter::push(const Cue& cue) {
  const std::string lines = cue_lines(cue.text, format_);
  if (lines.empty()) return {};
  const std::int64_t start = std::max(to_ms(cue.start), last_end_ms_);
  const std::int64_t end = std::max(to_ms(cue.end), start + 1);
  last_end_ms_ = end;
  ++number_;
  std::string out;
  if (format_ == CueFormat::kSubRip) out = std::to_string(number_) + "\n";
  return out + stamp(start, format_) + " --> " + stamp(end, format_) + "\n" + lines + "\n";
}

bool CueSheet::add(Cue cue) {
  const std::size_t bytes = cue.text.size() + cue.lane.size();
  if (cues_.size() >= kCueSheetCuesMax || bytes_ + bytes > kCueSheetBytesMax) return false;
  bytes_ += bytes;
  cues_.push_back(std::move(cue));
  return true;
}

std::string CueSheet::render(CueFormat format) const {
  CueWriter writer(format);
  std::string out = writer.header();
  for (const Cue& cue : lay_out_cues(cues_)) out += writer.push(cue);
  return out;
}

std::vector<Cue> lay_out_cues(const std::vector<Cue>& cues) {
  // Times are what the file can say: whole milliseconds, at least one long.
  struct Span {
    std::int64_t start, end;
    const Cue* cue;
  };
  std::vector<Span> spans;
  spans.reserve(cues.size());
  for (const Cue& cue : cues) {
    const std::int64_t start = to_ms(cue.start);
    spans.push_back({start, std::max(to_ms(cue.end), start + 1), &cue});
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Span& a, const Span& b) { return a.start < b.start; });
  std::map<std::string, Span*> last_of_lane;
  for (Span& span : spans) {
    Span*& before = last_of_lane[span.cue->lane];
    if (before && before->end > span.start && before->start < span.start) before->end = span.start;
    before = &span;
  }
  std::vector<std::int64_t> borders;
  for (const Span& span : spans) borders.insert(borders.end(), {span.start, span.end});
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());

  const auto at_ms = [](std::int64_t ms) { return core::MediaTime::from_us(ms * 1000); };
  std::vector<Cue> out;
  std::vector<const Span*> shown;
  std::size_t next = 0;
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    std::erase_if(shown, [&](const Span* span) { return span->end <= borders[i]; });
    for (; next < spans.size() && spans[next].start == borders[i]; ++next) {
      shown.push_back(&spans[next]);
    }
    if (shown.empty()) continue;
    std::string text;
    const std::size_t first = shown.size() - std::min(shown.size(), kCueLanesShownMax);
    for (std::size_t k = first; k < shown.size(); ++k) {
      text += (text.empty() ? "" : "\n") + shown[k]->cue->text;
    }
    if (!out.empty() && out.back().text == text && out.back().end == at_ms(borders[i])) {
      out.back().end = at_ms(borders[i + 1]);
    } else {
      out.push_back({at_ms(borders[i]), at_ms(borders[i + 1]), std::move(text), {}});
    }
  }
  return out;
}

}  // namespace saccade::emit
