#pragma once
// The folder of downloaded models, in the layout Python's huggingface_hub uses, so both share
// files:
//   ROOT/models--org--name/blobs/SHA256            the bytes; SHA256.incomplete while they come
//   ROOT/models--org--name/refs/REV                the commit a branch pointed to
//   ROOT/models--org--name/snapshots/COMMIT/PATH   link to the blob
//   ROOT/.locks/models--org--name/SHA256.lock      held while a blob is written
// Threads: any; two processes may share the folder.
#include <cstdint>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "transport/hub_listing.h"

namespace saccade::transport {

class HubCache {
 public:
  // `repo` as parse_hub_model gave it.
  HubCache(std::string root, const std::string& repo);

  std::string blob_path(const HubFile& file) const;
  std::string incomplete_path(const HubFile& file) const { return blob_path(file) + ".incomplete"; }
  std::string lock_path(const HubFile& file) const;
  std::string snapshot_path(const std::string& commit, const std::string& path) const;

  // Makes the folders. Errors: kExhausted (disk, permission).
  core::Status prepare() const;
  // True when the blob is there in full length; its hash was checked when it was put there.
  bool has_blob(const HubFile& file) const;
  // Bytes already there of a download broken off.
  std::uint64_t incomplete_bytes(const HubFile& file) const;
  // Errors: kExhausted when the rest of `files` does not fit on the disk.
  core::Status check_space(const std::vector<HubFile>& files) const;
  // Links PATH of a snapshot to its blob; replaces an older link in one step.
  core::Status link(const std::string& commit, const HubFile& file) const;

  core::Status write_ref(const std::string& revision, const std::string& commit) const;
  // Errors: kModelUnusable (never downloaded).
  core::Result<std::string> read_ref(const std::string& revision) const;
  // The GGUF files of a snapshot that are really there; hashes are left empty.
  std::vector<HubFile> snapshot_files(const std::string& commit) const;

 private:
  std::string root_, repo_, repo_folder_;
};

// An exclusive lock on a file, let go when the object or the process dies.
class FileLock {
 public:
  FileLock() = default;
  FileLock(FileLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  // Nothing (not held) when another process holds it. Errors: kExhausted.
  static core::Result<FileLock> try_lock(const std::string& path);
  bool held() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace saccade::transport
