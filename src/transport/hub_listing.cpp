#include "transport/hub_listing.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "transport/ascii_text.h"

namespace saccade::transport {

namespace {

using core::ErrorCode;
using nlohmann::json;

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Org and repository names become folder names, so they are held to what the hub itself allows.
bool is_hub_name(std::string_view name) {
  if (name.empty() || name.size() > 96 || name.front() == '.' || name.front() == '-' ||
      name.back() == '.' || name.back() == '-') {
    return false;
  }
  if (name.find("--") != name.npos || name.find("..") != name.npos) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '_' || c == '-';
  });
}

core::Error broken(std::string what) {
  return core::error(ErrorCode::kMediaUnusable, "the hub's listing " + std::move(what),
                     "check the name of the model and HF_ENDPOINT");
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_mmproj(const HubFile& file) {
  return lower(file_name(file.path)).find("mmproj") != std::string::npos;
}

// `quant` as a whole word of the file's name: Q4_K_M, but not inside IQ4_K_M or Q4_K_M_L.
bool has_quant(const HubFile& file, std::string_view quant) {
  const std::string name = lower(file_name(file.path)), word = lower(quant);
  const auto part_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (auto at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool starts = at == 0 || !part_of_word(name[at - 1]);
    if (starts && (end >= name.size() || !part_of_word(name[end]))) return true;
  }
  return false;
}

// "x-00001-of-00003.gguf" -> "x-" and ".gguf" around the part number; empty when not split.
std::string split_stem(std::string_view path) {
  constexpr std::string_view kTail = "-00000-of-00000.gguf";
  if (path.size() < kTail.size()) return {};
  const std::string_view tail = path.substr(path.size() - kTail.size());
  for (std::size_t i = 0; i < kTail.size(); ++i) {
    const bool fits = kTail[i] == '0' ? std::isdigit(static_cast<unsigned char>(tail[i])) != 0
                                      : tail[i] == kTail[i];
    if (!fits) return {};
  }
  return std::string(path.substr(0, path.size() - kTail.size())) + std::string(tail.substr(6));
}

// The file of the first of `words` that one has; with `any`, else the first file there is.
const HubFile* find_quant(const std::vector<HubFile>& files,
                          std::initializer_list<std::string_view> words, bool any) {
  for (const std::string_view word : words) {
    const auto found = std::find_if(files.begin(), files.end(),
                                    [&](const HubFile& file) { return has_quant(file, word); });
    if (found != files.end()) return &*found;
  }
  return any && !files.empty() ? &files.front() : nullptr;
}

core::Error nothing_fits(const std::vector<HubFile>& text, std::string_view quant) {
  if (text.empty()) {
    return core::error(ErrorCode::kModelUnusable, "the repository holds no GGUF text model",
                       "look for a repository whose name ends in -GGUF");
  }
  std::string there;
  for (std::size_t i = 0; i < std::min<std::size_t>(text.size(), 12); ++i) {
    there += (there.empty() ? "" : ", ") + std::string(file_name(text[i].path));
  }
  return core::error(ErrorCode::kModelUnusable,
                     "no GGUF of quantisation '" + std::string(quant) + "' in the repository",
                     "there are: " + there);
}

core::Result<HubFile> read_file(const json& entry, std::string path) {
  if (!is_safe_hub_path(path)) return broken("holds an unsafe file name");
  const auto lfs = entry.find("lfs");
  HubFile file;
  if (lfs == entry.end() || !lfs->is_object() || !lfs->contains("sha256") ||
      !(*lfs)["sha256"].is_string()) {
    return broken("gives no SHA-256 for " + path);
  }
  file.sha256 = (*lfs)["sha256"].get<std::string>();
  if (!is_hex(file.sha256, 64)) return broken("gives no valid SHA-256 for " + path);
  const auto size = lfs->find("size");
  if (size == lfs->end() || !size->is_number_unsigned() || size->get<std::uint64_t>() == 0 ||
      size->get<std::uint64_t>() > kHubFileBytesMax) {
    return broken("gives no size in 1.." + std::to_string(kHubFileBytesMax) + " for " + path);
  }
  file.bytes = size->get<std::uint64_t>();
  file.path = std::move(path);
  return file;
}

}  // namespace

