// Fewer tokens reach the language model, and never those under text.
#include "attend/reduce_views.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/rng.h"

namespace saccade::attend {
namespace {

// An 8 x 8 grid over a 640 x 480 picture.
perceive::SeenView view() {
  auto span = std::make_shared<engine::VisualSpan>();
  core::Rng rng(3);
  span->tokens = span->whole = 64;
  span->columns = 8;
  span->width = 12;
  for (int i = 0; i < 64 * 12; ++i) {
    span->embeddings.push_back(static_cast<float>(rng.between(-100, 100)) / 100);
  }
  auto encoded = std::make_shared<engine::EncodedView>();
  encoded->segments.emplace_back(std::vector<engine::TokenId>{1, 2});
  encoded->segments.emplace_back(engine::VisualSpanPtr(span));
  encoded->tokens = 66;
  perceive::SeenView out;
  out.source = {0, 0, 640, 480};
  out.encoded = encoded;
  return out;
}

const engine::VisualSpan& span_of(const perceive::SeenView& seen) {
  return *std::get<engine::VisualSpanPtr>(seen.encoded->segments.at(1));
}

core::Knobs knobs(double share) {
  core::Knobs out;
  out.keep_share = share;
  return out;
}

perceive::TextTrack text_at(float x, float y, float width, float height) {
  perceive::TextTrack track;
  track.line.box = {{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}};
  return track;
}

TEST(ReduceViewsTest, AWholeShareChangesNothing) {
  const auto whole = view();
  const auto out = reduce_views({whole}, {}, knobs(1));
  EXPECT_EQ(out.front().encoded, whole.encoded);
}

TEST(ReduceViewsTest, HalfTheTokensStayAndTheWrappersAll) {
  const auto out = reduce_views({view()}, {}, knobs(0.5));
  EXPECT_EQ(out.front().encoded->tokens, 34);
  EXPECT_EQ(span_of(out.front()).tokens, 32);
  EXPECT_EQ(span_of(out.front()).whole, 64);
}

TEST(ReduceViewsTest, TokensUnderTextStayEvenAtTheEdge) {
  // Row 0 whole, and a box that reaches out of the picture at the bottom right.
  const auto out =
      reduce_views({view()}, {text_at(0, 5, 639, 20), text_at(600, 470, 200, 200)}, knobs(0.2));
  const auto& kept = span_of(out.front()).kept;
  for (int t = 0; t < 8; ++t) EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), t));
  EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), 63));
}

TEST(ReduceViewsTest, TilesAreReducedInTheirOwnPlace) {
  auto tile = view();
  tile.source = {320, 240, 320, 240};
  // Text in the picture's middle right: in the tile's first row, not in its last.
  const auto out = reduce_views({tile}, {text_at(330, 245, 300, 10)}, knobs(0.15));
  const auto& kept = span_of(out.front()).kept;
  for (int t = 0; t < 8; ++t) EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), t));
}

TEST(ReduceViewsTest, TokensThatAreNoGridStayWhole) {
  auto whole = view();
  auto span = std::make_shared<engine::VisualSpan>(span_of(whole));
  span->columns = 0;
  auto encoded = std::make_shared<engine::EncodedView>(*whole.encoded);
  encoded->segments[1] = engine::VisualSpanPtr(span);
  whole.encoded = encoded;
  EXPECT_EQ(reduce_views({whole}, {}, knobs(0.5)).front().encoded, whole.encoded);
}

}  // namespace
}  // namespace saccade::attend
