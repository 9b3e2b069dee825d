// The grouping rules without clocks: boundaries of window, lateness and chunk.
#include "align/join_window.h"

#include <gtest/gtest.h>

#include "align/frames_for_test.h"

namespace saccade::align {
namespace {

HeldPicture seen(std::int64_t us) { return {picture(us, 1), core::SteadyTime{}}; }
HeldSound heard(std::int64_t us) { return {sound(us, 1), core::SteadyTime{}, 0, false}; }

TEST(JoinWindow, WindowIncludesItsEdge) {
  for (const std::int64_t off_us : {50'000, 50'001}) {
    JoinWindow window(AlignOptions{});
    window.add_picture(seen(100'000));
    window.add_sound(heard(100'000 + off_us));
    const auto group = window.next_certain();
    ASSERT_TRUE(group);
    EXPECT_EQ(group->joined, off_us == 50'000);
    EXPECT_EQ(group->sound.size(), off_us == 50'000 ? 1U : 0U);
  }
}

TEST(JoinWindow, OtherKindIsWaitedForUpToLatenessExactly) {
  JoinWindow window(AlignOptions{});
  window.add_picture(seen(0));
  window.add_picture(seen(250'000));
  EXPECT_FALSE(window.next_certain());
  window.add_picture(seen(250'001));
  EXPECT_TRUE(window.next_certain());
}

TEST(JoinWindow, PictureAtTheEndOfAChunkLeavesItAlone) {
  for (const std::int64_t at_us : {399'999, 400'000}) {
    JoinWindow window(AlignOptions{});
    for (std::int64_t us = 0; us <= 420'000; us += 20'000) window.add_sound(heard(us));
    window.add_picture(seen(at_us));
    const auto group = window.next_certain();
    ASSERT_TRUE(group);
    EXPECT_EQ(group->picture.has_value(), at_us < 400'000);
    EXPECT_EQ(group->sound.size(), at_us < 400'000 ? 21U : 20U);
  }
}

TEST(JoinWindow, NearestMayBeSoundGivenOutBefore) {
  JoinWindow window(AlignOptions{});
  for (std::int64_t us = 0; us <= 1'000'000; us += 20'000) window.add_sound(heard(us));
  while (window.next_certain()) {
  }
  window.add_picture(seen(103'000));  // far behind its sound
  const auto group = window.next_certain();
  ASSERT_TRUE(group);
  EXPECT_TRUE(group->joined);
  EXPECT_EQ(group->nearest_us, 100'000);
  EXPECT_TRUE(group->sound.empty());
}

TEST(JoinWindow, RestartForgetsStampsOfTheOldEpoch) {
  JoinWindow window(AlignOptions{});
  window.add_picture(seen(1'000'000));
  ASSERT_TRUE(window.next_held());
  window.restart(0);
  EXPECT_TRUE(window.add_picture(seen(10'000)));
}

}  // namespace
}  // namespace saccade::align
