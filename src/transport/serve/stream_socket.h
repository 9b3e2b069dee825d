#pragma once
// One WebSocket of a live stream: its events out, and, when the stream is pushed, pictures and
// sound in, credit and outcomes out. docs/serve.md describes the messages for users.
// Limits: kSocketFaultsMax messages that are wrong, then closed with 1008; kControlBytesMax of a
// text message. What is not yet sent waits in the rings of the stream, which are bounded.
// Threads: the I/O thread.
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "core/limits.h"
#include "session/session.h"
#include "transport/http_message.h"
#include "transport/serve/event_ring.h"

namespace saccade::transport {

inline constexpr int kSocketFaultsMax = 16;
inline constexpr std::size_t kControlBytesMax = 4096;
inline constexpr std::size_t kSocketsMax = 64;           // of the server; then 429
inline constexpr std::size_t kSocketsPerStreamMax = 16;  // the same
// Sound is granted in pieces of at least this, so that not every block costs a message.
inline constexpr std::int64_t kSoundGrantUsMin = 500'000;
static_assert(core::limits::kPushSoundUsMax - kSoundGrantUsMin >= core::limits::kPushPieceUsMax,
              "a client that waits for credit must be able to send its next piece");

// Why a socket was closed, beside the codes of the protocol.
inline constexpr int kCloseNormal = 1000, kCloseGoingAway = 1001, kClosePolicy = 1008;
inline constexpr int kCloseReplaced = 4000, kCloseSoundLimit = 4001;

class StreamSocket final : public SocketSession {
 public:
  // Counts sockets for as long as it lives.
  class Hold {
   public:
    explicit Hold(std::shared_ptr<std::atomic<std::size_t>> count) : count_(std::move(count)) {
      ++*count_;
    }
    ~Hold() { --*count_; }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    const std::shared_ptr<std::atomic<std::size_t>> count_;
  };
  struct Options {
    std::string stream;  // its id
    std::shared_ptr<EventRing> events;
    std::shared_ptr<EventRing> outcomes;     // null: this socket only listens
    std::shared_ptr<ingest::PushPort> port;  // null: the same, or nothing can be sent any more
    EventRing::Cursor after_event, after_outcome;
    std::shared_ptr<const Hold> of_server, of_stream;
  };
  // `draining` must outlive it.
  StreamSocket(Options options, const std::atomic<bool>& draining);
  ~StreamSocket() override { closed(); }

  Pulled pull() override;
  void take(std::string message, bool binary) override;
  void closed() override;

 private:
  void take_packet(const std::string& message);
  void take_control(const std::string& message);
  void refuse(const core::Error& error, std::uint64_t frame);
  void end_with(int code, std::string reason);
  std::string grant();

  const Options options_;
  const std::atomic<bool>& draining_;
  std::uint64_t sender_ = 0;       // of the port; 0 = only listens
  ingest::PushPort::Totals told_;  // of what was granted
  bool granted_once_ = false;
  EventRing::Cursor event_, outcome_;
  std::deque<std::string> notes_;  // errors to tell: at most kSocketFaultsMax + 1
  int faults_ = 0;
  int close_ = 0;
  std::string close_reason_;
};

}  // namespace saccade::transport
