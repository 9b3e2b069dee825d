#include "telemetry/ledger.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace saccade::telemetry {
namespace {

TEST(Ledger, StagesHaveTheNamesOfTheEventSchema) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kStages; ++i) {
    names.insert(std::string(name_of(static_cast<Stage>(i))));
  }
  EXPECT_EQ(names, (std::set<std::string>{"align", "attend", "capture", "decode", "emit", "hear",
                                          "read", "see"}));
  EXPECT_EQ(name_of(Stage::kSee), "see");
  EXPECT_EQ(name_of(Stage::kEmit), "emit");
}

TEST(Ledger, TimerAddsItsLifeToOneStage) {
  core::ManualClock clock;
  StageLedger ledger;
  for (int n = 0; n < 2; ++n) {
    const StageTimer timer(ledger, Stage::kRead, clock);
    clock.advance_us(1'250);
  }
  EXPECT_DOUBLE_EQ(ledger[Stage::kRead], 2.5);
  double sum = 0;
  for (const double ms : ledger.ms) sum += ms;
  EXPECT_DOUBLE_EQ(sum, 2.5);
}

}  // namespace
}  // namespace saccade::telemetry