core::Result<HubModel> parse_hub_model(std::string_view text) {
  const auto refuse = [&](std::string_view what) {
    return core::error(
        ErrorCode::kUsage,
        "'" + std::string(text.substr(0, 200)) + "' is no model name: " + std::string(what),
        "write org/name or org/name:quant, for example org/model-GGUF:Q4_K_M");
  };
  HubModel model;
  const auto colon = text.find(':');
  const std::string_view repo = text.substr(0, colon);
  const auto slash = repo.find('/');
  if (slash == repo.npos) return refuse("there is no '/'");
  if (!is_hub_name(repo.substr(0, slash))) return refuse("the part before '/' is not allowed");
  if (!is_hub_name(repo.substr(slash + 1))) return refuse("the part after '/' is not allowed");
  model.repo = repo;
  if (colon != text.npos) {
    model.quant = text.substr(colon + 1);
    const bool good = !model.quant.empty() && model.quant.size() <= 32 &&
                      std::all_of(model.quant.begin(), model.quant.end(), [](unsigned char c) {
                        return std::isalnum(c) || c == '_' || c == '-';
                      });
    if (!good) return refuse("the part after ':' is not allowed");
  }
  return model;
}

bool is_safe_hub_path(std::string_view path) {
  if (path.empty() || path.size() > kHubPathBytesMax) return false;
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\' || c == ':') return false;
  }
  while (true) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part.front() == '.' || part.size() > 255) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

core::Result<HubListing> parse_hub_listing(std::string_view text) {
  if (text.size() > kHubListingBytesMax) {
    return broken("has " + std::to_string(text.size()) + " bytes; at most " +
                  std::to_string(kHubListingBytesMax));
  }
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object()) return broken("is no JSON object");
  HubListing listing;
  if (const auto sha = root.find("sha"); sha != root.end() && sha->is_string()) {
    listing.commit = sha->get<std::string>();
  }
  if (!is_hex(listing.commit, 40)) return broken("names no commit");
  const auto files = root.find("siblings");
  if (files == root.end() || !files->is_array()) return broken("holds no list of files");
  if (files->size() > kHubFilesMax) {
    return broken("holds " + std::to_string(files->size()) + " files; at most " +
                  std::to_string(kHubFilesMax));
  }
  for (const json& entry : *files) {
    if (!entry.is_object()) return broken("holds an entry that is no object");
    const auto name = entry.find("rfilename");
    if (name == entry.end() || !name->is_string()) return broken("holds a file without a name");
    auto path = name->get<std::string>();
    if (!lower(path).ends_with(".gguf")) continue;
    auto file = read_file(entry, std::move(path));
    if (!file) return file.error();
    listing.files.push_back(std::move(*file));
  }
  std::sort(listing.files.begin(), listing.files.end(),
            [](const HubFile& a, const HubFile& b) { return a.path < b.path; });
  const auto twice =
      std::adjacent_find(listing.files.begin(), listing.files.end(),
                         [](const HubFile& a, const HubFile& b) { return a.path == b.path; });
  if (twice != listing.files.end()) return broken("names one file twice");
  return listing;
}

core::Result<HubChoice> choose_hub_files(const std::vector<HubFile>& files,
                                         std::string_view quant) {
  std::vector<HubFile> text, projectors;
  for (const HubFile& file : files) (is_mmproj(file) ? projectors : text).push_back(file);
  const HubFile* chosen = quant.empty() ? find_quant(text, {kHubDefaultQuant, "Q8_0"}, true)
                                        : find_quant(text, {quant}, false);
  if (chosen == nullptr) return nothing_fits(text, quant);
  HubChoice choice;
  if (const std::string stem = split_stem(chosen->path); stem.empty()) {
    choice.text.push_back(*chosen);
  } else {
    for (const HubFile& file : text) {
      if (split_stem(file.path) == stem) choice.text.push_back(file);
    }
    const std::size_t parts = std::stoul(chosen->path.substr(chosen->path.size() - 10, 5));
    if (choice.text.size() != parts) {
      return core::error(ErrorCode::kModelUnusable,
                         chosen->path + " is one of " + std::to_string(parts) +
                             " parts, but the repository holds " +
                             std::to_string(choice.text.size()),
                         "choose another quantisation");
    }
  }
  if (const HubFile* projector = find_quant(projectors, {"f16", "bf16", "q8_0", "f32"}, true)) {
    choice.mmproj.push_back(*projector);
  }
  return choice;
}

}  // namespace saccade::transport
