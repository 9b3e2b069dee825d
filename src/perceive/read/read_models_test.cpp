// Reading real pixels with the real networks. Skipped when the weights were not fetched.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <opencv2/imgproc.hpp>

#include "perceive/read/read.h"
#include "perceive/read/text_models.h"

namespace saccade::perceive {
namespace {

const std::string kDetector = std::string(SACCADE_MODELS_DIR) + "/ocr-det.onnx";
const std::string kRecogniser = std::string(SACCADE_MODELS_DIR) + "/ocr-rec.onnx";

ReadOptions options() {
  ReadOptions out;
  out.detector_path = kDetector;
  out.recogniser_path = kRecogniser;
  return out;
}

core::PixelView view_of(const cv::Mat& rgb) {
  return core::PixelView{rgb.data, rgb.cols, rgb.rows, static_cast<std::ptrdiff_t>(rgb.step)};
}

cv::Mat blank(int width, int height, int grey) {
  return cv::Mat(height, width, CV_8UC3, cv::Scalar::all(grey));
}

// Text of about `height` pixels with its baseline start at (x, y).
void write(cv::Mat& picture, const std::string& text, cv::Point at, double height, int grey) {
  cv::putText(picture, text, at, cv::FONT_HERSHEY_DUPLEX, height / 22.0, cv::Scalar::all(grey),
              std::max(1, static_cast<int>(height / 14)), cv::LINE_AA);
}

cv::Mat rotated(const cv::Mat& picture, double degrees) {
  const cv::Point2f middle(static_cast<float>(picture.cols) / 2,
                           static_cast<float>(picture.rows) / 2);
  cv::Mat out;
  cv::warpAffine(picture, out, cv::getRotationMatrix2D(middle, degrees, 1.0), picture.size(),
                 cv::INTER_CUBIC, cv::BORDER_REPLICATE);
  return out;
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

class ReadingPictures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kDetector) || !std::filesystem::exists(kRecogniser)) {
      GTEST_SKIP() << "text models are not in " << SACCADE_MODELS_DIR;
    }
    auto opened = TextReader::open(options());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    reader = std::move(*opened);
  }

  std::vector<TextLine> lines(const cv::Mat& picture) {
    auto result = reader->read_still(view_of(picture));
    EXPECT_TRUE(result.ok());
    return result ? *result : std::vector<TextLine>{};
  }

  std::unique_ptr<TextReader> reader;
};

TEST_F(ReadingPictures, DarkOnLightInReadingOrder) {
  cv::Mat picture = blank(640, 240, 255);
  write(picture, "Second line 42.7 ms", {40, 170}, 24, 0);
  write(picture, "First line A-1038", {40, 80}, 24, 0);
  const auto found = lines(picture);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].text, "First line A-1038");
  EXPECT_EQ(found[1].text, "Second line 42.7 ms");
  EXPECT_GT(found[0].confidence, 0.8F);
  EXPECT_NEAR(found[0].box[0][0], 40, 14);
  EXPECT_LT(found[0].box[0][1], 60);
}

TEST_F(ReadingPictures, LightOnDarkAndSmall) {
  cv::Mat picture = blank(640, 240, 25);
  write(picture, "PRESSURE 4.20 BAR", {60, 120}, 16, 235);
  const auto found = lines(picture);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text, "PRESSURE 4.20 BAR");
}

TEST_F(ReadingPictures, ALoneDigitBehindASpaceBelongsToItsLine) {
  cv::Mat picture = blank(640, 160, 30);
  write(picture, "PUMP RPM", {40, 90}, 30, 230);
  write(picture, "4", {278, 90}, 30, 230);
  const auto found = lines(picture);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(without_spaces(found[0].text), "PUMPRPM4");
}

TEST_F(ReadingPictures, ALineSlantedBy15Degrees) {
  cv::Mat picture = blank(640, 400, 255);
  write(picture, "EMERGENCY EXIT 7", {130, 215}, 30, 0);
  const auto found = lines(rotated(picture, 15));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text, "EMERGENCY EXIT 7");
  const double rise = found[0].box[1][1] - found[0].box[0][1];
  const double run = found[0].box[1][0] - found[0].box[0][0];
  EXPECT_NEAR(std::atan2(-rise, run) * 180 / 3.14159, 15, 3);
}

TEST_F(ReadingPictures, ALineTurnedByAQuarterEitherWay) {
  cv::Mat flat = blank(400, 120, 255), down, up;
  write(flat, "STORAGE 12", {60, 75}, 30, 0);
  cv::rotate(flat, down, cv::ROTATE_90_CLOCKWISE);
  cv::rotate(flat, up, cv::ROTATE_90_COUNTERCLOCKWISE);
  const auto downward = lines(down), upward = lines(up);
  ASSERT_EQ(downward.size(), 1U);
  EXPECT_EQ(downward[0].text, "STORAGE 12");
  // The text's own top left is the picture's top right.
  EXPECT_GT(downward[0].box[0][0], downward[0].box[3][0]);
  EXPECT_LT(downward[0].box[0][1], downward[0].box[1][1]);
  ASSERT_EQ(upward.size(), 1U);
  EXPECT_EQ(upward[0].text, "STORAGE 12");
  EXPECT_GT(upward[0].box[0][1], upward[0].box[1][1]);
}

