// The whole ear with real weights on clips made on the spot; skipped without them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/rng.h"
#include "engine/load.h"
#include "engine/whisper/test_clip.h"
#include "perceive/hear/hear.h"

namespace saccade::perceive {
namespace {

using engine::padded;
using engine::speak;

constexpr const char* kVoiceModel = "build/models/vad.onnx";
constexpr std::size_t kBlock = 320;

class EarTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!engine::test_file_exists(engine::kTestSpeechModel) ||
        !engine::test_file_exists(kVoiceModel))
      GTEST_SKIP() << "no weights in build/models";
    auto speech = engine::load_speech(engine::kTestSpeechModel, 1);
    auto voice = load_voice_detector(kVoiceModel);
    ASSERT_TRUE(speech.ok()) << speech.error().message;
    ASSERT_TRUE(voice.ok()) << voice.error().message;
    speech_ = std::move(speech).value();
    voice_ = std::move(voice).value();
  }

  std::vector<Utterance> listen(const std::vector<float>& samples, bool partials) {
    Listener listener(*speech_, *voice_, {.partials = partials});
    std::vector<Utterance> all;
    const auto take = [&](core::Result<std::vector<Utterance>> out) {
      ASSERT_TRUE(out.ok()) << out.error().message;
      all.insert(all.end(), out->begin(), out->end());
    };
    for (std::size_t at = 0; at + kBlock <= samples.size(); at += kBlock) {
      ingest::Frame frame;
      frame.time = core::MediaTime::from_us(static_cast<std::int64_t>(at) * 1'000'000 / 16'000);
      const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(at);
      frame.payload = ingest::Sound{{begin, begin + kBlock}, false};
      take(listener.push(frame, core::Knobs{}));
    }
    take(listener.flush());
    return all;
  }

  std::unique_ptr<engine::SpeechModel> speech_;
  std::unique_ptr<VoiceDetector> voice_;
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST_F(EarTest, AnnouncementsAreFoundWhereTheyBegin) {
  const std::vector<std::pair<std::string, std::string>> said = {
      {"Warning. The temperature is too high.", "temperature is too high"},
      {"Please leave the building by the nearest exit.", "please leave"},
      {"The alarm is over. Thank you.", "over"}};
  std::vector<float> sound;
  std::vector<double> starts;
  for (const auto& [text, key] : said) {
    const auto clip = speak(text);
    if (clip.empty()) GTEST_SKIP() << "no espeak-ng or ffmpeg";
    sound.resize(sound.size() + 32'000);
    starts.push_back(static_cast<double>(sound.size()) / 16'000);
    sound.insert(sound.end(), clip.begin(), clip.end());
  }
  sound.resize(sound.size() + 32'000);
  for (const bool partials : {true, false}) {
    std::vector<Utterance> finals;
    std::size_t partial_count = 0;
    for (const Utterance& u : listen(sound, partials)) {
      if (u.final)
        finals.push_back(u);
      else
        ++partial_count;
    }
    ASSERT_EQ(finals.size(), said.size());
    for (std::size_t i = 0; i < said.size(); ++i) {
      EXPECT_NEAR(finals[i].start.seconds(), starts[i], 0.3);
      EXPECT_NE(lower(finals[i].text()).find(said[i].second), std::string::npos)
          << finals[i].text();
    }
    EXPECT_EQ(partial_count > 0, partials);
  }
}

TEST_F(EarTest, SilenceNoiseAndMusicGiveNothing) {
  core::Rng rng(9);
  std::vector<float> sound(20 * 16'000);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    const double t = static_cast<double>(i) / 16'000;
    if (t >= 5 && t < 10) sound[i] = static_cast<float>(rng.uniform() - 0.5) * 0.3F;
    if (t < 10) continue;
    // Chords that change twice a second.
    const double root = 220 * std::exp2(static_cast<double>(static_cast<int>(t * 2) % 5) / 6);
    for (const double ratio : {1.0, 1.25, 1.5, 2.0})
      sound[i] += static_cast<float>(0.08 * std::sin(2 * M_PI * root * ratio * t));
  }
  EXPECT_TRUE(listen(sound, true).empty());
}

TEST_F(EarTest, SpeechIsHeardThroughNoise) {
  core::Rng rng(11);
  auto sound = padded(speak("Please leave the building by the nearest exit."), 1.5, 1.5);
  if (sound.size() < 5 * 16'000) GTEST_SKIP() << "no espeak-ng or ffmpeg";
  for (float& s : sound) s += static_cast<float>(rng.uniform() - 0.5) * 0.02F;
  const auto heard = listen(sound, false);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_NEAR(heard[0].start.seconds(), 1.5, 0.3);
  EXPECT_NE(lower(heard[0].text()).find("please leave"), std::string::npos) << heard[0].text();
}

TEST(LoadVoiceDetector, UnusableFilesAreNamed) {
  const auto cut = std::filesystem::temp_directory_path() /
                   ("saccade-cut-" + std::to_string(getpid()) + ".onnx");
  // The tag and length of a graph that is not there.
  std::ofstream(cut, std::ios::binary) << "\x08\x07\x3A\x90\x4E and so on";
  for (const std::string& path :
       {std::string("build/absent.onnx"), std::string("build"), std::string("CMakeLists.txt"),
        std::string("build/models/ocr-det.onnx"), cut.string()}) {
    const auto voice = load_voice_detector(path);
    ASSERT_FALSE(voice.ok()) << path;
    EXPECT_EQ(voice.error().code, core::ErrorCode::kModelUnusable);
    EXPECT_NE(voice.error().message.find(path), std::string::npos);
  }
  std::filesystem::remove(cut);
}

}  // namespace
}  // namespace saccade::perceive
