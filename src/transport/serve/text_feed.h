#pragma once
// Server-sent events of one answer: written by the thread that answers, pulled by the connection.
// Threads: one writer, one reader. Limit: kFeedBytesMax not yet taken; beyond it the reader is too
// slow and write() says so.
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "transport/answer_form.h"
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
  // One event; its data are on one line. False when there is no room.
  bool write(const SseEvent& event) {
    const std::lock_guard lock(mutex_);
    if (bytes_.size() + event.data.size() > kFeedBytesMax) return false;
    if (!event.name.empty()) bytes_.append("event: ").append(event.name).append("\n");
    bytes_.append("data: ").append(event.data).append("\n\n");
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
