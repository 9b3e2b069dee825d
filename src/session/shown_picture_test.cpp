#include "session/shown_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace saccade::session {
namespace {

struct Canvas {
  Canvas(int width, int height, std::uint8_t level)
      : bytes(static_cast<std::size_t>(width) * height * core::kRgbBytes, level),
        view{bytes.data(), width, height, static_cast<std::ptrdiff_t>(width) * core::kRgbBytes} {}
  std::vector<std::uint8_t> bytes;
  core::PixelView view;
};

TEST(ShrinkPicture, KeepsSmallOnesAsTheyAre) {
  Canvas canvas(3, 2, 7);
  canvas.bytes[5] = 200;
  const ShownPicture small = shrink_picture(canvas.view, 640);
  EXPECT_EQ(3, small.width);
  EXPECT_EQ(2, small.height);
  EXPECT_EQ(canvas.bytes, small.rgb);
}

TEST(ShrinkPicture, GivesTheMeanOfWhatAPixelStandsFor) {
  Canvas canvas(4, 4, 100);
  for (int c = 0; c < core::kRgbBytes; ++c) canvas.bytes[static_cast<std::size_t>(c)] = 200;
  const ShownPicture small = shrink_picture(canvas.view, 2);
  ASSERT_EQ(2, small.width);
  EXPECT_EQ(125, small.rgb[0]);
  EXPECT_EQ(100, small.rgb[3]);
  EXPECT_EQ(4, small.source_width);
}

TEST(ShrinkPicture, BoundsBothSidesOfAnyShape) {
  for (const auto& [width, height] :
       {std::pair{1920, 1080}, {1080, 1920}, {1, 9000}, {9000, 1}, {641, 640}, {1281, 7}}) {
    const Canvas canvas(width, height, 9);
    const ShownPicture small = shrink_picture(canvas.view, 640);
    EXPECT_LE(std::max(small.width, small.height), 640);
    EXPECT_GE(std::min(small.width, small.height), 1);
    EXPECT_EQ(std::vector<std::uint8_t>(small.rgb.size(), 9), small.rgb);
  }
}

class PictureWindowTest : public testing::Test {
 protected:
  void show(std::int64_t ms) { window.show(canvas.view, core::MediaTime::from_us(ms * 1000)); }
  std::uint64_t number() {
    const ShownPicturePtr picture = window.take();
    return picture ? picture->number : 0;
  }
  core::ManualClock clock;
  PictureWindow window{clock};
  Canvas canvas{8, 8, 1};
};

TEST_F(PictureWindowTest, IsEmptyBeforeTheFirstPicture) { EXPECT_EQ(nullptr, window.take()); }

TEST_F(PictureWindowTest, CopiesSeldomUntilSomebodyLooks) {
  show(0);
  for (int i = 1; i <= 10; ++i) {
    clock.advance_us(100'000);
    show(i);
  }
  EXPECT_EQ(2U, number());  // one a second
  for (int i = 1; i <= 10; ++i) {
    clock.advance_us(100'000);
    show(i);
  }
  EXPECT_EQ(7U, number());  // five a second
  clock.advance_us(kShownWatchedUs);
  show(0);
  clock.advance_us(kShownIntervalUs);
  show(0);
  EXPECT_EQ(8U, number());  // nobody has looked for a while
}

TEST_F(PictureWindowTest, IsShownAndTakenAtOnce) {
  std::atomic<bool> enough{false};  // as long as somebody looks, however slowly
  std::thread showing([&] {
    for (int i = 0; !enough; i = (i + 1) % 200) {
      show(i);
      clock.advance_us(kShownIntervalUs);
    }
  });
  std::uint64_t last = 0;
  while (last < 50) {
    const std::uint64_t next = number();
    EXPECT_GE(next, last);
    last = next;
  }
  enough = true;
  showing.join();
}

}  // namespace
}  // namespace saccade::session
