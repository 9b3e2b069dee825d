#pragma once
// Picture memory shared with the decode worker, parent side. The parent makes each region (a memfd
// whose size is sealed, so that it can never shrink under a reader), maps it read-only and passes
// the descriptor; a picture taken from it holds its slot until the last core::Pixels goes, then the
// worker may fill it again.
// Limits: kFrameSlots slots (kFrameSlotsLarge above 4 megapixels) of one region; kRegionsAliveMax
// regions with pictures still out.
// Threads: one thread grants and takes. Pixels may be dropped by any thread, also after the lender,
// the source and the worker have gone.
// Trust: the worker can write to a slot at any time, so pixels of a worker that was taken over may
// change while they are read. Sizes and addresses never depend on it.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "core/pixels.h"
#include "core/result.h"
#include "ingest/pass_packet.h"
#include "ingest/worker_protocol.h"

namespace saccade::ingest {

// The parent's end of the control socket. Any thread may send; sending never waits. After close()
// what is sent is lost, which is right: nobody is there to read it.
class ControlEnd {
 public:
  explicit ControlEnd(Fd socket) : socket_(std::move(socket)) {}
  bool send(std::span<const std::byte> packet, int pass_fd = -1);
  void close();
  // For the one thread that receives and closes.
  int fd() const { return socket_.get(); }

 private:
  std::mutex mutex_;  // guards closing against sending
  Fd socket_;
};

class SlotLender {
 public:
  static constexpr int kRegionsAliveMax = 8;

  explicit SlotLender(std::shared_ptr<ControlEnd> control) : control_(std::move(control)) {}

  // Makes a region for pictures of this (checked) size and tells the worker. Errors: kExhausted.
  core::Status grant(int width, int height);
  // The pixels of a picture that the worker says it has filled. Nothing when it lies: no such
  // region or slot, a picture larger than the slot, a slot that is still out.
  std::optional<core::Pixels> take(const PictureSent& picture);
  // Every slot of the newest region is out: the worker waits for the reader of the pictures.
  bool all_out() const;

 private:
  class Region;
  std::shared_ptr<ControlEnd> control_;
  // The newest region and the one before it, which may still have pictures under way.
  std::array<std::shared_ptr<Region>, 2> regions_;
  std::uint32_t next_region_ = 0;
  std::shared_ptr<std::atomic<int>> alive_ = std::make_shared<std::atomic<int>>(0);
};

// Slots for pictures of this size.
std::uint32_t slots_for(int width, int height);

}  // namespace saccade::ingest
