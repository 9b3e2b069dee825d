#pragma once
// What a model repository says it holds, and which of it we want. The listing comes from outside:
// nothing in it is believed before it is checked, and what is odd is refused, not repaired.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace saccade::transport {

inline constexpr std::size_t kHubListingBytesMax = 16ULL << 20;
inline constexpr std::size_t kHubFilesMax = 10'000;
inline constexpr std::size_t kHubPathBytesMax = 512;
inline constexpr std::uint64_t kHubFileBytesMax = 1ULL << 40;
inline constexpr std::string_view kHubDefaultQuant = "Q4_K_M";

// "org/name[:quant]".
struct HubModel {
  std::string repo;   // "org/name"
  std::string quant;  // empty = the default
};
// Errors: kUsage (says what is wrong with which part).
core::Result<HubModel> parse_hub_model(std::string_view text);

struct HubFile {
  std::string path;         // relative, safe to append to a folder
  std::uint64_t bytes = 0;  // 1..kHubFileBytesMax
  std::string sha256;       // 64 lower-case hex digits
};

struct HubListing {
  std::string commit;          // 40 lower-case hex digits
  std::vector<HubFile> files;  // GGUF files with a known hash, by path
};
// Reads `GET /api/models/REPO/revision/REV?blobs=true`. Files that are no GGUF are left out before
// they are looked at. Errors: kMediaUnusable (not such a listing, an unsafe name, a size out of
// range, a GGUF without hash).
core::Result<HubListing> parse_hub_listing(std::string_view json);

// The text model of the wanted quantisation (all parts, when it is split) and, if the repository
// has one, its vision projector.
struct HubChoice {
  std::vector<HubFile> text;    // in order of parts; never empty
  std::vector<HubFile> mmproj;  // none or one
};
// Without a wanted quant: Q4_K_M, else Q8_0, else the first by name. Errors: kModelUnusable (names
// what there is).
core::Result<HubChoice> choose_hub_files(const std::vector<HubFile>& files, std::string_view quant);

// True for a relative path of ordinary names: no "..", no empty or hidden part, no backslash, no
// control characters, at most kHubPathBytesMax bytes.
bool is_safe_hub_path(std::string_view path);

}  // namespace saccade::transport
