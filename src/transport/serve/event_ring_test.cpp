#include "transport/serve/event_ring.h"

#include <gtest/gtest.h>

#include <string>

namespace saccade::transport {
namespace {

std::string all_of(ByteSource& source) {
  std::string out;
  for (;;) {
    const auto pulled = source.pull();
    out += pulled.bytes;
    if (pulled.end || pulled.bytes.empty()) return out;
  }
}

std::shared_ptr<EventRing> ring_with(std::uint64_t events) {
  auto ring = std::make_shared<EventRing>("cam");
  for (std::uint64_t i = 1; i <= events; ++i) ring->append(i, "{" + std::to_string(i) + "}");
  return ring;
}

TEST(EventRing, AReaderThatComesBackMissesNothingAndGetsNothingTwice) {
  const auto ring = ring_with(5);
  EXPECT_EQ(all_of(*ring->read_after(3, true)), "id: 4\ndata: {4}\n\nid: 5\ndata: {5}\n\n");
  EXPECT_EQ(all_of(*ring->read_after(5, true)), "");
  const auto reader = ring->read_after(5, true);
  EXPECT_EQ(reader->pull().bytes, "");
  ring->append(6, "{6}");
  EXPECT_EQ(reader->pull().bytes, "id: 6\ndata: {6}\n\n");
  ring->close();
  EXPECT_TRUE(reader->pull().end);
}

TEST(EventRing, WhoWasAwayTooLongIsToldHowManyItMissed) {
  const auto ring = ring_with(kRingEventsMax + 10);  // 1..10 are gone
  const std::string text = all_of(*ring->read_after(4, true));
  EXPECT_EQ(text.find("id: 10\ndata: {\"v\":1,\"kind\":\"drop\""), 0U) << text.substr(0, 200);
  EXPECT_NE(text.find("\"count\":6}"), std::string::npos);
  EXPECT_NE(text.find("id: 11\ndata: {11}"), std::string::npos);
}

// A reader that takes too slowly is taken to the newest event: memory does not grow for it.
TEST(EventRing, WhoFallsBehindGoesOnAtTheNewest) {
  const auto ring = ring_with(1);
  const auto reader = ring->read_after(0, true);
  EXPECT_EQ(reader->pull().bytes, "id: 1\ndata: {1}\n\n");
  for (std::uint64_t i = 2; i <= 3 * kRingEventsMax; ++i) ring->append(i, "{}");
  const std::string text = reader->pull().bytes;
  EXPECT_NE(text.find("\"count\":" + std::to_string(3 * kRingEventsMax - 2)), std::string::npos);
  EXPECT_NE(text.find("id: " + std::to_string(3 * kRingEventsMax) + "\n"), std::string::npos);
  EXPECT_LT(text.size(), 400U);
}

// The way of sockets: one entry at a time.
TEST(EventRing, ACursorTakesOneByOneAndKnowsTheEnd) {
  const auto ring = ring_with(3);
  EventRing::Cursor cursor{.after = 1};
  EXPECT_EQ(ring->next(cursor), "{2}");
  EXPECT_EQ(ring->next(cursor), "{3}");
  EXPECT_EQ(ring->next(cursor), std::nullopt);
  EXPECT_FALSE(ring->at_end(cursor));
  for (std::uint64_t i = 4; i <= 2 * kRingEventsMax; ++i) ring->append(i, std::to_string(i));
  EXPECT_NE(ring->next(cursor)->find("\"kind\":\"drop\""), std::string::npos);
  EXPECT_EQ(ring->next(cursor), std::to_string(2 * kRingEventsMax));
  ring->close();
  EXPECT_TRUE(ring->at_end(cursor));
  EventRing::Cursor late;
  EXPECT_FALSE(ring->at_end(late));
}

TEST(EventRing, BytesAreBoundedToo) {
  const auto ring = std::make_shared<EventRing>("cam");
  const std::string large(1 << 20, 'x');
  for (std::uint64_t i = 1; i <= 20; ++i) ring->append(i, large);
  EXPECT_LE(all_of(*ring->read_after(0, false)).size(), kRingBytesMax + 1024);
}

}  // namespace
}  // namespace saccade::transport
