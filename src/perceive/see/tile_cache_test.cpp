#include "perceive/see/tile_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "perceive/see/test_picture.h"

namespace saccade::perceive {
namespace {

engine::EncodedViewPtr view_of(int tokens, int width = 16) {
  auto span = std::make_shared<engine::VisualSpan>();
  span->tokens = tokens;
  span->width = width;
  span->embeddings.assign(static_cast<std::size_t>(tokens) * width, 1.0F);
  auto view = std::make_shared<engine::EncodedView>();
  view->segments.emplace_back(engine::VisualSpanPtr(span));
  view->tokens = tokens;
  return view;
}

TileKey key_of(std::uint64_t n) { return {{n, n}, {n, ~n}, 100}; }

// The same bytes in another shape are another picture (CVE-2025-46722).
TEST(TileKey, TwinShapesDiffer) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(30) * 100 * core::kRgbBytes);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const core::PixelView wide{bytes.data(), 100, 30, 100 * core::kRgbBytes};
  const core::PixelView tall{bytes.data(), 30, 100, 30 * core::kRgbBytes};
  const auto a = make_tile_key(wide, {}, "m"), b = make_tile_key(tall, {}, "m");
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->hash, b->hash);
  EXPECT_NE(a->check, b->check);
}

TEST(TileKey, EveryPartCounts) {
  TestPicture picture(20, 10, 80);
  const auto plain = make_tile_key(picture.view(), {}, "m1");
  EXPECT_EQ(plain, make_tile_key(picture.view(), {}, "m1"));
  EXPECT_NE(plain, make_tile_key(picture.view(), {}, "m2"));
  EXPECT_NE(plain, make_tile_key(picture.view(), {1, 1}, "m1"));
  EXPECT_NE(make_tile_key(picture.view(), {1, 2}, "m1"),
            make_tile_key(picture.view(), {2, 1}, "m1"));
  picture.fill({19, 9, 1, 1}, {80, 80, 81});
  EXPECT_NE(plain, make_tile_key(picture.view(), {}, "m1"));
}

TEST(TileKey, PaddingDoesNotCount) {
  TestPicture padded(20, 10, 80, 12);
  const auto before = make_tile_key(padded.view(), {}, "m");
  padded.fill_padding(3);
  EXPECT_EQ(before, make_tile_key(padded.view(), {}, "m"));
  EXPECT_EQ(before, make_tile_key(TestPicture(20, 10, 80).view(), {}, "m"));
}

TEST(TileCache, HitsAreTheSameObject) {
  TileCache cache;
  const auto view = view_of(4);
  EXPECT_EQ(cache.find(key_of(1)), nullptr);
  cache.insert(key_of(1), view);
  EXPECT_EQ(cache.find(key_of(1)), view);
  EXPECT_EQ(cache.hits(), 1U);
  EXPECT_EQ(cache.misses(), 1U);
}

TEST(TileCache, HalfAKeyIsNoHit) {
  TileCache cache;
  cache.insert(key_of(1), view_of(4));
  TileKey other_check = key_of(1), other_length = key_of(1);
  other_check.check[1] ^= 1;
  other_length.pixel_bytes += 1;
  EXPECT_EQ(cache.find(other_check), nullptr);
  EXPECT_EQ(cache.find(other_length), nullptr);
  cache.insert(other_check, view_of(8));  // takes the place of its twin
  EXPECT_EQ(cache.find(key_of(1)), nullptr);
  EXPECT_EQ(cache.entries(), 1U);
}

TEST(TileCache, ForgetsTheLeastRecentlyUsedByBytes) {
  TileCache cache(8192);  // each view below takes 1024 + overhead
  for (std::uint64_t n = 1; n <= 5; ++n) cache.insert(key_of(n), view_of(16));
  EXPECT_EQ(cache.entries(), 5U);
  ASSERT_NE(cache.find(key_of(1)), nullptr);  // now the most recent one
  cache.insert(key_of(6), view_of(16));
  EXPECT_EQ(cache.evictions(), 1U);
  EXPECT_LE(cache.bytes(), 8192U);
  EXPECT_NE(cache.find(key_of(1)), nullptr);
  EXPECT_EQ(cache.find(key_of(2)), nullptr);
}

// More pictures in one request than the cache holds: those in use stay whole.
TEST(TileCache, EvictedViewsLiveAsLongAsTheyAreHeld) {
  TileCache cache(8192);
  std::vector<engine::EncodedViewPtr> held;
  for (std::uint64_t n = 0; n < 20; ++n) {
    held.push_back(view_of(16));
    cache.insert(key_of(n), held.back());
  }
  EXPECT_EQ(cache.evictions(), 15U);
  for (const auto& view : held) {
    EXPECT_EQ(std::get<engine::VisualSpanPtr>(view->segments[0])->embeddings.back(), 1.0F);
  }
}

TEST(TileCache, TooLargeAViewEvictsNothing) {
  TileCache cache(4096);
  cache.insert(key_of(1), view_of(16));
  cache.insert(key_of(2), view_of(1000));
  EXPECT_EQ(cache.entries(), 1U);
  EXPECT_EQ(cache.evictions(), 0U);
  EXPECT_NE(cache.find(key_of(1)), nullptr);
}

}  // namespace
}  // namespace saccade::perceive
