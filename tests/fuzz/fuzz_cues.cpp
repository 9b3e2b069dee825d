// Any cues make a subtitle file a strict reader accepts: times in order, none overlapping, each at
// least 1 ms long, no text that could be taken for a time line.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "emit/write_cues.h"

namespace {

using namespace saccade;  // NOLINT: a fuzzer is one file

void require(bool holds) {
  if (!holds) std::abort();
}

std::int64_t stamp_ms(const std::string& text) {
  long long h = 0;
  int m = 0, s = 0, ms = 0;
  char mark = 0;
  require(std::sscanf(text.c_str(), "%lld:%2d:%2d%c%3d", &h, &m, &s, &mark, &ms) == 5);
  require(h >= 0 && m < 60 && s < 60 && (mark == '.' || mark == ','));
  return ((h * 60 + m) * 60 + s) * 1000 + ms;
}

void check_file(const std::string& file, bool vtt) {
  std::istringstream in(file);
  std::string line;
  std::int64_t last_end = 0;
  if (vtt) {
    require(std::getline(in, line) && line == "WEBVTT");
    require(std::getline(in, line) && line.empty());
  }
  for (long number = 1; std::getline(in, line); ++number) {
    if (!vtt) {
      require(line == std::to_string(number));
      require(static_cast<bool>(std::getline(in, line)));
    }
    const auto arrow = line.find(" --> ");
    require(arrow != std::string::npos);
    const std::int64_t start = stamp_ms(line.substr(0, arrow));
    const std::int64_t end = stamp_ms(line.substr(arrow + 5));
    require(start >= last_end && end > start);
    last_end = end;
    int lines = 0;
    while (std::getline(in, line) && !line.empty()) {
      require(line.find("-->") == std::string::npos && line.find('\r') == std::string::npos);
      require(!vtt || line.find('<') == std::string::npos);
      ++lines;
    }
    require(lines > 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  emit::CueSheet sheet;
  emit::CueWriter vtt(emit::CueFormat::kWebVtt);
  std::string streamed = vtt.header();
  while (size >= 18) {
    std::int64_t start = 0, length = 0;
    std::memcpy(&start, data, 8);
    std::memcpy(&length, data + 8, 8);
    // Half of the cues lie close together, so that they meet.
    if ((data[16] & 1U) != 0) {
      start = static_cast<std::int64_t>(static_cast<std::uint64_t>(start) % 10'000'000);
      length = static_cast<std::int64_t>(static_cast<std::uint64_t>(length) % 3'000'000);
    }
    const std::size_t text = std::min<std::size_t>(data[17], size - 18);
    const auto t0 = core::MediaTime::from_us(start);
    emit::Cue cue{t0, t0 + core::MediaDuration::from_us(length),
                  std::string(reinterpret_cast<const char*>(data + 18), text),
                  std::to_string(data[16] % 5)};
    streamed += vtt.push(cue);
    require(sheet.add(std::move(cue)));
    data += 18 + text;
    size -= 18 + text;
  }
  check_file(streamed, true);
  check_file(sheet.render(emit::CueFormat::kWebVtt), true);
  check_file(sheet.render(emit::CueFormat::kSubRip), false);
  return 0;
}
