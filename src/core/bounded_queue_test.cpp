#include "core/bounded_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace saccade::core {
namespace {

TEST(BoundedQueue, KeepsOrderAndNeverExceedsCapacity) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.try_push(2));
  EXPECT_FALSE(queue.try_push(3));
  EXPECT_EQ(queue.refused(), 1U);
  EXPECT_EQ(queue.high_water(), 2U);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.try_pop(), 2);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
  EXPECT_EQ(queue.pop_for(std::chrono::microseconds(1)), std::nullopt);
}

TEST(BoundedQueue, CapacityZeroMeansOne) {
  BoundedQueue<int> queue(0);
  EXPECT_EQ(queue.capacity(), 1U);
  EXPECT_TRUE(queue.try_push(1));
  EXPECT_FALSE(queue.try_push(2));
}

TEST(BoundedQueue, ClosedQueueRefusesAndDrains) {
  BoundedQueue<int> queue(4);
  queue.push(1);
  queue.push(2);
  queue.close();
  queue.close();
  EXPECT_FALSE(queue.push(3));
  EXPECT_FALSE(queue.try_push(3));
  EXPECT_EQ(queue.refused(), 0U);
  EXPECT_FALSE(queue.closed_and_empty());
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_TRUE(queue.closed_and_empty());
}

TEST(BoundedQueue, CloseWakesAProducerThatWaits) {
  BoundedQueue<int> queue(1);
  queue.push(1);
  std::atomic<int> taken{0};
  std::thread producer([&] { taken += queue.push(2); });
  queue.close();
  producer.join();
  EXPECT_EQ(taken, 0);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, CloseWakesEveryConsumer) {
  BoundedQueue<int> queue(1);
  std::atomic<int> nothing{0};
  std::vector<std::thread> consumers;
  consumers.reserve(3);
  for (int n = 0; n < 3; ++n) {
    consumers.emplace_back([&] { nothing += !queue.pop().has_value(); });
  }
  queue.close();
  for (std::thread& consumer : consumers) consumer.join();
  EXPECT_EQ(nothing, 3);
}

TEST(BoundedQueue, ManyProducersAndConsumersLoseNothing) {
  constexpr int kProducers = 3, kEach = 2'000;
  BoundedQueue<std::unique_ptr<int>> queue(5);
  std::vector<std::vector<int>> got(2);
  std::vector<std::thread> producers, consumers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (int n = 0; n < kEach; ++n) queue.push(std::make_unique<int>(p * kEach + n));
    });
  }
  for (auto& mine : got) {
    consumers.emplace_back([&] {
      while (auto item = queue.pop()) mine.push_back(**item);
    });
  }
  for (std::thread& thread : producers) thread.join();
  queue.close();
  for (std::thread& thread : consumers) thread.join();
  std::vector<int> all = got[0];
  all.insert(all.end(), got[1].begin(), got[1].end());
  std::sort(all.begin(), all.end());
  std::vector<int> expected(kProducers * kEach);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
  EXPECT_LE(queue.high_water(), queue.capacity());
}

TEST(Mailbox, NewestTakesThePlaceAndTheOldComesBack) {
  Mailbox<int> box;
  EXPECT_EQ(box.put(1), std::nullopt);
  EXPECT_EQ(box.put(2), 1);
  EXPECT_EQ(box.put(3), 2);
  EXPECT_EQ(box.replaced(), 2U);
  EXPECT_EQ(box.take(), 3);
}

TEST(Mailbox, ClosedMailboxGivesThePutBackAndDrains) {
  Mailbox<int> box;
  box.put(1);
  box.close();
  EXPECT_EQ(box.put(2), 2);
  EXPECT_FALSE(box.put_waiting(2));
  EXPECT_EQ(box.replaced(), 0U);
  EXPECT_EQ(box.take(), 1);
  EXPECT_EQ(box.take(), std::nullopt);
}

TEST(Mailbox, CloseWakesWhoWaits) {
  Mailbox<int> empty, full;
  full.put(1);
  std::atomic<int> nothing{0};
  std::thread consumer([&] { nothing += !empty.take().has_value(); });
  std::thread producer([&] { nothing += !full.put_waiting(2); });
  empty.close();
  full.close();
  consumer.join();
  producer.join();
  EXPECT_EQ(nothing, 2);
}

TEST(Mailbox, WaitingPutLosesNothing) {
  constexpr int kItems = 5'000;
  Mailbox<int> box;
  std::thread producer([&] {
    for (int n = 0; n < kItems; ++n) box.put_waiting(n);
    box.close();
  });
  int expected = 0;
  while (const auto item = box.take()) EXPECT_EQ(*item, expected++);
  producer.join();
  EXPECT_EQ(expected, kItems);
}

TEST(Mailbox, LiveItemsRiseAndEachIsTakenOrReported) {
  constexpr int kItems = 5'000;
  Mailbox<int> box;
  std::atomic<int> replaced{0};
  std::thread producer([&] {
    for (int n = 0; n < kItems; ++n) replaced += box.put(n).has_value();
    box.close();
  });
  int last = -1, taken = 0;
  for (; const auto item = box.take(); ++taken) {
    EXPECT_GT(*item, last);
    last = *item;
  }
  producer.join();
  EXPECT_EQ(last, kItems - 1);
  EXPECT_EQ(taken + replaced, kItems);
  EXPECT_EQ(box.replaced(), static_cast<std::uint64_t>(replaced));
}

}  // namespace
}  // namespace saccade::core
