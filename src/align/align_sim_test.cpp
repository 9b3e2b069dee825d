// Seeded simulation: whole streams with drift, jitter, disorder and faults, hundreds of seeds.
// A failure names its seed; the same seed replays it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "align/align.h"
#include "align/frames_for_test.h"
#include "core/rng.h"

namespace saccade::align {
namespace {

constexpr int kSeeds = 200;
constexpr double kSecond = 1e6;

// Two clocks that run apart, seen through a network.
struct World {
  double picture_ppm = 0, sound_ppm = 0, jitter_ms = 0, fps = 5;
  double sound_starts_s = 0;  // kArrival: the microphone counts from its own start
  bool wall = false;          // the senders say when they captured, exactly
};

struct Arrival {
  std::int64_t at_us = 0;
  ingest::Frame frame;
};

struct Report {
  double worst_ms = 0;  // true time between a picture and its nearest sound, after the warm-up
  int pictures = 0, joined = 0;
  std::size_t blocks = 0;
};

class LiveRun {
 public:
  LiveRun(const World& world, std::uint64_t seed) : world_(world), rng_(seed) {}

  Report run(ClockRule rule, double seconds, double warm_up_s) {
    schedule(seconds);
    AlignOptions options;
    options.clocks = rule;
    core::ManualClock clock;
    Aligner aligner(options, clock);
    Report report;
    const auto knob = knobs();
    const auto judge = [&](const std::vector<Moment>& moments) {
      for (const Moment& moment : moments) add(moment, warm_up_s, report);
    };
    for (Arrival& arrival : arrivals_) {
      clock.advance_us(arrival.at_us - clock.now().us);
      judge(aligner.push(std::move(arrival.frame), knob));
      judge(aligner.tick(clock.now()));
    }
    judge(aligner.flush());
    return report;
  }

  std::size_t blocks() const { return sound_true_s_.size(); }

