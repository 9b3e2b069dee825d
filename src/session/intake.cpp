#include "session/intake.h"

#include <utility>

namespace saccade::session {

core::Result<std::unique_ptr<Intake>> Intake::open(Options options, const core::Clock& clock,
                                                   core::Rng rng) {
  auto intake = std::make_unique<Intake>();
  if (options.audio_source) {
    options.source.want_audio = false;
    options.audio_source->want_video = false;
    core::Rng second_rng(rng.next());
    auto second = ingest::Source::open(std::move(*options.audio_source), clock, second_rng);
    if (!second) return std::move(second).error();
    intake->second_ = Feed();
    intake->second_->source = std::move(second).value();
  }
  auto first = ingest::Source::open(std::move(options.source), clock, rng);
  if (!first) return std::move(first).error();
  intake->first_.source = std::move(first).value();
  return intake;
}

Intake::Feed& Intake::feed_to_read() {
  if (!second_ || second_->ended) return first_;
  if (first_.ended) return *second_;
  if (first_.source->live() || second_->source->live()) {
    second_turn_ = !second_turn_;
    return second_turn_ ? *second_ : first_;
  }
  return second_->last < first_.last ? *second_ : first_;
}

core::Result<ingest::SourceItem> Intake::deliver(Feed& feed, ingest::SourceItem item) {
  const bool second = &feed != &first_;
  if (const auto* frame = std::get_if<ingest::Frame>(&item)) feed.last = frame->time;
  if (auto* state = std::get_if<ingest::StateChange>(&item); state && second) {
    state->reason = "audio: " + state->reason;
  }
  if (std::holds_alternative<ingest::EndOfSource>(item)) {
    feed.ended = true;
    if (!first_.ended || (second_ && !second_->ended)) {
      return core::error(core::ErrorCode::kTimeout, "one of two sources has ended");
    }
    told_end_ = true;
  }
  return item;
}

core::Result<ingest::SourceItem> Intake::next(std::chrono::milliseconds wait) {
  if (told_end_) return core::error(core::ErrorCode::kClosed, "the source has ended");
  Feed& feed = feed_to_read();
  const bool shared = second_ && !second_->ended && !first_.ended;
  constexpr std::chrono::milliseconds kTurn{10};
  auto item = feed.source->next(shared && wait > kTurn && live() ? kTurn : wait);
  if (item) return deliver(feed, std::move(item).value());
  const core::Error& error = item.error();
  if (error.code != core::ErrorCode::kTimeout && &feed != &first_) {
    feed.ended = true;
    return ingest::SourceItem(
        ingest::StateChange{ingest::SourceState::kFailed, "audio: " + error.message});
  }
  return error;
}

void Intake::close() {
  first_.source->close();
  if (second_) second_->source->close();
}

}  // namespace saccade::session
