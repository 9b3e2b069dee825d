#include "ingest/pass_packet.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace saccade::ingest {

bool send_packet(int socket, std::span<const std::byte> packet, Waiting waiting, int pass_fd) {
  iovec bytes{const_cast<std::byte*>(packet.data()), packet.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (pass_fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &pass_fd, sizeof(int));
  }
  const int flags = MSG_NOSIGNAL | (waiting == Waiting::kDontBlock ? MSG_DONTWAIT : 0);
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, flags);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(packet.size());
}

Received receive_packet(int socket, std::span<std::byte> buffer, Waiting waiting,
                        Descriptors descriptors) {
  iovec bytes{buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (descriptors == Descriptors::kTake) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
  }
  const int flags = MSG_CMSG_CLOEXEC | (waiting == Waiting::kDontBlock ? MSG_DONTWAIT : 0);
  ssize_t got = 0;
  // A peer that went with packets of ours unread leaves ECONNRESET behind, which the kernel tells
  // once and before the packets it sent: those still count.
  bool reset = false;
  do {
    got = recvmsg(socket, &message, flags);
  } while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(reset, true))));
  Received received;
  if (got < 0) {
    received.would_block = errno == EAGAIN || errno == EWOULDBLOCK;
    return received;
  }
  const cmsghdr* header = message.msg_control != nullptr ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(int));
    received.fd = Fd(fd);
  }
  if ((message.msg_flags & MSG_TRUNC) == 0) received.bytes = static_cast<std::size_t>(got);
  return received;
}

}  // namespace saccade::ingest
