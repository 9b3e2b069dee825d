#include "transport/serve/request_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

namespace saccade::transport {
namespace {

// A queue whose one thread is held until release().
class RequestQueueTest : public testing::Test {
 protected:
  void hold() {
    std::promise<void> began;
    ASSERT_TRUE(queue
                    .submit("holder",
                            [&] {
                              began.set_value();
                              gate.get_future().wait();
                            })
                    .ok());
    began.get_future().wait();
  }
  void release() { gate.set_value(); }
  void wait_until_idle() {
    while (queue.waiting() + queue.running() > 0) clock.sleep_us(1000);
  }
  core::SystemClock clock;
  std::promise<void> gate;
  RequestQueue queue{{.waiting_max = 4, .running = 1}, clock};
};

TEST_F(RequestQueueTest, TheOneTooManyIsRefusedAtOnce) {
  hold();
  std::atomic<int> ran{0};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(queue.submit("a", [&] { ++ran; }).ok());
  EXPECT_FALSE(queue.has_room());
  const auto refused = queue.submit("a", [&] { ++ran; });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, core::ErrorCode::kExhausted);
  EXPECT_GE(queue.retry_after_s(), 1);
  release();
  wait_until_idle();
  EXPECT_EQ(ran, 4);
}

TEST_F(RequestQueueTest, TenantsTakeTurns) {
  hold();
  std::string order;  // written by the queue's one thread
  for (const char* who : {"a", "a", "a", "b"}) {
    ASSERT_TRUE(queue.submit(who, [&order, who] { order += who; }).ok());
  }
  release();
  wait_until_idle();
  EXPECT_EQ(order.substr(0, 2) == "ab" || order.substr(0, 2) == "ba", true) << order;
}

TEST_F(RequestQueueTest, WhatIsForgottenNeverRunsAndMakesRoom) {
  hold();
  std::atomic<int> ran{0};
  std::vector<std::uint64_t> tickets;
  tickets.reserve(4);
  for (int i = 0; i < 4; ++i) tickets.push_back(*queue.submit("a", [&] { ++ran; }));
  queue.forget(tickets[1]);
  EXPECT_TRUE(queue.has_room());
  release();
  wait_until_idle();
  EXPECT_EQ(ran, 3);
}

TEST_F(RequestQueueTest, AClosedQueueFinishesWhatItHasAndTakesNoMore) {
  hold();
  std::atomic<int> ran{0};
  ASSERT_TRUE(queue.submit("a", [&] { ++ran; }).ok());
  queue.close();
  EXPECT_EQ(queue.submit("a", [&] { ++ran; }).error().code, core::ErrorCode::kClosed);
  release();
  wait_until_idle();
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace saccade::transport
