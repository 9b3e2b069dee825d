#include "transport/blob_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace saccade::transport {

namespace {

constexpr std::size_t kReadBytes = 1 << 20;

struct DigestFree {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

class PosixBlobFile final : public BlobFile {
 public:
  PosixBlobFile(int fd, std::string path)
      : fd_(fd), path_(std::move(path)), digest_(EVP_MD_CTX_new()) {}
  ~PosixBlobFile() override { ::close(fd_); }
  PosixBlobFile(const PosixBlobFile&) = delete;
  PosixBlobFile& operator=(const PosixBlobFile&) = delete;

  // Hashes what an earlier run left.
  core::Status take_over() {
    if (EVP_DigestInit_ex(digest_.get(), EVP_sha256(), nullptr) != 1) return broken("hash");
    std::vector<char> buffer(kReadBytes);
    while (true) {
      const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return broken("read");
      if (n == 0) return {};
      EVP_DigestUpdate(digest_.get(), buffer.data(), static_cast<std::size_t>(n));
      bytes_ += static_cast<std::uint64_t>(n);
    }
  }

  std::uint64_t bytes() const override { return bytes_; }

  core::Status restart() override {
    if (::ftruncate(fd_, 0) != 0 || ::lseek(fd_, 0, SEEK_SET) < 0) return broken("empty");
    bytes_ = 0;
    EVP_DigestInit_ex(digest_.get(), EVP_sha256(), nullptr);
    return {};
  }

  core::Status append(std::string_view data) override {
    while (!data.empty()) {
      const ssize_t n = ::write(fd_, data.data(), data.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return broken("write");
      EVP_DigestUpdate(digest_.get(), data.data(), static_cast<std::size_t>(n));
      bytes_ += static_cast<std::uint64_t>(n);
      data.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
  }

  core::Status commit(const Expected& expected) override {
    const std::string sha256 = take_digest();
    if (bytes_ != expected.bytes || sha256 != expected.sha256) {
      ::unlink(path_.c_str());
      return core::error(core::ErrorCode::kModelUnusable,
                         "the downloaded bytes do not match: got " + std::to_string(bytes_) +
                             " bytes with SHA-256 " + sha256 + ", expected " +
                             std::to_string(expected.bytes) + " with " + expected.sha256,
                         "they were deleted; run `saccade pull` again, and if it repeats, do not "
                         "trust this mirror");
    }
    if (::fsync(fd_) != 0) return broken("sync");
    if (::rename(path_.c_str(), expected.final_path.c_str()) != 0) return broken("rename");
    return {};
  }

 private:
  std::string take_digest() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
    unsigned int length = 0;
    EVP_DigestFinal_ex(digest_.get(), raw.data(), &length);
    std::string hex;
    for (unsigned int i = 0; i < length; ++i) {
      hex += "0123456789abcdef"[raw[i] >> 4];
      hex += "0123456789abcdef"[raw[i] & 15];
    }
    return hex;
  }

  core::Status broken(const char* what) const {
    return core::error(core::ErrorCode::kExhausted,
                       std::string("cannot ") + what + " " + path_ + ": " + std::strerror(errno),
                       "free space or rights there; the download continues where it stopped");
  }

  const int fd_;
  const std::string path_;
  std::unique_ptr<EVP_MD_CTX, DigestFree> digest_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

core::Result<std::unique_ptr<BlobFile>> BlobFile::open(std::string path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) {
    return core::error(core::ErrorCode::kExhausted,
                       "cannot write " + path + ": " + std::strerror(errno),
                       "free space or rights there, or set HF_HUB_CACHE to another folder");
  }
  auto file = std::make_unique<PosixBlobFile>(fd, std::move(path));
  if (core::Status taken = file->take_over(); !taken.ok()) return taken.error();
  return std::unique_ptr<BlobFile>(std::move(file));
}

}  // namespace saccade::transport
