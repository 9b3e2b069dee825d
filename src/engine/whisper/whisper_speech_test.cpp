// The real weights on clips made on the spot; skipped without them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "core/rng.h"
#include "engine/load.h"
#include "engine/whisper/test_clip.h"

namespace saccade::engine {
namespace {

std::string plain_text(const std::vector<HeardWord>& words) {
  std::string text;
  for (const HeardWord& word : words)
    for (const char c : word.text)
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ' ')
        text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

class WhisperSpeechTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test_file_exists(kTestSpeechModel)) GTEST_SKIP() << "no " << kTestSpeechModel;
    auto loaded = load_speech(kTestSpeechModel, 1);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    model_ = std::move(loaded).value();
  }
  std::vector<HeardWord> transcribe(const std::vector<float>& samples,
                                    const std::string& context = {}) {
    auto words = model_->transcribe(samples, context);
    EXPECT_TRUE(words.ok()) << words.error().message;
    return words.ok() ? *words : std::vector<HeardWord>{};
  }
  std::unique_ptr<SpeechModel> model_;
};

TEST_F(WhisperSpeechTest, ARealVoiceIsHeardWordByWord) {
  if (!test_file_exists(kTestRecording)) GTEST_SKIP() << "no recording";
  const auto clip = recording();
  if (clip.empty()) GTEST_SKIP() << "no ffmpeg";
  const auto words = transcribe(clip);
  EXPECT_EQ(plain_text(words),
            " and so my fellow americans ask not what your country can do for you ask what you can "
            "do for your country");
  ASSERT_EQ(words.size(), 22U);
  // Measured in the recording by its loudness.
  EXPECT_NEAR(words[0].start, 0.3, 0.3);
  EXPECT_NEAR(words[5].start, 3.3, 0.3);  // ask
  EXPECT_NEAR(words[7].start, 5.4, 0.3);  // what
  EXPECT_NEAR(words[13].end, 7.9, 0.4);   // you
  for (const HeardWord& word : words) {
    EXPECT_GT(word.probability, 0.3F) << word.text;
    EXPECT_LT(word.start, word.end);
  }
}

TEST_F(WhisperSpeechTest, StartTimesHoldBehindAnySilence) {
  const auto clip = speak("Warning. The temperature is too high.");
  if (clip.empty()) GTEST_SKIP() << "no espeak-ng or ffmpeg";
  for (const double before : {0.0, 0.4, 3.0}) {
    const auto words = transcribe(padded(clip, before, 0.3));
    ASSERT_FALSE(words.empty());
    EXPECT_NEAR(words.front().start, before, 0.3);
    EXPECT_NEAR(words.back().end, before + static_cast<double>(clip.size()) / 16000, 0.3);
    EXPECT_NE(plain_text(words).find("temperature is too high"), std::string::npos)
        << plain_text(words);
  }
}

TEST_F(WhisperSpeechTest, SilenceNoiseAndTonesGiveNoWords) {
  core::Rng rng(5);
  std::vector<float> noise(4 * 16000), tone(noise.size());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<float>(rng.uniform() - 0.5) * 0.2F;
    tone[i] = 0.2F * std::sin(0.1728F * static_cast<float>(i));
  }
  EXPECT_EQ(plain_text(transcribe(std::vector<float>(4 * 16000))), "");
  EXPECT_EQ(plain_text(transcribe(noise)), "");
  EXPECT_EQ(plain_text(transcribe(tone)), "");
}

TEST_F(WhisperSpeechTest, EveryLengthFromNothingToThirtySecondsWorks) {
  core::Rng rng(6);
  for (const std::size_t samples : {0, 1, 319, 320, 1600, 16'001, 480'000}) {
    std::vector<float> clip(samples);
    for (float& s : clip) s = static_cast<float>(rng.uniform() - 0.5) * 0.02F;
    for (const HeardWord& word : transcribe(clip))
      EXPECT_LE(word.end, static_cast<double>(samples) / 16000 + 0.05);
  }
  const auto longer = model_->transcribe(std::vector<float>(480'001), "");
  ASSERT_FALSE(longer.ok());
  EXPECT_EQ(longer.error().code, core::ErrorCode::kUsage);
}

TEST_F(WhisperSpeechTest, CallsDoNotInfluenceEachOther) {
  const auto clip = padded(speak("The alarm is over. Thank you."), 0.2, 0.3);
  if (clip.size() < 16000) GTEST_SKIP() << "no espeak-ng or ffmpeg";
  const auto first = transcribe(clip);
  transcribe(padded(speak("Please leave the building by the nearest exit."), 0.1, 0.1),
             std::string(5000, 'a') + " some context");
  transcribe(std::vector<float>(32000));
  const auto again = transcribe(clip);
  EXPECT_EQ(plain_text(first), plain_text(again));
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].start, again[i].start);
}

TEST_F(WhisperSpeechTest, SamplesThatAreNoNumbersAreRefused) {
  std::vector<float> clip(16000);
  clip[77] = std::numeric_limits<float>::quiet_NaN();
  const auto words = model_->transcribe(clip, "");
  ASSERT_FALSE(words.ok());
  EXPECT_EQ(words.error().code, core::ErrorCode::kNumeric);
}

TEST(LoadSpeech, UnusableFilesAreNamedWithTheNextStep) {
  for (const std::string path : {"build/absent.bin", "build", "CMakeLists.txt"}) {
    const auto model = load_speech(path, 1);
    ASSERT_FALSE(model.ok()) << path;
    EXPECT_EQ(model.error().code, core::ErrorCode::kModelUnusable);
    EXPECT_NE(model.error().message.find(path), std::string::npos);
    EXPECT_FALSE(model.error().hint.empty());
  }
}

TEST(LoadSpeech, ATruncatedModelIsRefused) {
  if (!test_file_exists(kTestSpeechModel)) GTEST_SKIP() << "no " << kTestSpeechModel;
  const auto path =
      std::filesystem::temp_directory_path() / ("saccade-cut-" + std::to_string(getpid()) + ".bin");
  std::vector<char> head(3'000'000);
  std::ifstream(kTestSpeechModel, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  std::ofstream(path, std::ios::binary)
      .write(head.data(), static_cast<std::streamsize>(head.size()));
  const auto model = load_speech(path.string(), 1);
  std::filesystem::remove(path);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message.find("cut short"), std::string::npos) << model.error().message;
}

}  // namespace
}  // namespace saccade::engine
