#include "governor/governor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace saccade::governor {
namespace {

Terms terms() {
  Terms out;
  out.policy = *PolicyBook().find(kDefaultPolicy);
  return out;
}

TEST(Governor, ManyStreamsTakeTurnsAndNoTurnIsLost) {
  const core::SystemClock clock;
  Governor governor(clock);
  std::atomic<int> at_once{0}, most{0}, turns{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto place = governor.join(terms());
      ASSERT_TRUE(place.ok());
      for (int n = 0; n < 50; ++n) {
        auto turn = (*place)->take_turn();
        ASSERT_TRUE(turn);
        const int now = ++at_once;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
        turn->served({.views = 1}, clock.now());
        ++turns;
        --at_once;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(400, turns);
  EXPECT_LE(most, kWidthMax);
  const Snapshot end = governor.snapshot();
  EXPECT_EQ(0, end.running);
  EXPECT_EQ(0, end.waiting);
  EXPECT_EQ(0, end.streams);
  EXPECT_EQ(400U, end.answers);
}

TEST(Governor, ClosingEndsAWait) {
  const core::SystemClock clock;
  Governor governor(clock);
  auto first = governor.join(terms());
  auto second = governor.join(terms());
  ASSERT_TRUE(first.ok() && second.ok());
  auto turn = (*first)->take_turn();
  std::thread waiting([&] { EXPECT_FALSE((*second)->take_turn()); });
  (*second)->close();
  waiting.join();
  EXPECT_FALSE((*second)->take_turn());
  turn.reset();
}

TEST(Governor, KnobsComeOnceAndAgainWhenAskedForAnew) {
  const core::ManualClock clock;
  Governor governor(clock);
  auto place = governor.join(terms());
  ASSERT_TRUE(place.ok());
  EXPECT_TRUE((*place)->take_knobs());
  EXPECT_FALSE((*place)->take_knobs());
  core::Knobs other;
  other.max_new_tokens = 7;
  (*place)->set_base(other);
  EXPECT_EQ(7, (*place)->take_knobs()->knobs.max_new_tokens);
}

TEST(Governor, AStreamGoesOnByTheNewTextOfItsPolicy) {
  const core::ManualClock clock;
  Governor governor(clock);
  const auto place = governor.join(terms());
  ASSERT_TRUE(place.ok());
  EXPECT_GT((*place)->take_knobs()->knobs.max_new_tokens, 5);
  auto book = std::make_shared<PolicyBook>();
  Policy shorter = terms().policy;
  shorter.max_new_tokens = 5;
  ASSERT_TRUE(book->put(shorter).ok());
  governor.set_policies(book);
  EXPECT_EQ(5, (*place)->take_knobs()->knobs.max_new_tokens);
  EXPECT_EQ(book, governor.policies());
}

TEST(Governor, AStreamThatCannotBeServedIsRefusedWithTheReason) {
  core::ManualClock clock;
  Governor governor(clock);
  std::vector<std::unique_ptr<Governor::Place>> places;
  // Each answer takes a second of the device: two a second are more than there is.
  for (int i = 0; i < 3; ++i) {
    auto place = governor.join(terms());
    if (!place) {
      EXPECT_EQ(core::ErrorCode::kExhausted, place.error().code);
      EXPECT_NE(std::string::npos, place.error().message.find("load"));
      EXPECT_EQ(1U, governor.snapshot().refused);
      return;
    }
    for (int n = 0; n < 10; ++n) {
      auto turn = (*place)->take_turn();
      const core::SteadyTime captured = clock.now();
      clock.advance_us(1'000'000);
      turn->served({.views = 1}, captured);
    }
    places.push_back(std::move(*place));
  }
  FAIL() << "three streams of two device seconds a second each were accepted";
}

}  // namespace
}  // namespace saccade::governor
