#include "engine/gguf/inspect_gguf.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "engine/load.h"

namespace saccade::engine {
namespace gguf {
namespace {

constexpr std::size_t kFirstBytes = 1U << 20;
constexpr std::size_t kGrowth = 4;

core::Error unusable(const std::string& path, const std::string& why, std::string hint) {
  return core::error(core::ErrorCode::kModelUnusable, path + ": " + why, std::move(hint));
}

core::Result<std::uint64_t> size_of(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) {
    return unusable(path, "no such file", "check the path, or fetch a model with `saccade pull`");
  }
  if (!std::filesystem::is_regular_file(status)) {
    return unusable(path, "is not a file", "name the .gguf file itself");
  }
  const auto bytes = std::filesystem::file_size(path, code);
  if (code) return unusable(path, code.message(), "check the permissions");
  if (bytes == 0) return unusable(path, "is empty", "download it again");
  return std::uint64_t{bytes};
}

}  // namespace

core::Result<OpenedHeader> read_gguf(const std::string& path) {
  const auto bytes = size_of(path);
  if (!bytes) return bytes.error();
  std::ifstream file(path, std::ios::binary);
  if (!file) return unusable(path, std::strerror(errno), "check the permissions");
  std::vector<std::uint8_t> head;
  const auto want_max = std::min<std::uint64_t>(*bytes, kHeaderBytesMax);
  for (std::uint64_t want = std::min<std::uint64_t>(kFirstBytes, want_max);;
       want = std::min<std::uint64_t>(want * kGrowth, want_max)) {
    const std::size_t have = head.size();
    head.resize(want);
    file.read(reinterpret_cast<char*>(head.data() + have),
              static_cast<std::streamsize>(want - have));
    if (file.gcount() != static_cast<std::streamsize>(want - have)) {
      return unusable(path, "cannot be read to its end", "check the disk, or download it again");
    }
    Parsed parsed = parse_gguf(head, *bytes);
    if (const auto* error = std::get_if<core::Error>(&parsed)) {
      return unusable(path, error->message, "download it again from its publisher");
    }
    if (auto* header = std::get_if<Header>(&parsed)) {
      if (const auto status = check_values(*header); !status) {
        return unusable(path, status.error().message, "download it again from its publisher");
      }
      return OpenedHeader{std::move(*header), *bytes};
    }
    if (want == want_max) {
      return unusable(path, "header longer than " + std::to_string(kHeaderBytesMax) + " bytes",
                      "use another model file");
    }
  }
}

}  // namespace gguf

core::Result<GgufFacts> inspect_gguf(const std::string& path) {
  const auto opened = gguf::read_gguf(path);
  if (!opened) return opened.error();
  const auto& header = opened->header;
  GgufFacts facts;
  facts.architecture = header.text("general.architecture");
  facts.name = header.text("general.name");
  facts.projector = header.text("clip.projector_type");
  if (facts.projector.empty()) facts.projector = header.text("clip.vision.projector_type");
  facts.file_bytes = opened->file_bytes;
  facts.tensors = header.tensors;
  facts.parameters = header.parameters;
  facts.version = header.version;
  if (const auto* prompts = header.find("saccade.prompts")) facts.prompts = prompts->texts;
  return facts;
}

}  // namespace saccade::engine
