#pragma once
// The newest events of one stream, ready to be sent, for any number of readers. A reader says where
// it was (Last-Event-ID) and gets everything since; one that was away too long, or takes too
// slowly, first gets a `drop` event that says how many it missed. Threads: any. Limits:
// kRingEventsMax events and kRingBytesMax bytes; the oldest go.
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transport/http_message.h"

namespace saccade::transport {

inline constexpr std::size_t kRingEventsMax = 1024;
inline constexpr std::size_t kRingBytesMax = 4 << 20;

class EventRing : public std::enable_shared_from_this<EventRing> {
 public:
  // What a reader is told about what it missed.
  struct Words {
    std::string number = "seq";  // key of an entry's number
    std::string missed = "events this reader did not get";
  };
  explicit EventRing(std::string stream) : EventRing(std::move(stream), Words()) {}
  EventRing(std::string stream, Words words)
      : stream_(std::move(stream)), words_(std::move(words)) {}

  // `seq` rises. Wakes the readers.
  void append(std::uint64_t seq, const std::string& json);
  // Nothing follows; readers end when they have everything.
  void close();
  std::uint64_t newest() const;

  // Where a reader is: after this number; 0 = before everything that is still here.
  struct Cursor {
    std::uint64_t after = 0;
    bool fresh = true;  // it has got nothing yet
  };
  // The next one as JSON, or nothing now.
  std::optional<std::string> next(Cursor& cursor) const;
  // Nothing will ever follow.
  bool at_end(const Cursor& cursor) const;
  // Server-sent events after `seq`; 0 = everything still here. `follow` false ends with the newest.
  std::shared_ptr<ByteSource> read_after(std::uint64_t seq, bool follow);
  // Rings this exchange at every event, for as long as it lives.
  void wake_on_news(const ExchangePtr& exchange);
  // Rings all of them: there is news beside the ring.
  void nudge();
  std::size_t readers() const;

 private:
  class Reader;
  struct Entry {
    std::uint64_t seq = 0;
    std::string json;
  };
  ByteSource::Pulled pull(Cursor& cursor, bool follow);
  std::optional<Entry> next_locked(Cursor& cursor) const;
  std::vector<ExchangePtr> awake();

  const std::string stream_;
  const Words words_;
  mutable std::mutex mutex_;  // guards everything below
  std::deque<Entry> entries_;
  std::size_t bytes_ = 0;
  std::uint64_t newest_ = 0;
  bool closed_ = false;
  std::vector<std::weak_ptr<Exchange>> readers_;
};

}  // namespace saccade::transport
