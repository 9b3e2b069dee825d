#include "core/frame_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace saccade::core {
namespace {

TEST(FramePool, GivesSlotsUntilAllAreOut) {
  FramePool pool(2, 16);
  EXPECT_EQ(pool.slots(), 2U);
  EXPECT_EQ(pool.slot_bytes(), 16U);
  auto a = pool.acquire();
  const auto b = pool.acquire();
  ASSERT_TRUE(a && b);
  EXPECT_NE(a, b);
  EXPECT_FALSE(pool.acquire());
  EXPECT_EQ(pool.exhausted(), 1U);
  a.reset();
  EXPECT_EQ(pool.free_slots(), 1U);
  EXPECT_TRUE(pool.acquire());
}

TEST(FramePool, LastHolderGivesTheSlotBack) {
  FramePool pool(1, 16);
  std::shared_ptr<const std::uint8_t> published = pool.acquire();
  auto copy = published;
  published.reset();
  EXPECT_EQ(pool.free_slots(), 0U);
  copy.reset();
  EXPECT_EQ(pool.free_slots(), 1U);
}

TEST(FramePool, SlotsOutliveThePool) {
  std::optional<FramePool> pool(std::in_place, 1, 64);
  const auto slot = pool->acquire();
  pool.reset();
  std::memset(slot.get(), 7, 64);
  EXPECT_EQ(slot.get()[63], 7);
}

TEST(FramePool, EmptyPoolGivesNothing) {
  FramePool pool(0, 16);
  EXPECT_FALSE(pool.acquire());
}

TEST(FramePool, NoSlotHasTwoHolders) {
  FramePool pool(3, 8);
  std::atomic<int> given{0}, shared{0};
  std::vector<std::thread> threads;
  for (std::uint8_t id = 1; id <= 4; ++id) {
    threads.emplace_back([&, id] {
      for (int n = 0; n < 2'000; ++n) {
        const auto slot = pool.acquire();
        if (!slot) continue;
        std::memset(slot.get(), id, 8);
        for (int i = 0; i < 8; ++i) shared += slot.get()[i] != id;
        ++given;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared, 0);
  EXPECT_EQ(pool.free_slots(), 3U);
  EXPECT_EQ(given + pool.exhausted(), 8'000U);
}

}  // namespace
}  // namespace saccade::core
