#include "perceive/hear/segment_speech.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/rng.h"

namespace saccade::perceive {
namespace {

// Pushes `count` chunks of one probability; collects what ends.
void feed(SpeechSegmenter& segmenter, int count, float probability,
          std::vector<SpeechSpan>& spans) {
  for (int i = 0; i < count; ++i)
    if (const auto span = segmenter.push(probability)) spans.push_back(*span);
}

TEST(Segment, SpeechBetweenSilenceIsOneSpanWithPadding) {
  SpeechSegmenter segmenter;
  std::vector<SpeechSpan> spans;
  feed(segmenter, 50, 0.01F, spans);
  feed(segmenter, 40, 0.9F, spans);
  EXPECT_EQ(segmenter.open_since(), 42);
  feed(segmenter, 18, 0.01F, spans);
  EXPECT_TRUE(spans.empty()) << "the pause is still too short";
  feed(segmenter, 1, 0.01F, spans);
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0], (SpeechSpan{42, 98}));
  EXPECT_FALSE(segmenter.open_since());
  EXPECT_EQ(segmenter.voiced_until(), 90);
}

TEST(Segment, ShortPausesAndTheBandBetweenTheThresholdsDoNotSplit) {
  SpeechSegmenter segmenter;
  std::vector<SpeechSpan> spans;
  for (int i = 0; i < 5; ++i) {
    feed(segmenter, 20, 0.9F, spans);
    feed(segmenter, 10, 0.1F, spans);
    feed(segmenter, 30, 0.4F, spans);  // doubtful: neither a pause goes on nor speech
    feed(segmenter, 5, 0.8F, spans);
  }
  EXPECT_LE(spans.size(), 5U);
  SpeechSegmenter short_pauses;
  spans.clear();
  for (int i = 0; i < 8; ++i) {
    feed(short_pauses, 20, 0.9F, spans);
    feed(short_pauses, 15, 0.1F, spans);
  }
  EXPECT_TRUE(spans.empty());
}

TEST(Segment, ClicksAndNoiseGiveNothing) {
  SpeechSegmenter segmenter;
  std::vector<SpeechSpan> spans;
  for (int i = 0; i < 50; ++i) {
    feed(segmenter, 4, 0.95F, spans);
    feed(segmenter, 20, 0.02F, spans);
  }
  feed(segmenter, 3000, 0.45F, spans);
  EXPECT_TRUE(spans.empty());
  EXPECT_FALSE(segmenter.finish());
}

TEST(Segment, PaddingNeverOverlapsTheSegmentBefore) {
  SpeechSegmenter segmenter({.silence_min = 10, .padding = 8});
  std::vector<SpeechSpan> spans;
  feed(segmenter, 20, 0.9F, spans);
  feed(segmenter, 10, 0.0F, spans);
  feed(segmenter, 20, 0.9F, spans);
  feed(segmenter, 10, 0.0F, spans);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_GE(spans[1].begin, spans[0].end);
}

TEST(Segment, EndlessSpeechIsCutAtTheBestPause) {
  SpeechSegmenter segmenter;
  std::vector<SpeechSpan> spans;
  feed(segmenter, 700, 0.9F, spans);
  feed(segmenter, 3, 0.2F, spans);  // too short to end a segment, but the best place for a cut
  feed(segmenter, 300, 0.9F, spans);
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].begin, 0);
  EXPECT_NEAR(static_cast<double>(spans[0].end), 701, 2);
  EXPECT_EQ(segmenter.open_since(), spans[0].end) << "no chunk is lost between the two";
  const auto rest = segmenter.finish();
  ASSERT_TRUE(rest);
  EXPECT_EQ(*rest, (SpeechSpan{spans[0].end, 1003}));
}

TEST(Segment, ACutKeepsWhatIsAlreadyPublished) {
  SpeechSegmenter segmenter;
  std::optional<SpeechSpan> span;
  for (int i = 0; i < 1000 && !span; ++i) span = segmenter.push(i == 600 ? 0.36F : 0.9F, 800);
  ASSERT_TRUE(span);
  EXPECT_GE(span->end, 800);
}

TEST(Segment, LongSpeechEndsAtShorterPauses) {
  SpeechSegmenter segmenter;
  std::vector<SpeechSpan> spans;
  feed(segmenter, 780, 0.9F, spans);
  feed(segmenter, 8, 0.1F, spans);
  EXPECT_EQ(spans.size(), 1U);
}

TEST(Segment, AnyProbabilitiesGiveOrderedDisjointBoundedSpans) {
  core::Rng rng(7);
  for (int run = 0; run < 20; ++run) {
    SpeechSegmenter segmenter;
    const SegmentOptions options;
    std::int64_t end = 0;
    float level = 0.5F;
    for (int i = 0; i < 5000; ++i) {
      if (rng.uniform() < 0.03) level = static_cast<float>(rng.uniform());
      const auto span =
          segmenter.push(level * (rng.uniform() < 0.9 ? 1.0F : 0.3F), rng.between(0, i + 100));
      ASSERT_LE(segmenter.needed_since(), i + 1);
      ASSERT_GE(segmenter.needed_since(), i + 1 - options.length_max - options.padding);
      if (!span) continue;
      ASSERT_GE(span->begin, end);
      ASSERT_LT(span->begin, span->end);
      ASSERT_LE(span->end - span->begin, options.length_max);
      ASSERT_LE(span->end, i + 1);
      end = span->end;
    }
  }
}

}  // namespace
}  // namespace saccade::perceive
