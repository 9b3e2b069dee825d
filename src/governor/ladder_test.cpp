#include "governor/ladder.h"

#include <gtest/gtest.h>

#include "core/rng.h"

namespace saccade::governor {
namespace {

const std::vector<Rung> kAll = {Rung::kFull, Rung::kCalm, Rung::kFewTiles, Rung::kPruned,
                                Rung::kSlow, Rung::kKeys, Rung::kRefusing};
constexpr std::int64_t kStepUs = 250'000;

// A ladder under a load that depends on the rung it stands on.
struct Walk {
  LadderState state;
  core::SteadyTime now{10'000'000};
  int changes = 0;

  void step(double pressure, const std::vector<Rung>& rungs = kAll) {
    now.us += kStepUs;
    const Rung before = state.rung;
    state = next_state(state, {.latency = 0, .load = pressure}, rungs, {}, now);
    changes += state.rung != before;
  }
  void run(double seconds, double pressure) {
    for (double t = 0; t < seconds; t += 0.25) step(pressure);
  }
};

TEST(Ladder, GoesDownARungAtATimeAndNoFurtherThanTheLast) {
  Walk walk;
  walk.step(2);
  EXPECT_EQ(Rung::kCalm, walk.state.rung);
  walk.step(2);
  EXPECT_EQ(Rung::kCalm, walk.state.rung) << "the effect of the last step is awaited";
  walk.run(10, 2);
  EXPECT_EQ(Rung::kRefusing, walk.state.rung);
}

TEST(Ladder, RecoversWithinFiveSecondsWhenThereIsMuchRoom) {
  Walk walk;
  walk.run(10, 2);
  walk.run(6, 0.1);
  EXPECT_EQ(Rung::kFull, walk.state.rung);
}

TEST(Ladder, StaysBetweenTheMarks) {
  Walk walk;
  walk.run(1, 2);
  const Rung there = walk.state.rung;
  walk.run(60, 0.9);
  EXPECT_EQ(there, walk.state.rung);
}

TEST(Ladder, SkipsRungsThatDoNothingHere) {
  Walk walk;
  const std::vector<Rung> some = {Rung::kFull, Rung::kCalm, Rung::kSlow};
  for (int i = 0; i < 20; ++i) walk.step(2, some);
  EXPECT_EQ(Rung::kSlow, walk.state.rung);
  walk.step(0.9, {Rung::kFull, Rung::kCalm});  // it went away
  EXPECT_EQ(Rung::kCalm, walk.state.rung);
}

// One rung is too little and the next one more than enough: without memory it would swing for ever.
TEST(Ladder, ALoadBetweenTwoRungsSwingsEverMoreRarely) {
  Walk walk;
  for (int i = 0; i < 4 * 120; ++i) walk.step(walk.state.rung >= Rung::kPruned ? 0.5 : 1.3);
  EXPECT_LE(walk.changes, 18);
  const int before = walk.changes;
  for (int i = 0; i < 4 * 60; ++i) walk.step(walk.state.rung >= Rung::kPruned ? 0.5 : 1.3);
  EXPECT_LE(walk.changes - before, 4);
}

// As long as it is remembered what the way down gained, it is not given back.
TEST(Ladder, WhatWouldNotFitAboveIsNotTried) {
  Walk walk;
  walk.run(0.25, 1.3);
  ASSERT_EQ(Rung::kCalm, walk.state.rung);
  walk.run(4, 0.6);
  EXPECT_EQ(1, walk.changes) << "0.6 here were 1.3 above";
  walk.run(3, 0.25);
  EXPECT_EQ(Rung::kFull, walk.state.rung) << "half the load fits above";
}

// Fewer streams: the load falls, and what the way down gained is a share of it.
TEST(Ladder, StreamsThatLeaveAreNotAGainOfTheWayDown) {
  LadderState state;
  core::SteadyTime now{10'000'000};
  const auto step = [&](double load, double asked) {
    now.us += kStepUs;
    state = next_state(state, {.latency = 0, .load = load, .asked = asked}, kAll, {}, now);
  };
  step(1.2, 32);
  ASSERT_EQ(Rung::kCalm, state.rung);
  step(1.0, 32);
  for (int i = 0; i < 4; ++i) step(0.05, 2);
  EXPECT_EQ(Rung::kFull, state.rung);
}

TEST(Ladder, ASquareWaveOfLoadMakesAtMostTwoTurnsPerPeriod) {
  Walk walk;
  int turns = 0;
  bool down = true;
  for (int i = 0; i < 4 * 200; ++i) {
    const Rung before = walk.state.rung;
    walk.step((i / 80) % 2 == 0 ? 1.5 : 0.2);  // 20 s each
    if (walk.state.rung == before) continue;
    const bool now_down = walk.state.rung > before;
    turns += now_down != down;
    down = now_down;
  }
  EXPECT_LE(turns, 2 * 5);
}

TEST(Ladder, NoisePressedAroundTheLowMarkMovesNothing) {
  core::Rng rng(5);
  Walk walk;
  for (int i = 0; i < 4000; ++i) walk.step(0.75 + 0.2 * (rng.uniform() - 0.5));
  EXPECT_EQ(0, walk.changes);
}

}  // namespace
}  // namespace saccade::governor
