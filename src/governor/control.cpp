#include "governor/control.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace saccade::governor {
namespace {

constexpr double kFade = 0.1;  // weight of the newest in a fading mean
constexpr double kCostMs =
    3e3;  // a stream's device time per turn is forgotten to a third after this
// Width: the tail of age over deadline is kept between these. It is looked at over a stretch of
// answers under the same width, so that one slow answer moves nothing.
constexpr double kTight = 0.9, kRoomy = 0.75;
constexpr double kTail = 0.97;
constexpr double kEasy = 0.6, kQuick = 0.4;  // load; a turn's time over its deadline
constexpr std::size_t kAgedMin = 24, kAgedMax = 128;
constexpr std::int64_t kAgedUs = 5'000'000;     // older ones say nothing about the width ...
constexpr std::int64_t kPressedUs = 2'500'000;  // ... and these about how hard it is pressed now
constexpr std::int64_t kWidthUs = 1'000'000;    // least time between two changes
constexpr double kChargeUnknownMs = 100;
constexpr double kChargeMax = 4;  // of a stream's usual turn, what one turn may cost it
constexpr double kLoadMax = 1.0;  // device time promised to streams

void fade(double& mean, double value) { mean += kFade * (value - mean); }

void fade(StepShape& mean, const StepShape& value) {
  fade(mean.views, value.views);
  fade(mean.prompt_tokens, value.prompt_tokens);
  fade(mean.new_tokens, value.new_tokens);
}

}  // namespace

core::Result<Admission> Control::join(const Terms& terms, core::SteadyTime now) {
  spend(now);
  const double full = load(Rung::kFull, &terms), slow = load(Rung::kSlow, &terms);
  const bool full_house = !streams_.empty() && (ladder_.rung == Rung::kRefusing || slow > kLoadMax);
  const StreamId stream = next_stream_;
  if (full_house || !turns_.join(stream, terms.weight)) {
    ++told_.refused;
    return core::error(core::ErrorCode::kExhausted,
                       "the device cannot answer another stream at its pace (load " +
                           std::to_string(static_cast<int>(slow * 100)) + " % of 100 %, " +
                           std::to_string(streams_.size()) + " streams)",
                       "end a stream, or ask for a policy with a slower pace");
  }
  ++next_stream_;
  streams_[stream].terms = terms;
  return Admission{stream, !streams_.empty() && (full > kLoadMax || ladder_.rung > Rung::kFull)};
}

void Control::leave(StreamId stream, core::SteadyTime now) {
  spend(now);
  turns_.leave(stream);
  streams_.erase(stream);
}

void Control::set_base(StreamId stream, const core::Knobs& base) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  found->second.terms.base = base;
  found->second.told = false;
}

void Control::set_policy(StreamId stream, const Policy& policy, int slo_ms) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  found->second.terms.policy = policy;
  found->second.terms.slo_ms = slo_ms;
  found->second.told = false;
}

void Control::set_policies(const PolicyBook& book) {
  for (auto& [id, stream] : streams_) {
    const auto policy = book.find(stream.terms.policy.name);
    if (policy) set_policy(id, *policy, stream.terms.slo_ms);
  }
}

// Shares the time since the last look among the turns that ran in it.
void Control::spend(core::SteadyTime now) {
  const double ms = std::max(core::ms_between(spent_until_, now), 0.0);
  spent_until_ = now;
  const auto n = static_cast<double>(running_.size());
  for (Running& turn : running_) {
    turn.device_ms += ms / n;
    turn.company_ms += ms * (n - 1);
  }
}

std::optional<StreamId> Control::grant(core::SteadyTime now) {
  spend(now);
  const auto stream = turns_.grant();
  if (stream) running_.push_back({*stream, now});
  return stream;
}

