#include "transport/serve/picture_jpeg.h"

#include <gtest/gtest.h>

#include <vector>

namespace saccade::transport {
namespace {

core::PixelView view_of(const std::vector<std::uint8_t>& rgb, int width, int height) {
  return {rgb.data(), width, height, static_cast<std::ptrdiff_t>(width) * core::kRgbBytes};
}

TEST(PictureJpeg, IsAWholeFileOfThatSize) {
  const std::vector<std::uint8_t> rgb(64 * 48 * core::kRgbBytes, 90);
  const auto jpeg = jpeg_of(view_of(rgb, 64, 48));
  ASSERT_TRUE(jpeg.ok());
  EXPECT_EQ("\xFF\xD8", jpeg->substr(0, 2));
  EXPECT_EQ("\xFF\xD9", jpeg->substr(jpeg->size() - 2));
  const std::string frame("\xFF\xC0\x00\x11\x08\x00\x30\x00\x40\x03", 10);  // 48 lines of 64
  EXPECT_NE(std::string::npos, jpeg->find(frame));
}

TEST(PictureJpeg, WhatItCannotHoldIsAnErrorAndNoEnd) {
  EXPECT_FALSE(jpeg_of({}).ok());
  const std::vector<std::uint8_t> rgb(70'000 * core::kRgbBytes, 1);
  EXPECT_FALSE(jpeg_of(view_of(rgb, 70'000, 1)).ok());
}

}  // namespace
}  // namespace saccade::transport
