#pragma once
// Packets and descriptors over a SOCK_SEQPACKET pair. No call here raises SIGPIPE.
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace saccade::ingest {

// Owns a descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

enum class Waiting { kBlock, kDontBlock };

// One packet, with the descriptor `pass_fd` when it is >= 0. False when the other end is gone, or
// when the pair is full and `waiting` is kDontBlock.
bool send_packet(int socket, std::span<const std::byte> packet, Waiting waiting, int pass_fd = -1);

struct Received {
  std::size_t bytes = 0;  // 0 = the other end is gone
  bool would_block = false;
  Fd fd;  // only when asked for
};
enum class Descriptors { kTake, kRefuse };
// One packet into `buffer`; a longer packet counts as gone. kRefuse: descriptors that came along
// are closed by the kernel. When one may come, only one is taken.
Received receive_packet(int socket, std::span<std::byte> buffer, Waiting waiting,
                        Descriptors descriptors);

}  // namespace saccade::ingest
