#pragma once
// Server-sent events of one answer: written by the thread that answers, pulled by the connection.
// Threads: one writer, one reader. Limit: kFeedBytesMax not yet taken; beyond it the reader is too
// slow and write() says so.
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "transport/http_message.h"

namespace saccade::transport {

inline constexpr std::size_t kFeedBytesMax = 128 << 10;
inline constexpr std::string_view kSsePing = ": ping\n\n";

// The headers of an SSE reply: not cached, not held back by a proxy.
inline HttpReply sse_head() {
  return {.status = 200,
          .content_type = "text/event-stream; charset=utf-8",
          .body = {},
          .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}};
}

class TextFeed final : public ByteSource {
 public:
  // One event; `data` is on one line. False when there is no room.
  bool write(std::string_view data) {
    const std::lock_guard lock(mutex_);
    if (bytes_.size() + data.size() > kFeedBytesMax) return false;
    bytes_.append("data: ").append(data).append("\n\n");
    return true;
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  Pulled pull() override {
    const std::lock_guard lock(mutex_);
    return {.bytes = std::exchange(bytes_, {}), .end = ended_};
  }

 private:
  std::mutex mutex_;  // guards both
  std::string bytes_;
  bool ended_ = false;
};

}  // namespace saccade::transport
