#pragma once
// A file that is being downloaded: written in order, hashed on the way, given its final name only
// when length and SHA-256 are right. Threads: one.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace saccade::transport {

class BlobFile {
 public:
  // Opens or creates `path`; what is already in it counts (and is hashed by `resume_hash`).
  // Errors: kExhausted (disk, permission).
  static core::Result<std::unique_ptr<BlobFile>> open(std::string path);
  virtual ~BlobFile() = default;

  virtual std::uint64_t bytes() const = 0;
  // Forgets what is there.
  virtual core::Status restart() = 0;
  // Errors: kExhausted (disk full).
  virtual core::Status append(std::string_view data) = 0;

  struct Expected {
    std::uint64_t bytes = 0;
    std::string sha256;
    std::string final_path;
  };
  // Syncs, compares, renames. A mismatch deletes the file. Errors: kModelUnusable, kExhausted.
  virtual core::Status commit(const Expected& expected) = 0;
};

}  // namespace saccade::transport