 private:
  void send(ingest::Frame frame, double true_s, std::int64_t& last_us) {
    // Each kind stays in order, as a demuxer delivers it.
    const double delay_s = rng_.uniform() * world_.jitter_ms / 1e3;
    last_us = std::max(last_us + 1, static_cast<std::int64_t>((true_s + delay_s) * kSecond));
    frame.captured = core::SteadyTime{last_us};
    if (world_.wall) {
      frame.wall = core::WallTime{static_cast<std::int64_t>(true_s * kSecond) + 1'000'000'000};
    }
    arrivals_.push_back(Arrival{last_us, std::move(frame)});
  }

  void schedule(double seconds) {
    std::int64_t last_us = 0;
    for (int n = 0; n / world_.fps < seconds; ++n) {
      const double true_s = n / world_.fps;
      const double stamp_us = true_s * (1 + world_.picture_ppm * 1e-6) * kSecond;
      picture_true_s_.push_back(true_s);
      send(picture(std::llround(stamp_us), n), true_s, last_us);
    }
    last_us = 0;
    for (int n = 0;; ++n) {
      const double true_s = world_.sound_starts_s + n * 0.02 / (1 + world_.sound_ppm * 1e-6);
      if (true_s >= seconds) break;
      sound_true_s_.push_back(true_s);
      ingest::Frame block = sound(n * core::limits::kAudioBlockUs, n);
      send(std::move(block), true_s, last_us);
    }
    std::stable_sort(arrivals_.begin(), arrivals_.end(),
                     [](const Arrival& a, const Arrival& b) { return a.at_us < b.at_us; });
  }

  void add(const Moment& moment, double warm_up_s, Report& report) {
    for (const ingest::Frame& frame : moment.sound) {
      heard_[frame.time.us()] = sound_true_s_.at(number_of(frame));
      ++report.blocks;
    }
    while (heard_.size() > 500) heard_.erase(heard_.begin());
    if (!moment.picture) return;
    const double true_s = picture_true_s_.at(number_of(*moment.picture));
    if (true_s < warm_up_s || true_s > picture_true_s_.back() - 1) return;
    ++report.pictures;
    if (!moment.joined) return;
    ++report.joined;
    const auto nearest = heard_.find(moment.time.us() - moment.skew.us());
    ASSERT_NE(nearest, heard_.end());
    report.worst_ms = std::max(report.worst_ms, std::abs(true_s - nearest->second) * 1e3);
  }

  const World world_;
  core::Rng rng_;
  std::vector<Arrival> arrivals_;
  std::vector<double> picture_true_s_, sound_true_s_;
  std::map<std::int64_t, double> heard_;  // stamp on the axis to true time
};

TEST(AlignSim, SkewStaysBelow50MsAfterTenMinutesOfDriftAndJitter) {
  double worst_ms = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const World world{seed % 2 ? 200.0 : -200.0, seed % 4 < 2 ? -200.0 : 200.0, 100,
                      seed % 3 == 0 ? 2.0 : 5.0};
    LiveRun run(world, seed);
    const Report report = run.run(ClockRule::kDrift, 600, 0);
    EXPECT_LT(report.worst_ms, 50);
    EXPECT_EQ(report.joined, report.pictures);
    EXPECT_EQ(report.blocks, run.blocks());
    worst_ms = std::max(worst_ms, report.worst_ms);
  }
  RecordProperty("worst_ms", std::to_string(worst_ms));
}

TEST(AlignSim, WithoutCorrectionTheSameStreamFails) {
  LiveRun run(World{200, -200, 100}, 1);
  EXPECT_GT(run.run(ClockRule::kStamps, 600, 0).worst_ms, 200);
}

TEST(AlignSim, TwoSourcesAreJoinedByArrival) {
  for (std::uint64_t seed = 0; seed < kSeeds / 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world{-200, 200, 100};
    world.sound_starts_s = 3.7;
    LiveRun run(world, seed);
    const Report report = run.run(ClockRule::kArrival, 600, 30);
    EXPECT_LT(report.worst_ms, 50);
    EXPECT_EQ(report.joined, report.pictures);
    EXPECT_EQ(report.blocks, run.blocks());
  }
}

TEST(AlignSim, SenderTimesJoinTwoSourcesExactly) {
  World world{-200, 200, 100};
  world.sound_starts_s = 3.7;
  world.wall = true;
  const Report report = LiveRun(world, 7).run(ClockRule::kArrival, 600, 10);
  EXPECT_LT(report.worst_ms, 25);  // half a block and the lag of the average
  EXPECT_EQ(report.joined, report.pictures);
}

// A stream with irregular pictures, in order of time.
std::vector<ingest::Frame> stream(core::Rng& rng) {
  std::vector<ingest::Frame> frames;
  const std::int64_t interval_us = rng.between(55, 900) * kMs;
  std::int64_t at_us = rng.between(0, 500) * kMs;
  for (int n = 1; at_us < 8'000 * kMs; ++n) {
    frames.push_back(picture(at_us, n));
    at_us += rng.between(interval_us / 2 + 1, interval_us);
  }
  const std::int64_t start_us = rng.between(0, 500) * kMs;
  const bool pause = rng.between(0, 1) == 1;
  for (int n = 0; n < 400; ++n) {
    if (pause && n > 150 && n < 220) continue;
    frames.push_back(sound(start_us + n * core::limits::kAudioBlockUs, n));
  }
  std::stable_sort(frames.begin(), frames.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  return frames;
}

// Delays each frame by less than `bound_us`; with `in_order` each kind keeps its own order.
std::vector<ingest::Frame> shuffled(const std::vector<ingest::Frame>& frames, core::Rng& rng,
                                    std::int64_t bound_us, bool in_order) {
  std::vector<std::pair<std::int64_t, ingest::Frame>> keyed;
  std::int64_t last_us[2] = {-1, -1};
  for (const ingest::Frame& frame : frames) {
    std::int64_t key_us = frame.time.us() + rng.between(0, bound_us - 1);
    std::int64_t& last = last_us[frame.picture() ? 0 : 1];
    if (in_order) key_us = std::max(key_us, last);
    last = key_us;
    keyed.emplace_back(key_us, frame);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ingest::Frame> out;
  out.reserve(keyed.size());
  for (auto& [key, frame] : keyed) out.push_back(std::move(frame));
  return out;
}

std::vector<std::string> moments_of(const std::vector<ingest::Frame>& frames,
                                    const AlignOptions& options) {
  core::ManualClock clock;
  Aligner aligner(options, clock);
  std::vector<Moment> got;
  for (const ingest::Frame& frame : frames) append(got, aligner.push(frame, knobs()));
  append(got, aligner.flush());
  return describe(got);
}

// Shows the first difference only: a whole stream is hundreds of lines.
void expect_same(const std::vector<std::string>& got, const std::vector<std::string>& expected) {
  EXPECT_EQ(got.size(), expected.size());
  const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
  if (a == got.end() || b == expected.end()) return;
  EXPECT_EQ(*a, *b);
}

TEST(AlignSim, ShuffledArrivalInsideLatenessGivesTheSameMoments) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    core::Rng rng(seed);
    const auto frames = stream(rng);
    AlignOptions options;
    const auto expected = moments_of(frames, options);
    ASSERT_GT(expected.size(), 8U);
    // Between the kinds, as ingest delivers: the default options stand it.
    expect_same(moments_of(shuffled(frames, rng, options.lateness.us(), true), options), expected);
    // Inside one kind as well: `reorder` says how far.
    options.reorder = options.lateness;
    expect_same(moments_of(shuffled(frames, rng, options.lateness.us(), false), options), expected);
  }
}

// Anything may happen to a stream; what must hold, holds.
class FaultRun {
 public:
  explicit FaultRun(std::uint64_t seed) : rng_(seed) {
    AlignOptions options;
    options.has_video = rng_.between(0, 3) > 0;
    options.has_audio = rng_.between(0, 3) > 0;
    options.reorder = core::MediaDuration::from_ms(rng_.between(0, 1) * 60);
    options.clocks = static_cast<ClockRule>(rng_.between(0, 2));
    aligner_.emplace(options, clock_);
  }

