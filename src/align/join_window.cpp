#include "align/join_window.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace saccade::align {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// Enough to find the nearest sound of a picture that comes two seconds after it.
constexpr std::size_t kTakenStampsMax = 128;
constexpr std::int64_t kLargePicture = 4'000'000;  // pixels, as ingest sizes its slots

std::int64_t time_us(const HeldPicture& held) { return held.frame.time.us(); }
std::int64_t time_us(const HeldSound& held) { return held.frame.time.us(); }

bool large(const ingest::Picture& picture) {
  return static_cast<std::int64_t>(picture.pixels.width) * picture.pixels.height > kLargePicture;
}

}  // namespace

JoinWindow::JoinWindow(const AlignOptions& options)
    : window_us_(options.window.us()),
      lateness_us_(options.lateness.us()),
      reorder_us_(options.reorder.us()),
      sound_moment_us_(options.sound_moment.us()) {
  video_.expected = options.has_video;
  audio_.expected = options.has_audio;
}

bool JoinWindow::add_picture(HeldPicture picture) {
  const std::int64_t at_us = time_us(picture);
  if (last_picture_us_ && at_us <= *last_picture_us_) return false;
  const auto place = std::lower_bound(pictures_.begin(), pictures_.end(), at_us,
                                      [](const auto& p, auto us) { return time_us(p) < us; });
  if (place != pictures_.end() && time_us(*place) == at_us) return false;
  pictures_.insert(place, std::move(picture));
  video_.expected = true;
  video_.newest_us = std::max(video_.newest_us.value_or(at_us), at_us);
  return true;
}

void JoinWindow::add_sound(HeldSound sound) {
  const std::int64_t at_us = time_us(sound);
  const std::int64_t low_us = sound.stray ? start_us_ : at_us;
  sound.place_us = cut_us_ ? std::max(low_us, *cut_us_) : low_us;
  const auto place = std::upper_bound(
      sounds_.begin(), sounds_.end(), sound, [](const HeldSound& a, const HeldSound& b) {
        return std::pair(a.place_us, time_us(a)) < std::pair(b.place_us, time_us(b));
      });
  if (!sound.stray) audio_.newest_us = std::max(audio_.newest_us.value_or(at_us), at_us);
  audio_.expected = true;
  sounds_.insert(place, std::move(sound));
}

void JoinWindow::promise(SourceKind kind, std::int64_t watermark_us) {
  auto& promised_us = reach(kind).promised_us;
  promised_us = std::max(promised_us.value_or(watermark_us), watermark_us);
}

void JoinWindow::end(SourceKind kind) { reach(kind).expected = false; }

// Nothing of this kind will come before the watermark.
std::int64_t JoinWindow::watermark_us(const Reach& reach) const {
  if (!reach.expected) return kNever;
  std::int64_t us = reach.promised_us.value_or(-kNever);
  if (reach.newest_us) us = std::max(us, *reach.newest_us - reorder_us_);
  return us;
}

// This kind is so far past `at_us` that the other one is not waited for there.
bool JoinWindow::beyond(const Reach& reach, std::int64_t at_us) const {
  return reach.newest_us && *reach.newest_us > at_us + lateness_us_;
}

std::int64_t JoinWindow::chunk_us() const {
  return video_.expected ? sound_moment_us_ + lateness_us_ : sound_moment_us_;
}

// No picture held so far could take the first chunk of sound.
bool JoinWindow::chunk_stands_alone() const {
  return !sounds_.empty() &&
         (pictures_.empty() || time_us(pictures_.front()) >= sounds_.front().place_us + chunk_us());
}

bool JoinWindow::chunk_certain() const {
  if (!chunk_stands_alone()) return false;
  const std::int64_t end_us = sounds_.front().place_us + chunk_us();
  const bool no_picture = watermark_us(video_) >= end_us || beyond(audio_, end_us);
  const bool all_sound = watermark_us(audio_) >= end_us || beyond(video_, end_us);
  return no_picture && all_sound;
}