TEST_F(ReadingPictures, OneTallCharacterStaysUpright) {
  cv::Mat picture = blank(320, 160, 20);
  write(picture, "7", {140, 110}, 60, 240);
  const auto found = lines(picture);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text, "7");
}

// RapidAI/RapidOCR#130, PaddlePaddle/PaddleOCR#14130.
TEST_F(ReadingPictures, WideAndTallStripsAreRead) {
  const std::string text =
      "Strip of two thousand pixels: gate B12 opens at 12:45, platform 9, order A-1038, flow 118";
  cv::Mat wide = blank(2000, 40, 255), tall;
  write(wide, text, {20, 29}, 22, 0);
  const auto found = lines(wide);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(without_spaces(found[0].text), without_spaces(text));
  cv::rotate(wide, tall, cv::ROTATE_90_CLOCKWISE);
  const auto turned = lines(tall);
  ASSERT_EQ(turned.size(), 1U);
  EXPECT_EQ(without_spaces(turned[0].text), without_spaces(text));
}

TEST_F(ReadingPictures, BlankPicturesOfAnySizeGiveNothing) {
  EXPECT_TRUE(lines(blank(3840, 2160, 255)).empty());
  EXPECT_TRUE(lines(blank(1, 1, 0)).empty());
  EXPECT_TRUE(lines(blank(3, 700, 128)).empty());
}

TEST_F(ReadingPictures, NoiseGivesNothing) {
  cv::Mat noise = blank(640, 360, 0);
  cv::RNG rng(7);
  rng.fill(noise, cv::RNG::UNIFORM, 0, 256);
  EXPECT_TRUE(lines(noise).empty());
}

TEST_F(ReadingPictures, LampsAndBarsAreNotText) {
  cv::Mat picture = blank(640, 360, 30);
  cv::circle(picture, {150, 180}, 40, cv::Scalar(40, 200, 80), cv::FILLED, cv::LINE_AA);
  cv::circle(picture, {350, 180}, 28, cv::Scalar(200, 60, 40), cv::FILLED, cv::LINE_AA);
  cv::rectangle(picture, cv::Rect(480, 120, 14, 92), cv::Scalar(90, 220, 170), cv::FILLED);
  EXPECT_TRUE(lines(picture).empty());
}

TEST_F(ReadingPictures, AReadingThatChangesInAStreamOfPictures) {
  cv::Mat picture = blank(640, 360, 30);
  write(picture, "TEMP 73.5 C", {60, 120}, 30, 230);
  write(picture, "DOOR OPEN", {60, 260}, 30, 230);
  const auto read = [&](int ms, std::vector<core::Rect> changed) {
    ingest::Frame frame;
    frame.time = core::MediaTime::from_us(std::int64_t{ms} * 1000);
    ingest::Picture shown;
    shown.pixels =
        core::Pixels{std::shared_ptr<const std::uint8_t>(picture.data, [](auto*) {}), picture.cols,
                     picture.rows, static_cast<std::ptrdiff_t>(picture.step)};
    frame.payload = shown;
    ChangeMap change;
    change.regions = std::move(changed);
    auto result = reader->read(frame, change, core::Knobs{});
    EXPECT_TRUE(result.ok());
    return result ? *result : ReadResult{};
  };
  ASSERT_EQ(read(0, {}).visible.size(), 2U);
  EXPECT_EQ(read(100, {}).work.regions, 0);
  cv::rectangle(picture, cv::Rect(0, 80, 640, 60), cv::Scalar::all(30), cv::FILLED);
  write(picture, "TEMP 78.9 C", {60, 120}, 30, 230);
  const auto result = read(200, {{170, 85, 100, 40}});
  EXPECT_EQ(result.work.lines, 1);
  ASSERT_EQ(result.events.size(), 2U);
  EXPECT_EQ(result.events[0].line.text, "TEMP 73.5 C");
  EXPECT_TRUE(result.events[0].ended);
  EXPECT_EQ(result.events[1].line.text, "TEMP 78.9 C");
}

TEST(TextModelFiles, MissingSwappedAndBrokenFilesAreNamed) {
  ReadOptions missing = options();
  missing.detector_path = "no/such/model.onnx";
  const auto absent = TextReader::open(missing);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, core::ErrorCode::kModelUnusable);
  EXPECT_NE(absent.error().message.find("no/such/model.onnx"), std::string::npos);
  ReadOptions threads = options();
  threads.threads = 0;
  EXPECT_EQ(TextReader::open(threads).error().code, core::ErrorCode::kUsage);
  ReadOptions confidence = options();
  confidence.confidence_min = NAN;
  EXPECT_EQ(TextReader::open(confidence).error().code, core::ErrorCode::kUsage);
  if (!std::filesystem::exists(kDetector)) GTEST_SKIP() << "no text models";
  ReadOptions swapped = options();
  std::swap(swapped.detector_path, swapped.recogniser_path);
  const auto mixed = TextReader::open(swapped);
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.error().code, core::ErrorCode::kModelUnusable);
}

}  // namespace
}  // namespace saccade::perceive
