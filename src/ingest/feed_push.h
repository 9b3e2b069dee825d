#pragma once
// Hands what a client pushed to one decode worker after the other: a packet at a time, so that
// nothing runs ahead of the worker and the newest picture still wins. The bytes travel as a file in
// memory, so handing over never waits.
// Threads: the one that works on the source.
#include <memory>
#include <optional>

#include "core/clock.h"
#include "ingest/from_push.h"
#include "ingest/pass_packet.h"

namespace saccade::ingest {

class PushFeed {
 public:
  explicit PushFeed(std::shared_ptr<PushPort> port) : port_(std::move(port)) {}
  ~PushFeed() { disconnect(); }
  PushFeed(const PushFeed&) = delete;
  PushFeed& operator=(const PushFeed&) = delete;

  // A new worker begins: its end of a new pair. Empty when no descriptor is left.
  Fd connect();
  // The worker is gone; the picture it had is corrupt. True when it had one.
  bool disconnect();
  // Hands the next packet over when the worker has none; once the client has finished and all was
  // handed over, closes the pair.
  void pump(core::SteadyTime now);

  PushPort& port() { return *port_; }
  bool working() const { return work_.has_value(); }
  // The worker has had its packet for too long.
  bool hangs(core::SteadyTime now) const;
  // The receipt of the picture the worker has, once; null when it has none.
  std::shared_ptr<PushReceipt> claim();
  // The worker says it is done.
  void taken();

 private:
  struct Work {
    std::shared_ptr<PushReceipt> receipt;
    core::SteadyTime since;
  };

  const std::shared_ptr<PushPort> port_;
  Fd pair_;
  std::optional<PushPort::Taken> next_;  // taken from the port, not handed over yet
  std::optional<Work> work_;
};

}  // namespace saccade::ingest
