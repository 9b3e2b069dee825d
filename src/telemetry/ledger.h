#pragma once
// The latency ledger: where one Moment's time went. Always on; a stamp costs a clock read.
// Stage names are a closed list, the same as in the event schema.
#include <array>
#include <cstddef>
#include <string_view>

#include "core/clock.h"

namespace saccade::telemetry {

enum class Stage { kCapture, kAlign, kSee, kRead, kHear, kAttend, kDecode, kEmit };
inline constexpr std::size_t kStages = 8;

std::string_view name_of(Stage stage);

// Milliseconds spent per stage; 0 = the stage did not run.
struct StageLedger {
  std::array<double, kStages> ms{};

  double& operator[](Stage s) { return ms[static_cast<std::size_t>(s)]; }
  double operator[](Stage s) const { return ms[static_cast<std::size_t>(s)]; }
};

// Adds the life of this object to one entry of a ledger.
class StageTimer {
 public:
  StageTimer(StageLedger& ledger, Stage stage, const core::Clock& clock)
      : ledger_(ledger), stage_(stage), clock_(clock), start_(clock.now()) {}
  ~StageTimer() { ledger_[stage_] += core::ms_between(start_, clock_.now()); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  StageLedger& ledger_;
  const Stage stage_;
  const core::Clock& clock_;
  const core::SteadyTime start_;
};

}  // namespace saccade::telemetry
