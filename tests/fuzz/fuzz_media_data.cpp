// Any bytes as a data URL, base64, a form, an address or a path: refused, or within bounds; and
// base64 there and back is the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "transport/media_data.h"
#include "transport/read_multipart.h"
#include "transport/route.h"
#include "transport/source_address.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade::transport;  // NOLINT: a fuzzer is one file
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  const std::string bytes(reinterpret_cast<const char*>(data), size);

  std::string coded = encode_base64(bytes);
  require(decode_base64(coded) && coded == bytes);
  std::string text = bytes;
  if (const auto media = read_media(text)) {
    require(media->bytes.size() <= size);
    require(media->bytes.empty() || media->file_path.empty());
    require(media->file_path.find('\0') == std::string::npos);
  }

  const std::size_t line = std::min(bytes.find('\n'), size);
  const std::string_view body = std::string_view(bytes).substr(line);
  if (const auto parts = read_multipart(bytes.substr(0, line), body)) {
    require(parts->size() <= kFormPartsMax);
    for (const FormPart& part : *parts) {
      require(part.data.data() >= body.data() &&
              part.data.data() + part.data.size() <= body.data() + body.size());
    }
  }
  if (const auto address = read_source_address(bytes)) {
    require(!address->host.empty() && address->port >= 0 && address->port <= 65'535);
    require(address->host.find_first_of("@/\\ ") == std::string::npos);
  }
  const RouteMatch match = match_route("GET", bytes);
  require(match.name.find_first_of("/%") == std::string::npos);
  return 0;
}
