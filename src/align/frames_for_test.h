#pragma once
// Builders for the tests of this room. Each frame carries a number that survives the room, so a
// test can tell which frame it got back: a picture in its width, sound in its first sample.
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "align/align.h"

namespace saccade::align {

inline constexpr std::int64_t kMs = 1'000;  // microseconds

inline ingest::Frame picture(std::int64_t time_us, int number, std::uint32_t epoch = 0) {
  ingest::Picture payload;
  payload.pixels.width = number;
  ingest::Frame frame;
  frame.time = core::MediaTime::from_us(time_us, epoch);
  frame.captured = core::SteadyTime{time_us};
  frame.payload = std::move(payload);
  return frame;
}

inline ingest::Frame sound(std::int64_t time_us, int number, std::uint32_t epoch = 0) {
  ingest::Sound payload;
  payload.samples.assign(1, static_cast<float>(number));
  ingest::Frame frame;
  frame.time = core::MediaTime::from_us(time_us, epoch);
  frame.duration = core::MediaDuration::from_us(core::limits::kAudioBlockUs);
  frame.captured = core::SteadyTime{time_us};
  frame.payload = std::move(payload);
  return frame;
}

inline int number_of(const ingest::Frame& frame) {
  if (const auto* p = frame.picture()) return p->pixels.width;
  return static_cast<int>(frame.sound()->samples.at(0));
}

inline core::KnobsPtr knobs(std::uint64_t version = 1) {
  auto made = std::make_shared<core::Knobs>();
  made->version = version;
  return made;
}

inline void append(std::vector<Moment>& to, std::vector<Moment> more) {
  for (Moment& moment : more) to.push_back(std::move(moment));
}

// "P3@400000/0 [ 18 19 20 ] skew 0 joined" per Moment: enough to compare two runs.
inline std::string describe(const Moment& moment) {
  std::ostringstream text;
  if (moment.picture) text << 'P' << number_of(*moment.picture);
  text << '@' << moment.time.us() << '/' << moment.time.epoch() << " [";
  for (const ingest::Frame& frame : moment.sound) text << ' ' << number_of(frame);
  text << " ]";
  if (moment.picture) text << " skew " << moment.skew.us();
  if (moment.joined) text << " joined";
  if (moment.discontinuity) text << " discontinuity";
  return text.str();
}

inline std::vector<std::string> describe(const std::vector<Moment>& moments) {
  std::vector<std::string> lines;
  lines.reserve(moments.size());
  for (const Moment& moment : moments) lines.push_back(describe(moment));
  return lines;
}

}  // namespace saccade::align