bool Control::fits(StreamId stream, double age_ms) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return true;
  Stream& s = found->second;
  fade(s.fresh_ms, age_ms);
  StepShape shape = s.shape;
  shape.company = turns_.running() - 1;
  const Prediction needed = costs_.predict(shape);
  const double deadline = s.terms.deadline_ms();
  // When the slowest of turns are too slow for any picture, the usual one decides.
  const double needed_ms = needed.p99_ms > deadline ? needed.p50_ms : needed.p99_ms;
  const bool hopeless = needed_ms > deadline;  // a younger picture would be too late as well
  const bool late = needed.known && age_ms + needed_ms > deadline;
  if (!late || hopeless || s.late_in_a_row >= kLateInARowMax) {
    s.late_in_a_row = 0;
    return true;
  }
  ++s.late_in_a_row;
  ++told_.passed_over;
  return false;
}

void Control::done(StreamId stream, const Served& served, core::SteadyTime now) {
  spend(now);
  const auto turn = std::find_if(running_.begin(), running_.end(),
                                 [&](const Running& r) { return r.stream == stream; });
  if (turn == running_.end()) return;
  const Running ran = *turn;
  running_.erase(turn);
  ++told_.turns;
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return turns_.done(stream, ran.device_ms);
  Stream& s = found->second;
  const double ratio = served.age_ms / s.terms.deadline_ms();
  told_.answers += served.answered;
  told_.misses += served.answered && ratio > 1;
  // Cold caches and graphs not yet planned say nothing about later turns, and nobody pays for them.
  if (s.warm_up > 0) {
    --s.warm_up;
    return turns_.done(stream, 0);
  }
  // Nor does who was hit by a stall of the device pay for it with many turns.
  const double most = s.device_ms < 0 ? kChargeUnknownMs : kChargeMax * s.device_ms;
  const double ms = core::ms_between(ran.since, now);
  StepShape shape = served.shape;
  shape.company = ms > 0 ? ran.company_ms / ms : 0;
  turns_.done(stream, std::min(ran.device_ms, most));
  const double device_ms = std::min(ran.device_ms, most) * in_company(shape);
  // Who has few turns forgets as soon as who has many.
  const double fresh = 1 - std::exp(-core::ms_between(s.cost_seen, now) / kCostMs);
  if (s.device_ms < 0) s.device_ms = device_ms;
  s.device_ms += std::max(kFade, fresh) * (device_ms - s.device_ms);
  s.cost_seen = now;
  if (!served.answered) return;
  costs_.observe(shape, ms);
  fade(s.shape, shape);
  fade(quick_, ms / s.terms.deadline_ms());
  aged_.push_back({now, ratio});
  if (aged_.size() > kAgedMax) aged_.pop_front();
}

// What a turn would have cost in company, as a share of what it cost: who is alone on the device
// may leave a part of it idle.
double Control::in_company(StepShape shape) const {
  const double had = std::max(shape.company, 0.0);
  const Prediction now = costs_.predict(shape);
  if (had >= 1 || !now.known || now.p50_ms <= 0) return 1;
  shape.company = 1;
  const double share = costs_.predict(shape).p50_ms / 2 * (1 + had) / now.p50_ms;
  return std::clamp(share, 0.5, 1.0);
}

// Device time that the streams' paces ask for on a rung, in device time there is. What a turn costs
// is taken as it was measured, on whatever rung that was.
double Control::load(Rung rung, const Terms* newcomer) const {
  double sum = 0, known_ms = 0;
  int known = 0;
  for (const auto& [id, stream] : streams_) {
    if (stream.device_ms < 0) continue;
    sum += pace_on(rung, stream.terms.policy) * stream.device_ms / 1e3;
    known_ms += stream.device_ms;
    ++known;
  }
  if (known == 0) return 0;
  // A stream that has not shown what it costs is taken as an average one.
  const double mean_ms = known_ms / known;
  for (const auto& [id, stream] : streams_) {
    if (stream.device_ms < 0) sum += pace_on(rung, stream.terms.policy) * mean_ms / 1e3;
  }
  if (newcomer) sum += pace_on(rung, newcomer->policy) * mean_ms / 1e3;
  return sum;
}

