#pragma once
// Policies of the operator: one file NAME.toml each, in one folder, read again when a file changes.
// A file begins with a built-in policy (`based_on`; the one of its own name, else captions) and
// changes what it names. Keys: based_on, purpose, slo_ms, pace, fewer_tiles, prune, slower, start,
// max_new_tokens, change_threshold (governor/policy.h).
// One thread.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "governor/policy.h"

namespace saccade::app {

inline constexpr std::size_t kPolicyBytesMax = 16'384;

// One file's text. Errors: kUsage, "PATH:LINE: what is wrong".
core::Result<governor::Policy> parse_policy(std::string_view text, const std::string& path);

class PolicyFolder {
 public:
  // Reads all files. Errors: kUsage (no such folder, a file that is no policy), kExhausted (too
  // many).
  static core::Result<PolicyFolder> open(std::string path);

  const governor::PolicyBookPtr& book() const { return book_; }
  // The folder is looked at once a second at most; with `at_once` now. Nothing when no
  // file has changed; on an error the book stays as it was.
  std::optional<core::Status> renew(core::SteadyTime now, bool at_once);

 private:
  explicit PolicyFolder(std::string path) : path_(std::move(path)) {}
  std::vector<std::string> state() const;
  core::Status read();

  std::string path_;
  governor::PolicyBookPtr book_;
  std::vector<std::string> state_;  // one line a file: name/size/time of its last change
  core::SteadyTime looked_{};
};

}  // namespace saccade::app
