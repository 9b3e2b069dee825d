#include "emit/write_cues.h"

#include <gtest/gtest.h>

#include "core/rng.h"

namespace saccade::emit {
namespace {

core::MediaTime at(double seconds) {
  return core::MediaTime::from_us(static_cast<std::int64_t>(seconds * 1e6 + 0.5));
}

TEST(WriteCues, WritesWebVtt) {
  CueWriter writer(CueFormat::kWebVtt);
  EXPECT_EQ(writer.header(), "WEBVTT\n\n");
  EXPECT_EQ(writer.push({at(1.5), at(3), "Pump <3> & valve --> open", {}}),
            "00:00:01.500 --> 00:00:03.000\nPump &lt;3&gt; &amp; valve --&gt; open\n\n");
}

TEST(WriteCues, WritesSubRip) {
  CueWriter writer(CueFormat::kSubRip);
  EXPECT_EQ(writer.header(), "");
  EXPECT_EQ(writer.push({at(1.5), at(3), "One", {}}), "1\n00:00:01,500 --> 00:00:03,000\nOne\n\n");
  EXPECT_EQ(writer.push({at(3661), at(3662), "a ----> b", {}}),
            "2\n01:01:01,000 --> 01:01:02,000\na -> b\n\n");
}

// Corpus 22: openwhispr#1293, pysubs2#83.
TEST(WriteCues, MillisecondsCarry) {
  CueWriter writer(CueFormat::kSubRip);
  EXPECT_EQ(writer.push({at(0.9995), at(59.9996), "a", {}}),
            "1\n00:00:01,000 --> 00:01:00,000\na\n\n");
  EXPECT_EQ(writer.push({at(60), at(3599.9999), "b", {}}),
            "2\n00:01:00,000 --> 01:00:00,000\nb\n\n");
}

// Corpus 23: whisperX#1315.
TEST(WriteCues, TimeNeverGoesBack) {
  CueWriter writer(CueFormat::kWebVtt);
  EXPECT_EQ(writer.push({at(1), at(3), "a", {}}), "00:00:01.000 --> 00:00:03.000\na\n\n");
  EXPECT_EQ(writer.push({at(2.5), at(4), "b", {}}), "00:00:03.000 --> 00:00:04.000\nb\n\n");
  EXPECT_EQ(writer.push({at(1), at(2), "c", {}}), "00:00:04.000 --> 00:00:04.001\nc\n\n");
  EXPECT_EQ(writer.push({core::MediaTime::unset(), core::MediaTime::end(), "d", {}}).substr(0, 12),
            "00:00:04.001");
}

TEST(WriteCues, EmptyLinesWouldEndTheCueAndAreLeftOut) {
  CueWriter writer(CueFormat::kWebVtt);
  EXPECT_EQ(writer.push({at(0), at(1), "\n a \r\n\n \nb\n", {}}),
            "00:00:00.000 --> 00:00:01.000\n a \nb\n\n");
  EXPECT_EQ(writer.push({at(1), at(2), " \n\x01", {}}), "");
}

TEST(CueSheet, ALaterCueOfALaneEndsTheOneBefore) {
  CueSheet sheet;
  sheet.add({at(2), at(4), "second", "speech"});
  sheet.add({at(0), at(2.1), "first", "speech"});
  EXPECT_EQ(sheet.render(CueFormat::kWebVtt),
            "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\nfirst\n\n"
            "00:00:02.000 --> 00:00:04.000\nsecond\n\n");
}

TEST(CueSheet, LanesShowTogether) {
  CueSheet sheet;
  sheet.add({at(0), at(10), "PUMP 3", "text-1"});
  sheet.add({at(4), at(6), "hello", "speech"});
  EXPECT_EQ(sheet.render(CueFormat::kWebVtt),
            "WEBVTT\n\n00:00:00.000 --> 00:00:04.000\nPUMP 3\n\n"
            "00:00:04.000 --> 00:00:06.000\nPUMP 3\nhello\n\n"
            "00:00:06.000 --> 00:00:10.000\nPUMP 3\n\n");
}

TEST(CueSheet, WithoutCuesItIsStillAFile) {
  EXPECT_EQ(CueSheet().render(CueFormat::kWebVtt), "WEBVTT\n\n");
}

TEST(CueSheet, RandomCuesNeverOverlapAndLoseNoText) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    core::Rng rng(seed);
    std::vector<Cue> cues;
    for (int i = 0; i < 12; ++i) {
      const double start = static_cast<double>(rng.between(0, 60'000)) / 1e4;
      const double length = static_cast<double>(rng.between(0, 20'000)) / 1e4;
      std::string text = std::to_string(100 + i);
      cues.push_back(
          {at(start), at(start + length), std::move(text), std::to_string(rng.between(0, 3))});
    }
    const std::vector<Cue> row = lay_out_cues(cues);
    std::string all;
    for (std::size_t i = 0; i < row.size(); ++i) {
      ASSERT_LT(row[i].start, row[i].end);
      if (i > 0) {
        ASSERT_LE(row[i - 1].end, row[i].start) << seed;
      }
      all += row[i].text;
    }
    for (const Cue& cue : cues) ASSERT_NE(all.find(cue.text), std::string::npos) << seed;
  }
}

TEST(CueSheet, IsBounded) {
  CueSheet sheet;
  EXPECT_TRUE(sheet.add({at(0), at(1), std::string(kCueSheetBytesMax, 'x'), {}}));
  EXPECT_FALSE(sheet.add({at(0), at(1), "y", {}}));
}

}  // namespace
}  // namespace saccade::emit
