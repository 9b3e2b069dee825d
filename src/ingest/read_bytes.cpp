#include "ingest/read_bytes.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/mem.h>
}

namespace saccade::ingest {
namespace {

constexpr int kBufferBytes = 64 * 1024;
constexpr int kPollMs = 100;  // how late an interrupt may be noticed on a silent pipe

}  // namespace

ReadBytes::ReadBytes(int fd, const std::atomic<bool>& interrupted)
    : fd_(fd), interrupted_(interrupted) {
  struct stat facts = {};
  const bool regular = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
  if (regular) size_ = facts.st_size;
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) return;
  context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, &on_read, nullptr,
                                regular ? &on_seek : nullptr);
  if (context_ == nullptr) av_free(buffer);
}

ReadBytes::~ReadBytes() {
  if (context_ == nullptr) return;
  av_freep(&context_->buffer);  // FFmpeg may have replaced it
  avio_context_free(&context_);
}

int ReadBytes::on_read(void* self, std::uint8_t* to, int bytes) {
  auto& me = *static_cast<ReadBytes*>(self);
  for (;;) {
    if (me.interrupted_) return AVERROR_EXIT;
    ssize_t got = 0;
    if (me.size_ >= 0) {
      got = pread(me.fd_, to, static_cast<std::size_t>(bytes), me.position_);
    } else {
      pollfd waiting{me.fd_, POLLIN, 0};
      const int ready = poll(&waiting, 1, kPollMs);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      got = read(me.fd_, to, static_cast<std::size_t>(bytes));
    }
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return AVERROR(errno);
    if (got == 0) return AVERROR_EOF;
    me.position_ += got;
    return static_cast<int>(got);
  }
}

std::int64_t ReadBytes::on_seek(void* self, std::int64_t offset, int whence) {
  auto& me = *static_cast<ReadBytes*>(self);
  if ((whence & AVSEEK_SIZE) != 0) return me.size_;
  std::int64_t from = 0;
  switch (whence & ~AVSEEK_FORCE) {
    case SEEK_SET:
      break;
    case SEEK_CUR:
      from = me.position_;
      break;
    case SEEK_END:
      from = me.size_;
      break;
    default:
      return AVERROR(EINVAL);
  }
  std::int64_t to = 0;
  if (__builtin_add_overflow(from, offset, &to) || to < 0) return AVERROR(EINVAL);
  me.position_ = to;
  return to;
}

core::Result<std::vector<std::uint8_t>> read_all(AVIOContext& from, std::size_t bytes_max) {
  std::vector<std::uint8_t> all;
  std::vector<std::uint8_t> piece(kBufferBytes);
  for (;;) {
    const int got = avio_read_partial(&from, piece.data(), kBufferBytes);
    if (got == AVERROR_EOF || got == 0) return all;
    if (got < 0) return core::error(core::ErrorCode::kSourceUnreachable, "broke off");
    if (all.size() + static_cast<std::size_t>(got) > bytes_max) {
      return core::error(core::ErrorCode::kExhausted,
                         "is larger than " + std::to_string(bytes_max) + " bytes");
    }
    all.insert(all.end(), piece.begin(), piece.begin() + got);
  }
}

}  // namespace saccade::ingest
