#include "policy_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

#include "read_toml.h"

namespace saccade::app {
namespace {

using core::ErrorCode;
using governor::Policy;
using governor::Rung;
namespace fs = std::filesystem;

constexpr std::int64_t kLookUs = 1'000'000;
constexpr std::size_t kNameMax = 32, kPurposeMax = 200;
constexpr int kSloMax = 600'000, kTokensMax = 4'096, kLevelMax = 255;
constexpr double kPaceMax = 60;
constexpr std::string_view kEnding = ".toml";

// One entry of a file on its way into a policy. The first thing wrong stays in `fault`.
class Field {
 public:
  explicit Field(const TomlEntry& entry) : entry_(entry) {}

  const std::string& key() const { return entry_.key; }
  const std::string& fault() const { return fault_; }

  std::string text() {
    if (!is(TomlScalar::Kind::kText, "a text in \"quotes\"")) return {};
    return entry_.values.front().text;
  }
  bool boolean() {
    if (!is(TomlScalar::Kind::kBool, "true or false")) return false;
    return entry_.values.front().text == "true";
  }
  template <typename Number>
  Number number(Number low, Number high) {
    const std::string range = std::to_string(low) + ".." + std::to_string(high);
    if (!is(TomlScalar::Kind::kNumber, range)) return low;
    const std::string& text = entry_.values.front().text;
    Number value{};
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good =
        why == std::errc() && end == text.data() + text.size() && value >= low && value <= high;
    if (!good) refuse("is " + text.substr(0, kNameMax) + "; allowed is " + range);
    return good ? value : low;
  }
  void refuse(const std::string& what) {
    if (fault_.empty()) fault_ = "'" + entry_.key + "' " + what;
  }

 private:
  bool is(TomlScalar::Kind kind, const std::string& need) {
    const bool good =
        !entry_.list && entry_.values.size() == 1 && entry_.values.front().kind == kind;
    if (!good) refuse("needs " + need);
    return good;
  }

  const TomlEntry& entry_;
  std::string fault_;
};

Rung rung_named(Field& field) {
  const std::string name = field.text();
  std::string known;
  for (int i = 0; i < static_cast<int>(Rung::kRefusing); ++i) {
    const auto rung = static_cast<Rung>(i);
    if (governor::name_of(rung) == name) return rung;
    known += (i == 0 ? "" : ", ") + std::string(governor::name_of(rung));
  }
  field.refuse("is \"" + name.substr(0, kNameMax) + "\"; allowed is one of " + known);
  return Rung::kFull;
}

void set_field(Field& field, Policy& policy) {
  const std::string& key = field.key();
  if (key == "purpose") {
    policy.purpose = field.text();
    if (policy.purpose.size() > kPurposeMax) {
      field.refuse("is longer than " + std::to_string(kPurposeMax) + " bytes");
    }
  } else if (key == "slo_ms") {
    policy.slo_ms = field.number<int>(1, kSloMax);
  } else if (key == "pace") {
    policy.pace = field.number<double>(0, kPaceMax);
  } else if (key == "fewer_tiles") {
    policy.fewer_tiles = field.boolean();
  } else if (key == "prune") {
    policy.prune = field.boolean();
  } else if (key == "slower") {
    policy.slower = field.boolean();
  } else if (key == "start") {
    policy.start = rung_named(field);
  } else if (key == "max_new_tokens") {
    policy.max_new_tokens = field.number<int>(1, kTokensMax);
  } else if (key == "change_threshold") {
    policy.change_threshold = field.number<int>(0, kLevelMax);
  } else if (key != "based_on") {
    field.refuse("is no part of a policy");
  }
}

core::Error wrong(const std::string& where, const std::string& what) {
  return core::error(ErrorCode::kUsage, where + ": " + what,
                     "a policy has based_on, purpose, slo_ms, pace, fewer_tiles, prune, slower, "
                     "start, max_new_tokens, change_threshold");
}

core::Result<std::string> name_in(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  name.resize(name.size() - std::min(name.size(), kEnding.size()));
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (plain && !name.empty() && name.size() <= kNameMax && name != "auto") return name;
  return wrong(path, "a policy is named by its file: 1.." + std::to_string(kNameMax) +
                         " of a-z, 0-9 and -, and not auto");
}

// What the file begins with.
core::Result<Policy> base_of(const std::vector<TomlEntry>& entries, const std::string& name,
                             const std::string& path) {
  const governor::PolicyBook built_in;
  for (const TomlEntry& entry : entries) {
    if (entry.key != "based_on") continue;
    Field field(entry);
    const auto base = built_in.find(field.text());
    const std::string where = path + ":" + std::to_string(entry.line);
    if (!field.fault().empty()) return wrong(where, field.fault());
    if (!base)
      return core::error(ErrorCode::kUsage, where + ": " + base.error().message, base.error().hint);
    return base;
  }
  const auto own = built_in.find(name);
  return own ? own : built_in.find(governor::kDefaultPolicy);
}

core::Result<std::string> text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kPolicyBytesMax + 1, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size())) && !in.eof()) {
    return wrong(path, "cannot be read");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() <= kPolicyBytesMax) return text;
  return wrong(path, "has more than " + std::to_string(kPolicyBytesMax) + " bytes");
}

}  // namespace

