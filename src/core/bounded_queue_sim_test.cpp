// The hand-offs against plain reference models, step by step under random schedules. One thread
// plays all producers and consumers, so a failing seed shows the same steps again; waiting and
// waking is bounded_queue_test.cpp's business.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/bounded_queue.h"
#include "core/rng.h"

namespace saccade::core {
namespace {

constexpr std::uint64_t kSeeds = 2'000;
constexpr int kSteps = 200;
constexpr int kCloseOneIn = 150;  // steps: most runs are closed somewhere on their way

// Items are numbered in the order they are offered. A producer whose item cannot be taken at once
// keeps it and offers it again later, as one that waits would.
class QueueRun {
 public:
  explicit QueueRun(std::uint64_t seed)
      : rng_(seed),
        capacity_(static_cast<std::size_t>(rng_.between(0, 6))),
        queue_(capacity_),
        waiting_(static_cast<std::size_t>(rng_.between(1, 3))) {
    if (capacity_ == 0) capacity_ = 1;
    // Some runs are fed faster than emptied, others the other way round.
    produce_percent_ = static_cast<int>(rng_.between(20, 80));
  }

  void run() {
    for (int step = 0; step < kSteps; ++step) {
      if (rng_.between(1, kCloseOneIn) == 1) {
        queue_.close();
        closed_ = true;
      } else if (rng_.between(1, 100) <= produce_percent_) {
        produce();
      } else {
        consume();
      }
      compare();
      if (testing::Test::HasFailure()) return;
    }
    queue_.close();
    closed_ = true;
    while (!model_.empty()) consume();
    compare();
    EXPECT_EQ(queue_.pop(), std::nullopt);
    EXPECT_EQ(taken_, accepted_) << "lost, doubled or out of order";
  }

 private:
  void produce() {
    auto& mine = waiting_[static_cast<std::size_t>(
        rng_.between(0, static_cast<std::int64_t>(waiting_.size()) - 1))];
    const int item = mine.value_or(offered_);
    if (!mine) ++offered_;
    mine.reset();
    const bool room = model_.size() < capacity_;
    if (rng_.between(0, 1) == 0) {
      const bool took = queue_.try_push(item);
      EXPECT_EQ(took, room && !closed_);
      if (!room && !closed_) ++refused_;
      if (took) accept(item);
    } else if (room || closed_) {
      const bool took = queue_.push(item);
      EXPECT_EQ(took, !closed_);
      if (took) accept(item);
    } else {
      mine = item;
    }
  }

  void accept(int item) {
    model_.push_back(item);
    accepted_.push_back(item);
    high_water_ = std::max(high_water_, model_.size());
  }

  void consume() {
    const auto way = rng_.between(0, 2);
    if (way == 0 && model_.empty() && !closed_) return;  // pop would wait
    const std::optional<int> got = way == 0   ? queue_.pop()
                                   : way == 1 ? queue_.try_pop()
                                              : queue_.pop_for(std::chrono::microseconds(0));
    std::optional<int> expected;
    if (!model_.empty()) {
      expected = model_.front();
      model_.pop_front();
    }
    EXPECT_EQ(got, expected);
    if (got) taken_.push_back(*got);
  }

  void compare() const {
    EXPECT_EQ(queue_.size(), model_.size());
    EXPECT_LE(queue_.size(), queue_.capacity());
    EXPECT_EQ(queue_.high_water(), high_water_);
    EXPECT_EQ(queue_.refused(), refused_);
    EXPECT_EQ(queue_.closed_and_empty(), closed_ && model_.empty());
  }

  Rng rng_;
  std::size_t capacity_;
  BoundedQueue<int> queue_;
  std::vector<std::optional<int>> waiting_;  // one place per producer
  int produce_percent_ = 50;

  std::deque<int> model_;
  std::vector<int> accepted_, taken_;
  std::size_t high_water_ = 0;
  std::uint64_t refused_ = 0;
  int offered_ = 0;
  bool closed_ = false;
};

TEST(BoundedQueueSim, WhatIsAcceptedComesOutOnceAndInOrder) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QueueRun(seed).run();
    if (HasFailure()) return;
  }
}

class MailboxRun {
 public:
  explicit MailboxRun(std::uint64_t seed)
      : rng_(seed), put_percent_(static_cast<int>(rng_.between(20, 80))) {}

  void run() {
    for (int step = 0; step < kSteps; ++step) {
      if (rng_.between(1, kCloseOneIn) == 1) {
        close();
      } else if (rng_.between(1, 100) <= put_percent_) {
        put();
      } else if (model_ || closed_) {  // else take would wait
        take();
      }
      EXPECT_EQ(box_.replaced(), replaced_);
      if (testing::Test::HasFailure()) return;
    }
    close();
    while (model_) take();
    EXPECT_EQ(box_.take(), std::nullopt);
    // Every item has exactly one fate, and each drop was handed back to be reported.
    std::vector<bool> fate(static_cast<std::size_t>(offered_), false);
    for (const auto* items : {&taken_, &handed_back_}) {
      for (const int item : *items) {
        EXPECT_FALSE(fate[static_cast<std::size_t>(item)]) << "item " << item << " twice";
        fate[static_cast<std::size_t>(item)] = true;
      }
    }
    EXPECT_EQ(taken_.size() + handed_back_.size(), fate.size());
    EXPECT_TRUE(std::is_sorted(taken_.begin(), taken_.end())) << "an older item after a newer one";
  }

 private:
  void put() {
    const int item = offered_;
    if (rng_.between(0, 1) == 0) {
      ++offered_;
      const std::optional<int> back = box_.put(item);
      EXPECT_EQ(back, closed_ ? std::optional(item) : model_);
      if (back) handed_back_.push_back(*back);
      if (closed_) return;
      if (back) ++replaced_;
      model_ = item;
    } else if (!model_ || closed_) {  // else put_waiting would wait
      ++offered_;
      EXPECT_EQ(box_.put_waiting(item), !closed_);
      if (closed_) {
        handed_back_.push_back(item);
      } else {
        model_ = item;
      }
    }
  }

  void take() {
    const std::optional<int> got = box_.take();
    EXPECT_EQ(got, model_);
    if (got) taken_.push_back(*got);
    model_.reset();
  }

  void close() {
    box_.close();
    closed_ = true;
  }

  Rng rng_;
  const int put_percent_;
  Mailbox<int> box_;

  std::optional<int> model_;
  std::vector<int> taken_, handed_back_;
  std::uint64_t replaced_ = 0;
  int offered_ = 0;
  bool closed_ = false;
};

TEST(MailboxSim, EveryItemIsTakenOrHandedBackAndTheNewestWins) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MailboxRun(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace saccade::core
