#pragma once
// The newest events of one stream, ready to be sent, for any number of readers. A reader says where
// it was (Last-Event-ID) and gets everything since; one that was away too long, or takes too
// slowly, first gets a `drop` event that says how many it missed. Threads: any. Limits:
// kRingEventsMax events and kRingBytesMax bytes; the oldest go.
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transport/http_message.h"

namespace saccade::transport {

inline constexpr std::size_t kRingEventsMax = 1024;
inline constexpr std::size_t kRingBytesMax = 4 << 20;

class EventRing : public std::enable_shared_from_this<EventRing> {
 public:
  explicit EventRing(std::string stream) : stream_(std::move(stream)) {}

  // `seq` rises. Wakes the readers.
  void append(std::uint64_t seq, const std::string& json);
  // Nothing follows; readers end when they have everything.
  void close();
  std::uint64_t newest() const;

  // Server-sent events after `seq`; 0 = everything still here. `follow` false ends with the newest.
  std::shared_ptr<ByteSource> read_after(std::uint64_t seq, bool follow);
  // Rings this exchange at every event, for as long as it lives.
  void wake_on_news(const ExchangePtr& exchange);
  std::size_t readers() const;

 private:
  class Reader;
  struct Entry {
    std::uint64_t seq = 0;
    std::string text;
  };
  ByteSource::Pulled pull(std::uint64_t& after, bool& fresh, bool follow);
  std::vector<ExchangePtr> awake();

  const std::string stream_;
  mutable std::mutex mutex_;  // guards everything below
  std::deque<Entry> entries_;
  std::size_t bytes_ = 0;
  std::uint64_t newest_ = 0;
  bool closed_ = false;
  std::vector<std::weak_ptr<Exchange>> readers_;
};

}  // namespace saccade::transport
