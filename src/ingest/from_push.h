#pragma once
// Where a client's pictures and sound enter a live source. One side offers packets as they come
// (transport), the other takes them when the decode worker is free (SourceProcess). Nothing is
// decoded here.
//
// Pictures: the newest waits, an older one that still waits is dropped (kBusy). A client may have
// kPushPicturesOpen of them under way; one more is refused (kCredit) and never accepted. Every
// accepted picture gets exactly one outcome, whatever becomes of it, at the latest in close().
// Sound: all of it waits, at most kPushSoundUsMax; more than that is an error of the client, since
// it was told how much it may send. Nothing of it is dropped.
// Credit: granted() only rises. Its pictures rise with each outcome, its sound with what was taken.
// Clients: one sends at a time, the newest. Without one for kPushGraceUs the port is abandoned.
// Threads: any thread may call anything. The listener is called under the port's lock, in the order
// of the outcomes: it must be quick and not call back.
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "ingest/ingest_types.h"

namespace saccade::ingest {

enum class PushKind : std::uint32_t { kEncoded = 1, kRgb24, kI420, kSound };

// One picture or piece of sound as a client sent it, already checked: sizes are in range and fit
// `bytes`.
struct PushPacket {
  PushKind kind = PushKind::kEncoded;
  std::uint64_t seq = 0;        // the client's own number, rising
  std::int64_t capture_us = 0;  // the client's own clock
  int width = 0, height = 0;    // raw pictures
  int stride = 0;               // raw pictures: bytes of a row; of the first plane for I420
  int rate = 0;                 // sound: samples of 16 bits, mono, per second
  std::string bytes = {};
  std::int64_t sound_us() const {
    return rate == 0 ? 0 : static_cast<std::int64_t>(bytes.size() / 2) * 1'000'000 / rate;
  }
};

enum class PushEnd {
  kSeen,     // it was looked at
  kBusy,     // a newer one took its place
  kRate,     // more than the stream's own rate, or no room for its pixels
  kLate,     // it came after a newer one, or the stream ended before it was looked at
  kCorrupt,  // it could not be decoded
  kCredit,   // it was sent without credit
};
// "seen", "busy", …
const char* name_of(PushEnd end);

struct PushOutcome {
  std::uint64_t seq = 0;  // of the packet
  PushEnd end = PushEnd::kSeen;
  core::MediaTime time;  // of a picture that was seen
};

class PushPort;

// Goes with a picture through all rooms. Whoever looks at the picture or drops it settles the
// receipt; only the first time counts. When the last one lets it go unsettled it was late.
class PushReceipt {
 public:
  PushReceipt(std::shared_ptr<PushPort> port, std::uint64_t seq)
      : port_(std::move(port)), seq_(seq) {}
  ~PushReceipt();
  PushReceipt(const PushReceipt&) = delete;
  PushReceipt& operator=(const PushReceipt&) = delete;
  void settle(PushEnd end, core::MediaTime time = core::MediaTime::unset());

 private:
  const std::shared_ptr<PushPort> port_;
  const std::uint64_t seq_;
};

class PushPort : public std::enable_shared_from_this<PushPort> {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_outcome(const PushOutcome& outcome) = 0;
    // More was granted, or another client sends now.
    virtual void on_change() = 0;
  };

  // `fps` pictures per second of the client's time go on, further ones are dropped (kRate); 0 =
  // every picture. `clock` must outlive the port.
  PushPort(double fps, std::shared_ptr<Listener> listener, const core::Clock& clock);

  // The client's side. A sender is one connection; 0 is none.
  std::uint64_t attach();
  void detach(std::uint64_t sender);
  bool sends(std::uint64_t sender) const;
  // Errors: kClosed (another client sends, or the stream has ended), kUsage (`seq` does not rise),
  // kExhausted (more sound than was granted). The packet is then not taken.
  core::Status offer(std::uint64_t sender, PushPacket packet);
  // The client has nothing more; what waits is still served.
  void finish();

  struct Totals {
    std::uint64_t pictures = 0;
    std::int64_t sound_us = 0;
  };
  Totals granted() const;   // since the stream began
  Totals accepted() const;  // the same
  std::uint64_t newest_seq() const;

  // The source's side. `wake` is called when there may be something to take.
  void wake_with(std::function<void()> wake);
  struct Taken {
    PushPacket packet;
    std::shared_ptr<PushReceipt> receipt;  // pictures only
  };
  std::optional<Taken> take();
  // What was dropped here since the last call.
  std::vector<Loss> take_losses();
  bool finished() const;   // and nothing waits
  bool abandoned() const;  // no client for kPushGraceUs
  // Nothing is taken or offered any more; what is open is late.
  void close();

 private:
  friend class PushReceipt;
  void settle(std::uint64_t seq, PushEnd end, core::MediaTime time);
  void settle_locked(std::uint64_t seq, PushEnd end, core::MediaTime time);
  core::Status offer_sound(PushPacket packet);
  void offer_picture(PushPacket packet);
  bool too_soon(std::int64_t capture_us);

  const std::int64_t step_us_;  // between two pictures; 0 = none is too soon
  const std::shared_ptr<Listener> listener_;
  const core::Clock& clock_;

  mutable std::mutex mutex_;  // guards everything below
  std::function<void()> wake_;
  std::uint64_t sender_ = 0, senders_ = 0;
  core::SteadyTime alone_since_;
  std::uint64_t newest_seq_ = 0;
  std::int64_t due_us_ = 0, last_us_ = 0;  // capture times: of the next picture, of the last one
  bool begun_ = false, finished_ = false, closed_ = false;
  std::optional<PushPacket> picture_;  // waits
  std::deque<PushPacket> sound_;       // waits
  std::set<std::uint64_t> open_;       // accepted pictures without an outcome
  Totals accepted_;
  std::uint64_t settled_ = 0;
  std::int64_t sound_taken_us_ = 0;
  std::uint64_t lost_busy_ = 0, lost_rate_ = 0;
};

}  // namespace saccade::ingest
