#include "transport/serve/event_ring.h"

#include <algorithm>
#include <utility>

#include "transport/json_text.h"

namespace saccade::transport {
namespace {

constexpr std::size_t kPullBytesMax = 64 << 10;

std::string sse_text(std::uint64_t seq, const std::string& json) {
  return "id: " + std::to_string(seq) + "\ndata: " + json + "\n\n";
}

struct Missed {
  std::uint64_t last = 0, count = 0;
};

std::string missed_json(const std::string& stream, const EventRing::Words& words, Missed missed) {
  JsonObject json;
  json.count("v", 1);
  json.text("kind", "drop");
  json.text("stream", stream);
  json.count(words.number, missed.last);
  json.flag("final", true);
  json.text("reason", "late");
  json.text("text", words.missed);
  json.count("count", missed.count);
  return json.str();
}

}  // namespace

class EventRing::Reader final : public ByteSource {
 public:
  Reader(std::shared_ptr<EventRing> ring, std::uint64_t after, bool follow)
      : ring_(std::move(ring)), cursor_{.after = after}, follow_(follow) {}
  Pulled pull() override { return ring_->pull(cursor_, follow_); }

 private:
  const std::shared_ptr<EventRing> ring_;
  Cursor cursor_;
  const bool follow_;
};

void EventRing::append(std::uint64_t seq, const std::string& json) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    entries_.push_back({seq, json});
    bytes_ += json.size();
    newest_ = seq;
    while (entries_.size() > kRingEventsMax || (bytes_ > kRingBytesMax && entries_.size() > 1)) {
      bytes_ -= entries_.front().json.size();
      entries_.pop_front();
    }
  }
  nudge();
}

void EventRing::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  nudge();
}

void EventRing::nudge() {
  for (const ExchangePtr& exchange : awake()) exchange->wake();
}

std::uint64_t EventRing::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

std::shared_ptr<ByteSource> EventRing::read_after(std::uint64_t seq, bool follow) {
  return std::make_shared<Reader>(shared_from_this(), seq, follow);
}

void EventRing::wake_on_news(const ExchangePtr& exchange) {
  const std::lock_guard lock(mutex_);
  readers_.push_back(exchange);
}

std::size_t EventRing::readers() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(readers_.begin(), readers_.end(), [](const auto& weak) {
        const auto exchange = weak.lock();
        return exchange && !exchange->gone();
      }));
}

std::vector<ExchangePtr> EventRing::awake() {
  std::vector<ExchangePtr> out;
  const std::lock_guard lock(mutex_);
  std::erase_if(readers_, [&](const auto& weak) {
    ExchangePtr exchange = weak.lock();
    if (!exchange || exchange->gone()) return true;
    out.push_back(std::move(exchange));
    return false;
  });
  return out;
}

// A reader that has got nothing yet lost what is missing before it came, and all that is still here
// is replayed. Later on a reader that fell behind is taken to the newest.
std::optional<EventRing::Entry> EventRing::next_locked(Cursor& cursor) const {
  auto next = std::upper_bound(entries_.begin(), entries_.end(), cursor.after,
                               [](std::uint64_t seq, const Entry& e) { return seq < e.seq; });
  if (next == entries_.end()) return std::nullopt;
  if (cursor.after != 0 && next->seq > cursor.after + 1) {
    if (!cursor.fresh) next = entries_.end() - 1;
    const std::uint64_t last = next->seq - 1, count = last - cursor.after;
    cursor.after = last;
    return Entry{last, missed_json(stream_, words_, {last, count})};
  }
  cursor.fresh = false;
  cursor.after = next->seq;
  return *next;
}

std::optional<std::string> EventRing::next(Cursor& cursor) const {
  const std::lock_guard lock(mutex_);
  auto entry = next_locked(cursor);
  if (!entry) {
    cursor.fresh = false;
    return std::nullopt;
  }
  return std::move(entry->json);
}

bool EventRing::at_end(const Cursor& cursor) const {
  const std::lock_guard lock(mutex_);
  return closed_ && cursor.after >= newest_;
}

ByteSource::Pulled EventRing::pull(Cursor& cursor, bool follow) {
  ByteSource::Pulled out;
  const std::lock_guard lock(mutex_);
  while (out.bytes.size() < kPullBytesMax) {
    const auto entry = next_locked(cursor);
    if (!entry) {
      out.end = closed_ || !follow;
      break;
    }
    out.bytes += sse_text(entry->seq, entry->json);
  }
  cursor.fresh = false;
  return out;
}

}  // namespace saccade::transport
