#include "ingest/feed_push.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <utility>

#include "core/limits.h"
#include "ingest/worker_protocol.h"

namespace saccade::ingest {
namespace {

// Empty when descriptors or memory are short.
Fd file_of(const std::string& bytes) {
  Fd file(memfd_create("saccade-pushed", MFD_CLOEXEC));
  std::size_t done = 0;
  while (file && done < bytes.size()) {
    const ssize_t wrote = write(file.get(), bytes.data() + done, bytes.size() - done);
    if (wrote <= 0) return Fd();
    done += static_cast<std::size_t>(wrote);
  }
  return file;
}

bool hand_over(int pair, const PushPacket& packet) {
  const Fd file = file_of(packet.bytes);
  if (!file) return false;
  wire::Pushed message;
  message.kind = static_cast<std::uint32_t>(packet.kind);
  message.width = packet.width;
  message.height = packet.height;
  message.stride = packet.stride;
  message.rate = packet.rate;
  message.capture_us = packet.capture_us;
  message.bytes = packet.bytes.size();
  return send_packet(pair, bytes_of(message), Waiting::kDontBlock, file.get());
}

}  // namespace

Fd PushFeed::connect() {
  disconnect();
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
  pair_ = Fd(ends[0]);
  return Fd(ends[1]);
}

bool PushFeed::disconnect() {
  pair_ = Fd();
  const auto receipt = claim();
  work_.reset();
  if (receipt) receipt->settle(PushEnd::kCorrupt);
  return receipt != nullptr;
}

void PushFeed::pump(core::SteadyTime now) {
  if (!pair_ || work_) return;
  if (!next_) next_ = port_->take();
  if (!next_) {
    if (port_->finished()) pair_ = Fd();
    return;
  }
  // When it fails memory is short, or the worker is gone, which its own socket will tell.
  if (!hand_over(pair_.get(), next_->packet)) return;
  work_.emplace(Work{std::move(next_->receipt), now});
  next_.reset();
}

bool PushFeed::hangs(core::SteadyTime now) const {
  return work_ && core::us_between(work_->since, now) > core::limits::kPushDecodeUsMax;
}

std::shared_ptr<PushReceipt> PushFeed::claim() {
  return work_ ? std::exchange(work_->receipt, nullptr) : nullptr;
}

void PushFeed::taken() {
  if (const auto receipt = claim()) receipt->settle(PushEnd::kCorrupt);
  work_.reset();
}

}  // namespace saccade::ingest
