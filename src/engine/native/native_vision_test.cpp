// Our tower against llama.cpp's on the bundled model.
#include "engine/native/native_vision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/llama/mini_model.h"

namespace saccade::engine::native {
namespace {

constexpr double kCosineMin = 0.9999;  // per visual token

const VisualSpan& span_of(const EncodedViewPtr& view) {
  for (const auto& segment : view->segments) {
    if (const auto* span = std::get_if<VisualSpanPtr>(&segment)) return **span;
  }
  throw std::logic_error("a view without a span");
}

double lowest_cosine(const VisualSpan& a, const VisualSpan& b) {
  double lowest = 1;
  for (int t = 0; t < a.tokens; ++t) {
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < a.width; ++i) {
      const double x = a.embeddings[static_cast<std::size_t>(t) * a.width + i];
      const double y = b.embeddings[static_cast<std::size_t>(t) * b.width + i];
      ab += x * y;
      aa += x * x;
      bb += y * y;
    }
    lowest = std::min(lowest, ab / std::sqrt(aa * bb));
  }
  return lowest;
}

class NativeVisionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = gguf::WeightFile::open(test::kMiniVision);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(models::serves_tower(**file));
  }
  VisionLanguage reference_ = test::load_mini();
  VisionLanguage ours_ = test::load_mini(Engine::kNative);
  VisionEncoder* const native_ = ours_.vision.get();
};

TEST_F(NativeVisionTest, TokensEqualLlamaCppsOnTwentyPictures) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto picture = test::draw(seed, 150 + static_cast<int>(seed) * 9, 192);
    const auto ours = native_->encode(picture.view(), {});
    const auto theirs = reference_.vision->encode(picture.view(), {});
    ASSERT_TRUE(ours.ok()) << ours.error().message;
    ASSERT_EQ(span_of(*ours).tokens, span_of(*theirs).tokens);
    EXPECT_GE(lowest_cosine(span_of(*ours), span_of(*theirs)), kCosineMin) << "seed " << seed;
  }
}

TEST_F(NativeVisionTest, ABatchGivesTheSameBitsAsSingleViews) {
  std::vector<test::Picture> pictures;
  std::vector<ViewRequest> requests;
  pictures.reserve(9);
  for (std::uint64_t seed = 1; seed <= 9; ++seed) pictures.push_back(test::draw(seed));
  requests.reserve(pictures.size());
  for (const auto& p : pictures) requests.push_back({p.view(), {}});
  const auto together = native_->encode_all(requests);
  ASSERT_TRUE(together.ok());
  ASSERT_EQ(together->size(), 9U);
  for (std::size_t i = 0; i < 9; ++i) {
    const auto alone = native_->encode(pictures[i].view(), {});
    ASSERT_TRUE(alone.ok());
    EXPECT_EQ(span_of(*alone).embeddings, span_of((*together)[i]).embeddings);
  }
}

TEST_F(NativeVisionTest, RefusesWhatItCannotEncode) {
  EXPECT_EQ(native_->encode({}, {}).error().code, core::ErrorCode::kMediaUnusable);
  const auto picture = test::draw(1);
  EXPECT_EQ(native_->encode(picture.view(), {1, 7}).error().code, core::ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace saccade::engine::native