  void run() {
    for (int step = 0; step < 1'500; ++step) one_step();
    check(aligner_->flush());
    EXPECT_EQ(aligner_->pending(), 0U);
    EXPECT_EQ(heard_, sent_sound_);
    EXPECT_EQ(seen_.size() + late_, static_cast<std::size_t>(sent_pictures_));
  }

 private:
  void one_step() {
    clock_.advance_us(rng_.between(0, 25) * kMs);
    now_us_ += rng_.between(0, 25) * kMs;
    const std::int64_t dice = rng_.between(0, 999);
    if (dice < 3) ++epoch_;
    if (dice == 3) check(aligner_->source_ended(SourceKind::kVideo));
    if (dice == 4) check(aligner_->source_ended(SourceKind::kAudio));
    if (dice == 5) check(aligner_->flush());
    if (dice == 6) check(aligner_->advance(SourceKind::kAudio, time()));
    const std::uint64_t version = rng_.between(1, 9);
    if (dice < 700) {
      ingest::Frame frame = sound(0, sent_sound_++);
      frame.time = time();
      check(aligner_->push(std::move(frame), knobs(version)));
    } else if (dice < 800) {
      ingest::Frame frame = picture(0, ++sent_pictures_);
      frame.time = time();
      check(aligner_->push(std::move(frame), knobs(version)));
    } else {
      check(aligner_->tick(clock_.now()));
    }
    EXPECT_LE(aligner_->pending(), core::limits::kAlignPendingMax + Aligner::kPicturesHeld + 1);
    if (const auto late = aligner_->take_late()) late_ += late->count;
  }

  // Mostly near now, sometimes far late, early, of an old epoch, or no time at all.
  core::MediaTime time() {
    const std::int64_t dice = rng_.between(0, 99);
    if (dice == 0) return core::MediaTime::unset();
    if (dice == 1) return core::MediaTime::end();
    std::int64_t at_us = now_us_ - rng_.between(0, 150) * kMs;
    if (dice == 2) at_us -= rng_.between(0, 5'000) * kMs;
    if (dice == 3) at_us += rng_.between(0, 5'000) * kMs;
    const bool old = dice == 4 && epoch_ > 0;
    return core::MediaTime::from_us(at_us, old ? epoch_ - 1 : epoch_);
  }

  void check(const std::vector<Moment>& moments) {
    for (const Moment& moment : moments) {
      EXPECT_EQ(moment.index, next_index_++);
      EXPECT_TRUE(moment.picture || !moment.sound.empty());
      if (moment.picture) {
        EXPECT_TRUE(seen_.insert(number_of(*moment.picture)).second);
        EXPECT_EQ(moment.time, moment.picture->time);
        EXPECT_GT(std::pair(moment.time.epoch(), moment.time.us()), last_picture_);
        last_picture_ = {moment.time.epoch(), moment.time.us()};
      }
      for (const ingest::Frame& frame : moment.sound) {
        EXPECT_TRUE(blocks_.insert(number_of(frame)).second) << "in two Moments";
        ++heard_;
      }
    }
  }

  core::Rng rng_;
  core::ManualClock clock_;
  std::optional<Aligner> aligner_;
  std::int64_t now_us_ = 1'000'000;
  std::uint32_t epoch_ = 0;
  int sent_sound_ = 0, sent_pictures_ = 0, heard_ = 0;
  std::uint64_t late_ = 0, next_index_ = 0;
  std::set<int> seen_, blocks_;
  std::pair<std::uint32_t, std::int64_t> last_picture_{0, std::numeric_limits<std::int64_t>::min()};
};

TEST(AlignSim, NoSoundIsLostOrDoubledWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FaultRun(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace saccade::align
