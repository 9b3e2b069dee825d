#pragma once
// Named ways to run a stream: its deadline, how often it must be answered, what of the picture may
// be given up for that, and what is set from the start. A policy is data; the ladder decides when.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/knobs.h"
#include "core/result.h"
#include "governor/ladder.h"

namespace saccade::governor {

inline constexpr std::string_view kNoPolicy = "none";           // no deadline asked for
inline constexpr std::string_view kDefaultPolicy = "captions";  // a deadline and nothing more

struct Policy {
  std::string name;
  std::string purpose;  // one line, for people
  int slo_ms = 300;     // an answer may be this old, counted from its picture
  double pace = 2;      // answers a second that the stream shall get; more when there is room
  // What may be given up.
  bool fewer_tiles = true, prune = true, slower = true;
  Rung start = Rung::kFull;  // never better than this
  // Set from the start; unset = as asked for.
  std::optional<int> max_new_tokens = std::nullopt, change_threshold = std::nullopt;
};

// The policies there are. What runs holds an immutable one; a new one takes its place as a whole.
class PolicyBook {
 public:
  static constexpr std::size_t kPoliciesMax = 64;

  // none, captions, alert, reading, medical, low-power, max-quality.
  PolicyBook();
  // Added, or put in the place of the one of this name. Errors: kExhausted (kPoliciesMax).
  core::Status put(Policy policy);
  // Errors: kUsage, naming those there are.
  core::Result<Policy> find(std::string_view name) const;
  const std::vector<Policy>& all() const { return policies_; }

 private:
  std::vector<Policy> policies_;
};
using PolicyBookPtr = std::shared_ptr<const PolicyBook>;

// What the model and the source at hand can do without.
struct Abilities {
  bool tiles = false;    // shows sharp tiles beside the global view
  bool prunes = false;   // reads a picture with tokens left out
  bool decodes = false;  // its pictures are decoded here from a video
};

// A stream's Knobs on this rung. `base` is what was asked for; the version stays.
core::Knobs knobs_on(Rung rung, const Policy& policy, const Abilities& abilities,
                     const core::Knobs& base);
// Answers a second on this rung.
double pace_on(Rung rung, const Policy& policy);

}  // namespace saccade::governor
