#pragma once
// Bytes of a request as a file nobody else can name: the decode worker reads files only. Threads:
// one.
#include <string>
#include <string_view>

#include "core/result.h"

namespace saccade::transport {

class MemoryFile {
 public:
  // A copy in anonymous memory, sealed against change. Errors: kExhausted.
  static core::Result<MemoryFile> create(std::string_view bytes);
  // A file below `folder`; links may not lead out of it. Errors: kUsage (no folder was opened),
  // kSourceUnreachable (no such file).
  static core::Result<MemoryFile> open_below(const std::string& folder, const std::string& path);

  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  // For ingest::SourceOptions::url while this lives.
  std::string path() const;

 private:
  explicit MemoryFile(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace saccade::transport
