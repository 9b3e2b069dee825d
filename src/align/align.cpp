// Epochs, re-stamping, late data and the making of Moments. What belongs together is decided in
// join_window.cpp, what the clocks do against each other in track_skew.cpp.
#include "align/align.h"

#include <algorithm>
#include <string>
#include <utility>

#include "align/join_window.h"
#include "align/track_skew.h"

namespace saccade::align {
namespace {

// Stamps beyond this (73 thousand years) are no times; inside it sums cannot overflow.
constexpr std::int64_t kStampUsMax = std::int64_t{1} << 61;
// A sender's clock that differs more from ours is not synchronised: its age says nothing.
constexpr double kCaptureMsMax = 60'000;

bool usable(core::MediaTime time) {
  return !time.is_special() && time.us() > -kStampUsMax && time.us() < kStampUsMax;
}

struct Range {
  const char* name;
  core::MediaDuration value, low, high;
};

}  // namespace

core::Status check(const AlignOptions& options) {
  const auto ms = core::MediaDuration::from_ms;
  for (const Range& r : {Range{"window", options.window, ms(0), ms(1'000)},
                         Range{"lateness", options.lateness, ms(0), ms(10'000)},
                         Range{"reorder", options.reorder, ms(0), ms(10'000)},
                         Range{"sound_moment", options.sound_moment, ms(20), ms(10'000)}}) {
    if (r.value >= r.low && r.value <= r.high) continue;
    return core::error(core::ErrorCode::kUsage,
                       std::string("align: ") + r.name + " is " + std::to_string(r.value.us()) +
                           " us, allowed are " + std::to_string(r.low.us()) + " to " +
                           std::to_string(r.high.us()) + " us",
                       "choose a value in this range");
  }
  return {};
}

struct Aligner::State {
  State(const AlignOptions& given, const core::Clock& time)
      : options(given), clock(time), window(given), skew(given.clocks) {}

  bool enter_epoch(const ingest::Frame& frame, SourceKind kind, std::vector<Moment>& out);
  void join_axis(const ingest::Frame& picture);
  void push_picture(ingest::Frame frame, bool current);
  void push_sound(ingest::Frame frame, bool current);
  void give_certain(std::vector<Moment>& out);
  void give_held(std::vector<Moment>& out);
  Moment make(Group group);
  void drop_late(core::MediaTime time);
  std::optional<double> capture_ms(const ingest::Frame& frame) const;

  const AlignOptions options;
  const core::Clock& clock;
  JoinWindow window;
  SkewTracker skew;
  core::KnobsPtr knobs;
  std::uint64_t index = 0;
  std::optional<std::uint32_t> epoch;        // of the axis
  std::optional<std::uint32_t> sound_epoch;  // kArrival: the sound source counts its own
  bool discontinuity = false;
  std::int64_t picture_shift_us = 0;  // kArrival: pictures that came after sound join its axis
  std::optional<ingest::Loss> late;
  std::optional<std::int64_t> newest_us;  // on the axis
};

// False when the frame belongs to an epoch that is over. A newer one gives out what is held.
bool Aligner::State::enter_epoch(const ingest::Frame& frame, SourceKind kind,
                                 std::vector<Moment>& out) {
  if (!usable(frame.time)) return false;
  const std::uint32_t own = frame.time.epoch();
  if (options.clocks == ClockRule::kArrival && kind == SourceKind::kAudio) {
    if (sound_epoch && own > *sound_epoch) skew.restart(SourceKind::kAudio);
    sound_epoch = std::max(sound_epoch.value_or(own), own);
    return own == *sound_epoch;
  }
  if (epoch && own < *epoch) return false;
  if (epoch == own) return true;
  if (epoch) {
    give_held(out);
    discontinuity = true;
  }
  epoch = own;
  if (options.clocks == ClockRule::kArrival) {
    skew.restart(SourceKind::kVideo);
    join_axis(frame);
  } else {
    skew.restart();
  }
  if (discontinuity) window.restart(frame.time.us() + picture_shift_us);
  return true;
}

// With two sources the axis goes on with the sound while there are no pictures; a picture source
// that comes (back) then starts where the sound is at its arrival.
void Aligner::State::join_axis(const ingest::Frame& picture) {
  const auto sound_us = skew.arrival_us(SourceKind::kAudio);
  if (!sound_us) return;
  const double axis_us = static_cast<double>(picture.captured.us) - *sound_us +
                         static_cast<double>(skew.sound_shift_us());
  picture_shift_us = static_cast<std::int64_t>(axis_us) - picture.time.us();
}

void Aligner::State::push_picture(ingest::Frame frame, bool current) {
  if (!current) return drop_late(frame.time);
  frame.time = core::MediaTime::from_us(frame.time.us() + picture_shift_us, *epoch);
  skew.see(SourceKind::kVideo, frame);
  newest_us = std::max(newest_us.value_or(frame.time.us()), frame.time.us());
  const core::MediaTime time = frame.time;
  if (!window.add_picture(HeldPicture{std::move(frame), clock.now()})) drop_late(time);
}

void Aligner::State::push_sound(ingest::Frame frame, bool current) {
  HeldSound held{std::move(frame), clock.now(), 0, !current};
  if (current) {
    skew.see(SourceKind::kAudio, held.frame);
    const std::int64_t at_us = held.frame.time.us();
    held.frame.time =
        core::MediaTime::from_us(at_us + skew.sound_shift_us(at_us), epoch.value_or(0));
    newest_us = std::max(newest_us.value_or(held.frame.time.us()), held.frame.time.us());
  }
  window.add_sound(std::move(held));
}

void Aligner::State::give_certain(std::vector<Moment>& out) {
  while (auto group = window.next_certain()) out.push_back(make(std::move(*group)));
}

void Aligner::State::give_held(std::vector<Moment>& out) {
  while (auto group = window.next_held()) out.push_back(make(std::move(*group)));
}

Moment Aligner::State::make(Group group) {
  Moment moment;
  moment.index = index++;
  moment.time = core::MediaTime::from_us(group.time_us, epoch.value_or(0));
  moment.discontinuity = std::exchange(discontinuity, false);
  moment.knobs = knobs;
  moment.joined = group.joined;
  moment.clock_skew = core::MediaDuration::from_us(skew.sound_shift_us());
  core::SteadyTime pushed = group.sound.empty() ? clock.now() : group.sound.front().pushed;
  for (HeldSound& held : group.sound) moment.sound.push_back(std::move(held.frame));
  if (group.picture) {
    pushed = group.picture->pushed;
    if (const auto ms = capture_ms(group.picture->frame)) {
      moment.ledger[telemetry::Stage::kCapture] = *ms;
    }
    moment.span = group.picture->frame.duration;
    if (group.joined) {
      moment.skew = core::MediaDuration::from_us(group.time_us - *group.nearest_us);
    }
    moment.picture = std::move(group.picture->frame);
  } else if (!moment.sound.empty()) {
    const ingest::Frame& last = moment.sound.back();
    if (const auto span = (last.time + last.duration).since(moment.time)) {
      moment.span = std::max(core::MediaDuration(), *span);
    }
  }
  moment.ledger[telemetry::Stage::kAlign] = core::ms_between(pushed, clock.now());
  return moment;
}

void Aligner::State::drop_late(core::MediaTime time) {
  const std::uint64_t before = late ? late->count : 0;
  late = ingest::Loss{ingest::LossKind::kLate, time, before + 1};
}

// From the sender's camera to our decoder, when both keep the same wall time.
std::optional<double> Aligner::State::capture_ms(const ingest::Frame& frame) const {
  if (!frame.wall || options.clocks == ClockRule::kStamps) return std::nullopt;
  const std::int64_t decoded_us =
      clock.wall_now().us - core::us_between(frame.captured, clock.now());
  const double ms = static_cast<double>(decoded_us - frame.wall->us) / 1e3;
  return ms >= 0 && ms < kCaptureMsMax ? std::optional(ms) : std::nullopt;
}

Aligner::Aligner(const AlignOptions& options, const core::Clock& clock)
    : state_(std::make_unique<State>(options, clock)) {}
Aligner::~Aligner() = default;
Aligner::Aligner(Aligner&&) noexcept = default;

std::vector<Moment> Aligner::push(ingest::Frame frame, const core::KnobsPtr& knobs) {
  std::vector<Moment> out;
  const SourceKind kind = frame.picture() ? SourceKind::kVideo : SourceKind::kAudio;
  const bool current = state_->enter_epoch(frame, kind, out);
  state_->knobs = knobs;
  if (kind == SourceKind::kVideo) {
    state_->push_picture(std::move(frame), current);
  } else {
    state_->push_sound(std::move(frame), current);
  }
  state_->give_certain(out);
  return out;
}

std::vector<Moment> Aligner::advance(SourceKind kind, core::MediaTime watermark) {
  std::vector<Moment> out;
  const bool own_epoch =
      state_->options.clocks == ClockRule::kArrival && kind == SourceKind::kAudio;
  const auto& epoch = own_epoch ? state_->sound_epoch : state_->epoch;
  if (!usable(watermark) || (epoch && watermark.epoch() != *epoch)) return out;
  const std::int64_t shift_us =
      kind == SourceKind::kVideo ? state_->picture_shift_us : state_->skew.sound_shift_us();
  state_->window.promise(kind, watermark.us() + shift_us);
  state_->give_certain(out);
  return out;
}

std::vector<Moment> Aligner::tick(core::SteadyTime now) {
  std::vector<Moment> out;
  while (auto group = state_->window.next_due(now)) out.push_back(state_->make(std::move(*group)));
  return out;
}

std::vector<Moment> Aligner::source_ended(SourceKind kind) {
  std::vector<Moment> out;
  state_->window.end(kind);
  state_->give_certain(out);
  return out;
}

std::vector<Moment> Aligner::flush() {
  std::vector<Moment> out;
  state_->give_held(out);
  return out;
}

std::optional<ingest::Loss> Aligner::take_late() {
  return std::exchange(state_->late, std::nullopt);
}

core::MediaDuration Aligner::clock_skew() const {
  return core::MediaDuration::from_us(state_->skew.sound_shift_us());
}

std::optional<core::WallMapping> Aligner::wall() const {
  const auto offset_us = state_->skew.wall_us();
  if (!offset_us || !state_->newest_us) return std::nullopt;
  return core::WallMapping{
      core::MediaTime::from_us(*state_->newest_us, state_->epoch.value_or(0)),
      core::WallTime{*state_->newest_us + static_cast<std::int64_t>(*offset_us)}};
}

std::size_t Aligner::pending() const { return state_->window.pending(); }

}  // namespace saccade::align
