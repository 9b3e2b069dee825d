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

std::string missed_text(const std::string& stream, std::uint64_t last, std::uint64_t count) {
  JsonObject json;
  json.count("v", 1);
  json.text("kind", "drop");
  json.text("stream", stream);
  json.count("seq", last);
  json.flag("final", true);
  json.text("reason", "late");
  json.text("text", "events this reader did not get");
  json.count("count", count);
  return sse_text(last, json.str());
}

}  // namespace

class EventRing::Reader final : public ByteSource {
 public:
  Reader(std::shared_ptr<EventRing> ring, std::uint64_t after, bool follow)
      : ring_(std::move(ring)), after_(after), follow_(follow) {}
  Pulled pull() override { return ring_->pull(after_, fresh_, follow_); }

 private:
  const std::shared_ptr<EventRing> ring_;
  std::uint64_t after_;
  bool fresh_ = true;
  const bool follow_;
};

void EventRing::append(std::uint64_t seq, const std::string& json) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    entries_.push_back({seq, sse_text(seq, json)});
    bytes_ += entries_.back().text.size();
    newest_ = seq;
    while (entries_.size() > kRingEventsMax || (bytes_ > kRingBytesMax && entries_.size() > 1)) {
      bytes_ -= entries_.front().text.size();
      entries_.pop_front();
    }
  }
  for (const ExchangePtr& exchange : awake()) exchange->wake();
}

void EventRing::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
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

// `fresh`: this reader has got nothing yet, so what is missing was lost before it came, and all
// that is still here is replayed. Later on a reader that fell behind is taken to the newest.
ByteSource::Pulled EventRing::pull(std::uint64_t& after, bool& fresh, bool follow) {
  ByteSource::Pulled out;
  const std::lock_guard lock(mutex_);
  auto next = std::upper_bound(entries_.begin(), entries_.end(), after,
                               [](std::uint64_t seq, const Entry& e) { return seq < e.seq; });
  const bool gap = next != entries_.end() && after != 0 && next->seq > after + 1;
  if (gap) {
    if (!fresh) next = entries_.end() - 1;
    const std::uint64_t last = next->seq - 1;
    out.bytes = missed_text(stream_, last, last - after);
  }
  for (; next != entries_.end() && out.bytes.size() < kPullBytesMax; ++next) {
    out.bytes += next->text;
    after = next->seq;
  }
  fresh = false;
  out.end = next == entries_.end() && (closed_ || !follow);
  return out;
}

}  // namespace saccade::transport
