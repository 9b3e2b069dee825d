#pragma once
// Recorded bytes for FFmpeg through a borrowed descriptor: FFmpeg opens no file by itself. A
// regular file can be sought in, everything else is read once, in order.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/result.h"

struct AVIOContext;

namespace saccade::ingest {

// One thread. `fd` must outlive it and is never closed here; its own file position is not used
// when it is a regular file.
class ReadBytes {
 public:
  // Reads give up soon after `*interrupted` becomes true.
  ReadBytes(int fd, const std::atomic<bool>& interrupted);
  ~ReadBytes();
  ReadBytes(const ReadBytes&) = delete;
  ReadBytes& operator=(const ReadBytes&) = delete;

  // Null when memory is short. Lives as long as this object.
  AVIOContext* context() const { return context_; }
  // 0 = known to be empty; negative = unknown (pipe).
  std::int64_t size() const { return size_; }

 private:
  static int on_read(void* self, std::uint8_t* to, int bytes);
  static std::int64_t on_seek(void* self, std::int64_t offset, int whence);

  const int fd_;
  const std::atomic<bool>& interrupted_;
  std::int64_t size_ = -1;
  std::int64_t position_ = 0;
  AVIOContext* context_ = nullptr;
};

// Everything that is left of `from`. Errors: kExhausted (more than `bytes_max`), kSourceUnreachable
// (broke off before its end).
core::Result<std::vector<std::uint8_t>> read_all(AVIOContext& from, std::size_t bytes_max);

}  // namespace saccade::ingest