bool JoinWindow::picture_certain() const {
  if (pictures_.empty()) return false;
  const std::int64_t at_us = time_us(pictures_.front());
  if (watermark_us(video_) < at_us) return false;
  const std::int64_t heard_us = watermark_us(audio_);
  if (heard_us >= at_us + window_us_ || beyond(video_, at_us + window_us_)) return true;
  // The first sound after the picture settles which one is nearest.
  return std::any_of(sounds_.begin(), sounds_.end(), [&](const HeldSound& sound) {
    return !sound.stray && time_us(sound) >= at_us && time_us(sound) <= heard_us;
  });
}

bool JoinWindow::full() const {
  if (pictures_.empty()) return false;
  return pictures_.size() > (large(*pictures_.front().frame.picture()) ? Aligner::kPicturesHeldLarge
                                                                       : Aligner::kPicturesHeld);
}

std::optional<Group> JoinWindow::next_certain() {
  if (chunk_certain()) return take_chunk(sounds_.front().place_us + chunk_us());
  if (picture_certain() || full()) return take_picture();
  if (sounds_.size() > core::limits::kAlignPendingMax) return next_held();
  return std::nullopt;
}

std::optional<Group> JoinWindow::next_due(core::SteadyTime now) {
  const auto waited = [&](core::SteadyTime pushed, std::int64_t us) {
    return core::us_between(pushed, now) >= us;
  };
  if (chunk_stands_alone() && waited(sounds_.front().pushed, lateness_us_ + chunk_us())) {
    return take_chunk(sounds_.front().place_us + chunk_us());
  }
  if (!pictures_.empty() && waited(pictures_.front().pushed, lateness_us_)) return take_picture();
  return std::nullopt;
}

std::optional<Group> JoinWindow::next_held() {
  if (chunk_stands_alone()) return take_chunk(sounds_.front().place_us + chunk_us());
  if (!pictures_.empty()) return take_picture();
  return std::nullopt;
}

void JoinWindow::restart(std::int64_t start_us) {
  for (Reach* reach : {&video_, &audio_}) {
    reach->newest_us.reset();
    reach->promised_us.reset();
  }
  taken_us_.clear();
  cut_us_.reset();
  last_picture_us_.reset();
  start_us_ = start_us;
}

// The earlier one of two equally near.
std::optional<std::int64_t> JoinWindow::nearest_us(std::int64_t at_us) const {
  std::optional<std::int64_t> best_us;
  const auto offer = [&](std::int64_t us) {
    if (!best_us) best_us = us;
    const std::pair best(std::abs(*best_us - at_us), *best_us);
    if (std::pair(std::abs(us - at_us), us) < best) best_us = us;
  };
  for (const std::int64_t us : taken_us_) offer(us);
  for (const HeldSound& sound : sounds_) {
    if (!sound.stray) offer(time_us(sound));
  }
  return best_us;
}

Group JoinWindow::take_picture() {
  Group group;
  group.picture = std::move(pictures_.front());
  pictures_.pop_front();
  group.time_us = time_us(*group.picture);
  last_picture_us_ = group.time_us;
  group.nearest_us = nearest_us(group.time_us);
  group.joined = group.nearest_us && std::abs(*group.nearest_us - group.time_us) <= window_us_;
  take_sound(group, std::max(group.time_us, group.joined ? *group.nearest_us : group.time_us) + 1);
  return group;
}

Group JoinWindow::take_chunk(std::int64_t end_us) {
  Group group;
  group.time_us = sounds_.front().place_us;
  take_sound(group, end_us);
  return group;
}

// Moves all sound placed before `until_us` into the group, and marks the place.
void JoinWindow::take_sound(Group& group, std::int64_t until_us) {
  while (!sounds_.empty() && sounds_.front().place_us < until_us) {
    if (!sounds_.front().stray) taken_us_.push_back(time_us(sounds_.front()));
    if (taken_us_.size() > kTakenStampsMax) taken_us_.pop_front();
    group.sound.push_back(std::move(sounds_.front()));
    sounds_.pop_front();
  }
  cut_us_ = std::max(cut_us_.value_or(until_us), until_us);
}

}  // namespace saccade::align