double Control::asked() const {
  double sum = 0;
  for (const auto& [id, stream] : streams_) sum += stream.terms.policy.pace;
  return sum;
}

double Control::tail(core::SteadyTime since) const {
  std::vector<double> sorted;
  sorted.reserve(aged_.size());
  for (const Aged& answer : aged_) {
    if (answer.at >= since) sorted.push_back(answer.ratio);
  }
  if (sorted.empty()) return 0;
  const auto at =
      sorted.begin() + static_cast<std::ptrdiff_t>(kTail * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

void Control::choose_width(double tail, core::SteadyTime now) {
  if (aged_.size() < kAgedMin || core::us_between(width_changed_, now) < kWidthUs) return;
  const int width = turns_.width();
  int wanted = width;
  if (tail > kTight) wanted = std::max(1, width - 1 - width / 4);
  if (tail < kRoomy && turns_.waiting() > 0) wanted = std::min(width + 1, kWidthMax);
  // Quick turns and an idle device: pictures are late because they wait for each other.
  if (tail > kTight && told_.pressure.load < kEasy && quick_ < kQuick) wanted = std::max(wanted, 2);
  if (wanted == width) return;
  turns_.set_width(wanted);
  width_changed_ = now;
  aged_.clear();
}

std::vector<Rung> Control::rungs() const {
  bool tiles = false, prunes = false, decodes = false;
  for (const auto& [id, stream] : streams_) {
    const Terms& terms = stream.terms;
    tiles = tiles || (terms.policy.fewer_tiles && terms.base.fovea_tiles_max > 0);
    prunes = prunes || (terms.policy.prune && terms.abilities.prunes);
    decodes = decodes || (terms.policy.slower && terms.abilities.decodes);
  }
  std::vector<Rung> out = {Rung::kFull, Rung::kCalm};
  if (tiles) out.push_back(Rung::kFewTiles);
  if (tiles || prunes) out.push_back(Rung::kPruned);
  out.push_back(Rung::kSlow);
  if (decodes) out.push_back(Rung::kKeys);
  out.push_back(Rung::kRefusing);
  return out;
}

void Control::tick(core::SteadyTime now) {
  if (core::us_between(ticked_, now) < kTickUs) return;
  ticked_ = now;
  while (!aged_.empty() && core::us_between(aged_.front().at, now) > kAgedUs) aged_.pop_front();
  const bool narrow = turns_.width() == 1;
  const double latency = narrow ? tail({now.us - kPressedUs}) : 0;
  choose_width(tail({}), now);
  const Rung before = ladder_.rung;
  const std::vector<Rung> rungs = this->rungs();
  const auto place = std::lower_bound(rungs.begin(), rungs.end(), before);
  const Rung above = place == rungs.begin() ? before : *std::prev(place);
  told_.pressure = {.latency = latency,
                    .load = load(before, nullptr),
                    .above = load(above, nullptr),
                    .asked = asked()};
  ladder_ = next_state(ladder_, told_.pressure, rungs, timing_, now);
  if (ladder_.rung == before) return;
  ++told_.rung_changes;
  aged_.clear();
  for (auto& [id, stream] : streams_) stream.told = false;
}

std::optional<Published> Control::take_knobs(StreamId stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || std::exchange(found->second.told, true)) return std::nullopt;
  const Terms& terms = found->second.terms;
  return Published{knobs_on(ladder_.rung, terms.policy, terms.abilities, terms.base), ladder_.rung};
}

Snapshot Control::snapshot() const {
  Snapshot out = told_;
  out.rung = ladder_.rung;
  out.width = turns_.width();
  out.running = turns_.running();
  out.waiting = turns_.waiting();
  out.streams = static_cast<int>(streams_.size());
  out.prediction_mape = costs_.mape();
  return out;
}

}  // namespace saccade::governor
