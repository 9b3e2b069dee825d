// Voice chunks drive the segmenter; the segmenter drives the speech model. A partial pass hears
// only the last seconds of a long segment, the final pass all of it once.
#include "perceive/hear/hear.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "core/limits.h"

namespace saccade::perceive {
namespace {

using core::ErrorCode;
using core::MediaDuration;
using core::MediaTime;

constexpr std::int64_t kChunk = static_cast<std::int64_t>(kVoiceChunkSamples);
constexpr std::int64_t kRate = core::limits::kAudioRate;
constexpr std::int64_t kStepUsMax = 100'000;        // more is a gap or a jump, less is jitter
constexpr std::int64_t kWindowSamples = 6 * kRate;  // a partial pass's window before narrowing
constexpr std::size_t kSlackSamples = kRate / 2;    // old sound is dropped in pieces of this size

static_assert(SegmentOptions{}.length_max * kChunk <=
              core::limits::kSpeechWindowSecondsMax * kRate);

bool ends_sentence(const std::string& word) {
  return !word.empty() && std::string_view(".?!;:,").find(word.back()) != std::string_view::npos;
}

}  // namespace

Listener::Listener(engine::SpeechModel& speech, VoiceDetector& voice, ListenerOptions options)
    : speech_(speech), voice_(voice), options_(options), segmenter_(options.segments) {
  voice_.reset();
}

core::Result<std::vector<Utterance>> Listener::push(const ingest::Frame& sound,
                                                    const core::Knobs& knobs) {
  if (sound.sound() == nullptr || sound.time.is_special())
    return core::error(ErrorCode::kUsage, "the listener was given a frame without sound or time");
  std::vector<Utterance> out;
  if (!continues(sound)) {
    auto ended = flush();
    if (!ended) return ended;
    out = std::move(ended).value();
  }
  append(sound);
  const std::size_t before = out.size();
  core::Status status = listen(out);
  if (status.ok() && out.size() == before) status = try_partial(knobs, out);
  if (!status.ok()) return give_up(status.error(), std::move(out));
  drop_old_sound();
  return owed_and(std::move(out));
}

core::Result<std::vector<Utterance>> Listener::flush() {
  std::vector<Utterance> out;
  core::Status status;
  if (const auto span = segmenter_.finish()) status = finish_segment(*span, out);
  if (!status.ok()) return give_up(status.error(), std::move(out));
  restart();
  return owed_and(std::move(out));
}

// Ends the open segment without its words: a partial of it must not stand for ever.
core::Error Listener::give_up(core::Error error, std::vector<Utterance> finished) {
  owed_ = owed_and(std::move(finished));
  if (auto withdrawn = utterance({}, true)) {
    owed_.push_back(std::move(*withdrawn));
    ++next_id_;
  }
  restart();
  return error;
}

std::vector<Utterance> Listener::owed_and(std::vector<Utterance> out) {
  auto owed = std::exchange(owed_, {});
  owed.insert(owed.end(), std::make_move_iterator(out.begin()), std::make_move_iterator(out.end()));
  return owed;
}

bool Listener::continues(const ingest::Frame& frame) const {
  if (!expected_.is_set()) return true;
  const auto step = frame.time.since(expected_);
  return step && std::abs(step->us()) <= kStepUsMax;
}

void Listener::append(const ingest::Frame& frame) {
  const auto& samples = frame.sound()->samples;
  const std::int64_t begin = sound_begin_ + static_cast<std::int64_t>(sound_.size());
  blocks_.push_back({begin, frame.time});
  sound_.reserve(sound_.size() + samples.size());
  // One bad sample must not poison the detector's memory.
  for (const float s : samples) sound_.push_back(std::isfinite(s) ? s : 0.0F);
  const auto count = static_cast<std::int64_t>(samples.size());
  expected_ = frame.time + MediaDuration::from_us(count * 1'000'000 / kRate);
}

// Takes every whole chunk through the detector and the segmenter.
core::Status Listener::listen(std::vector<Utterance>& out) {
  const std::int64_t end = sound_begin_ + static_cast<std::int64_t>(sound_.size());
  while (end - chunk_begin_ >= kChunk) {
    const float* chunk = sound_.data() + (chunk_begin_ - sound_begin_);
    const auto probability = voice_.probability(std::span(chunk, kVoiceChunkSamples));
    if (!probability) return probability.error();
    chunk_begin_ += kChunk;
    const bool was_open = segmenter_.open_since().has_value();
    const double committed =
        agreement_.committed().empty() ? 0 : agreement_.committed().back().end * kRate;
    const auto span = segmenter_.push(*probability, static_cast<std::int64_t>(committed) / kChunk);
    if (span)
      if (core::Status status = finish_segment(*span, out); !status.ok()) return status;
    if (const auto open = segmenter_.open_since(); open && !was_open) begin_segment(*open * kChunk);
  }
  return {};
}

core::Status Listener::finish_segment(SpeechSpan span, std::vector<Utterance>& out) {
  auto heard = hear(span.begin * kChunk, span.end * kChunk, {});
  if (!heard) return heard.error();
  const Words words = agreement_.finish(*heard);
  if (auto final = utterance(words, true)) {
    spoken_until_ = final->words.empty() ? spoken_until_ : final->end;
    out.push_back(std::move(*final));
    ++next_id_;
  }
  begin_segment(span.end * kChunk);
  return {};
}

core::Status Listener::try_partial(const core::Knobs& knobs, std::vector<Utterance>& out) {
  const std::int64_t interval = knobs.partial_interval.us() * kRate / 1'000'000;
  if (!options_.partials || interval <= 0 || !segmenter_.open_since()) return {};
  if (chunk_begin_ - passed_until_ < interval) return {};
  if (segmenter_.voiced_until() * kChunk <= passed_until_) return {};  // nothing new was said
  auto heard = hear(window_begin_, chunk_begin_, context_);
  if (!heard) return heard.error();
  passed_until_ = chunk_begin_;
  agreement_.add(*heard);
  Words words = agreement_.committed();
  words.insert(words.end(), agreement_.tentative().begin(), agreement_.tentative().end());
  narrow_window();
  auto partial = utterance(words, false);
  if (!partial || partial->words.empty()) return {};
  if (partial->text() == shown_.text()) return {};
  shown_ = *partial;
  out.push_back(std::move(*partial));
  return {};
}

// Moves the window of a long segment forward over committed words, to a clause's end if there is
// one, so that a partial pass costs the same however long somebody speaks.
void Listener::narrow_window() {
  const Words& committed = agreement_.committed();
  if (chunk_begin_ - window_begin_ < kWindowSamples || committed.size() < 2) return;
  const auto inside = [&](const engine::HeardWord& word) {
    return word.end * kRate > window_begin_;
  };
  auto last = std::find_if(committed.rbegin(), committed.rend(),
                           [](const auto& word) { return ends_sentence(word.text); });
  if (last == committed.rend() || !inside(*last)) last = committed.rbegin() + 1;
  if (!inside(*last)) return;
  window_begin_ = std::min(static_cast<std::int64_t>(last->end * kRate), chunk_begin_);
  context_.clear();
  for (auto word = committed.begin(); word != last.base(); ++word) context_ += word->text;
}

// Words of the sample axis' [begin, end), which lies in sound_; times on that axis.
core::Result<Listener::Words> Listener::hear(std::int64_t begin, std::int64_t end,
                                             const std::string& context) {
  const std::vector<float> clip(sound_.begin() + (begin - sound_begin_),
                                sound_.begin() + (end - sound_begin_));
  auto words = speech_.transcribe(clip, context);
  if (!words) return words;
  const double offset = static_cast<double>(begin) / kRate;
  for (engine::HeardWord& word : *words) {
    word.start += offset;
    word.end += offset;
  }
  return words;
}

// Nothing when there is nothing to say and nothing to take back.
std::optional<Utterance> Listener::utterance(const Words& words, bool final) {
  if (words.empty() && shown_.words.empty()) return std::nullopt;
  Utterance u{.id = next_id_, .words = {}, .start = {}, .end = {}, .final = final};
  MediaTime earliest = spoken_until_;
  for (const engine::HeardWord& word : words) {
    SpokenWord spoken{word.text, std::max(time_at(word.start), earliest), time_at(word.end),
                      word.probability};
    spoken.end = std::max(spoken.end, spoken.start);
    earliest = spoken.end;
    u.words.push_back(std::move(spoken));
  }
  if (u.words.empty()) {
    u.start = u.end = shown_.start;
  } else {
    u.start = u.words.front().start;
    u.end = u.words.back().end;
  }
  return u;
}

// By the block the sample came with, so that clock drift of the source cannot add up.
MediaTime Listener::time_at(double seconds) const {
  const auto sample = static_cast<std::int64_t>(std::llround(seconds * kRate));
  auto block = std::upper_bound(blocks_.begin(), blocks_.end(), sample,
                                [](std::int64_t s, const Block& b) { return s < b.sample; });
  if (block != blocks_.begin()) --block;
  return block->time + MediaDuration::from_us((sample - block->sample) * 1'000'000 / kRate);
}

void Listener::begin_segment(std::int64_t sample) {
  agreement_.clear();
  context_.clear();
  shown_ = {};
  window_begin_ = passed_until_ = sample;
}

void Listener::drop_old_sound() {
  const std::int64_t needed = std::min(segmenter_.needed_since() * kChunk, chunk_begin_);
  const std::int64_t old = needed - sound_begin_;
  if (old < static_cast<std::int64_t>(kSlackSamples)) return;
  sound_.erase(sound_.begin(), sound_.begin() + old);
  sound_begin_ = needed;
  while (blocks_.size() > 1 && blocks_[1].sample <= sound_begin_) blocks_.pop_front();
}

void Listener::restart() {
  segmenter_ = SpeechSegmenter(options_.segments);
  voice_.reset();
  sound_.clear();
  blocks_.clear();
  sound_begin_ = chunk_begin_ = 0;
  expected_ = MediaTime::unset();
  begin_segment(0);
}

}  // namespace saccade::perceive
