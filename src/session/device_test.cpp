#include "session/device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "decode/fake_language_model.h"

namespace saccade::session {
namespace {

TEST(Device, EveryJobRunsOnOneThreadAndComesBackDone) {
  Device device({});
  std::set<std::thread::id> seen;  // touched by jobs only, and these never overlap
  std::vector<std::thread> callers;
  callers.reserve(8);
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        bool done = false;
        device.run([&] {
          seen.insert(std::this_thread::get_id());
          done = true;
        });
        EXPECT_TRUE(done);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen.count(std::this_thread::get_id()), 0U);
}

TEST(Device, AnswersOfTwoThreadsDoNotMix) {
  decode::FakeLanguageModel model;
  model.pieces = {"a", "b", "c", "d"};
  Device device({.language = &model});
  engine::LanguageModel& lent = *device.lend().language;
  const auto answer_often = [&] {
    for (int i = 0; i < 100; ++i) {
      const Device::Seat seat = device.take_seat("me");
      ASSERT_TRUE(lent.start({}, {}).ok());
      std::string said;
      for (auto step = lent.step(); step.ok() && !step->end; step = lent.step())
        said += step->bytes;
      EXPECT_EQ(said, "abcd");
    }
  };
  std::thread other(answer_often);
  answer_often();
  other.join();
  EXPECT_EQ(model.starts, 200);
}

TEST(Device, WhatOneOwnerAskedIsForgottenBeforeTheNextOneSits) {
  decode::FakeLanguageModel model;
  Device device({.language = &model});
  const auto sit = [&](const char* owner) { const Device::Seat seat = device.take_seat(owner); };
  sit("alice");
  const int before = model.forgets;
  sit("alice");
  EXPECT_EQ(before, model.forgets);
  sit("bob");
  EXPECT_EQ(before + 1, model.forgets);
  sit("alice");
  EXPECT_EQ(before + 2, model.forgets);
}

TEST(Device, OtherJobsRunWhileSomebodyHoldsTheSeat) {
  Device device({});
  const Device::Seat seat = device.take_seat("me");
  std::atomic<bool> ran{false};
  std::thread other([&] { device.run([&] { ran = true; }); });
  other.join();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace saccade::session
