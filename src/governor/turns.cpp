#include "governor/turns.h"

#include <algorithm>

namespace saccade::governor {

bool Turns::join(StreamId stream, double weight) {
  if (streams_.size() >= kStreamsMax) return false;
  return streams_.try_emplace(stream, Stream{std::max(weight, 1e-3), now_, false}).second;
}

void Turns::leave(StreamId stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  waiting_ -= found->second.waits ? 1 : 0;
  streams_.erase(found);
}

void Turns::want(StreamId stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.waits) return;
  found->second.waits = true;
  found->second.used = std::max(found->second.used, now_);
  ++waiting_;
}

std::optional<StreamId> Turns::grant() {
  if (running_ >= width_ || waiting_ == 0) return std::nullopt;
  auto chosen = streams_.end();
  for (auto it = streams_.begin(); it != streams_.end(); ++it) {
    if (!it->second.waits) continue;
    if (chosen == streams_.end() || it->second.used < chosen->second.used) chosen = it;
  }
  chosen->second.waits = false;
  now_ = std::max(now_, chosen->second.used);
  --waiting_;
  ++running_;
  return chosen->first;
}

void Turns::done(StreamId stream, double ms) {
  running_ = std::max(running_ - 1, 0);
  const auto found = streams_.find(stream);
  if (found != streams_.end()) found->second.used += std::max(ms, 0.0) / found->second.weight;
}

}  // namespace saccade::governor
