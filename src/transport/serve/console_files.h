#pragma once
// The files of the console, which are part of the program (console/CMakeLists.txt).
#include <span>
#include <string_view>

namespace saccade::transport {

struct ConsoleFile {
  std::string_view name;  // "index.html", or a name below /assets/ that changes with the bytes
  std::string_view content_type;
  std::string_view etag;  // with its quotes
  std::string_view bytes;
};
std::span<const ConsoleFile> console_files();

}  // namespace saccade::transport
