// Any bytes as a hub's listing: refused, or only files that are safe to write below a folder.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "transport/hub_listing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade::transport;  // NOLINT: a fuzzer is one file
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  if (const auto model = parse_hub_model(text)) {
    require(model->repo.find("..") == std::string::npos && model->repo.front() != '/');
  }
  const auto listing = parse_hub_listing(text);
  if (!listing) return 0;
  for (const HubFile& file : listing->files) {
    const auto path = (std::filesystem::path("/root/of/it") / file.path).lexically_normal();
    require(path.string().starts_with("/root/of/it/"));
    require(file.bytes > 0 && file.bytes <= kHubFileBytesMax && file.sha256.size() == 64);
  }
  for (const char* quant : {"", "Q4_K_M", "q8_0"}) {
    if (const auto choice = choose_hub_files(listing->files, quant)) {
      require(!choice->text.empty() && choice->mmproj.size() <= 1);
    }
  }
  return 0;
}