core::Result<Policy> parse_policy(std::string_view text, const std::string& path) {
  const auto name = name_in(path);
  if (!name) return name.error();
  const auto entries = read_toml(text, path);
  if (!entries) return entries.error();
  auto policy = base_of(*entries, *name, path);
  if (!policy) return policy;
  policy->name = *name;
  for (const TomlEntry& entry : *entries) {
    Field field(entry);
    set_field(field, *policy);
    if (!field.fault().empty()) {
      return wrong(path + ":" + std::to_string(entry.line), field.fault());
    }
  }
  return policy;
}

core::Result<PolicyFolder> PolicyFolder::open(std::string path) {
  std::error_code why;
  if (!fs::is_directory(path, why)) {
    return core::error(ErrorCode::kUsage, "--policies: there is no folder " + path,
                       "name the folder that holds the policies, one NAME.toml each");
  }
  PolicyFolder folder(std::move(path));
  folder.state_ = folder.state();
  if (core::Status read = folder.read(); !read) return std::move(read).error();
  return folder;
}

std::optional<core::Status> PolicyFolder::renew(core::SteadyTime now, bool at_once) {
  if (!at_once && core::us_between(looked_, now) < kLookUs) return std::nullopt;
  looked_ = now;
  std::vector<std::string> state = this->state();
  if (state == state_ && !at_once) return std::nullopt;
  state_ = std::move(state);
  return read();
}

std::vector<std::string> PolicyFolder::state() const {
  std::vector<std::string> lines;
  std::error_code why;
  for (const auto& entry : fs::directory_iterator(path_, why)) {
    const std::string name = entry.path().filename().string();
    struct stat facts {};
    if (!name.ends_with(kEnding) || stat(entry.path().c_str(), &facts) != 0) continue;
    lines.push_back(name + "/" + std::to_string(facts.st_size) + "/" +
                    std::to_string(facts.st_mtim.tv_sec) + "." +
                    std::to_string(facts.st_mtim.tv_nsec));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

core::Status PolicyFolder::read() {
  auto book = std::make_shared<governor::PolicyBook>();
  for (const std::string& line : state_) {
    const std::string path = (fs::path(path_) / line.substr(0, line.find('/'))).string();
    const auto text = text_of(path);
    if (!text) return text.error();
    auto policy = parse_policy(*text, path);
    if (!policy) return policy.error();
    if (core::Status put = book->put(std::move(*policy)); !put) return put;
  }
  book_ = std::move(book);
  return {};
}

}  // namespace saccade::app
