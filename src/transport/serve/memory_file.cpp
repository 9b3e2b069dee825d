#include "transport/serve/memory_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace saccade::transport {

core::Result<MemoryFile> MemoryFile::create(std::string_view bytes) {
  MemoryFile file(memfd_create("saccade-media", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  while (file.fd_ >= 0 && !bytes.empty()) {
    const ssize_t written = write(file.fd_, bytes.data(), bytes.size());
    if (written <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file.fd_ < 0 || !bytes.empty()) {
    return core::error(core::ErrorCode::kExhausted, "there is no memory for this medium",
                       "come back later");
  }
  fcntl(file.fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return file;
}

core::Result<MemoryFile> MemoryFile::open_below(const std::string& folder,
                                                const std::string& path) {
  if (folder.empty()) {
    return core::error(core::ErrorCode::kUsage, "files of this server are not offered",
                       "start it with --media-path FOLDER, or send the bytes");
  }
  const int base = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long fd = base < 0 ? -1 : syscall(SYS_openat2, base, path.c_str(), &how, sizeof how);
  if (base >= 0) close(base);
  if (fd >= 0) return MemoryFile(static_cast<int>(fd));
  return core::error(core::ErrorCode::kSourceUnreachable,
                     "there is no such file below the media folder");
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
MemoryFile& MemoryFile::operator=(MemoryFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
MemoryFile::~MemoryFile() {
  if (fd_ >= 0) close(fd_);
}

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(fd_); }

}  // namespace saccade::transport
