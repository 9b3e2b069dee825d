// Loading: every way a pair of files can be wrong is one clear sentence.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/rng.h"
#include "engine/gguf/inspect_gguf.h"
#include "engine/llama/mini_model.h"

namespace saccade::engine {
namespace {

using Bytes = std::vector<char>;

Bytes read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string write_file(const std::string& name, const Bytes& bytes) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  return path;
}

// "" when it loads.
std::string load_error(const std::string& text, const std::string& mmproj) {
  LoadOptions options;
  options.model_path = text;
  options.mmproj_path = mmproj;
  options.threads = 1;
  const auto pair = load_vision_language(options);
  if (pair.ok()) return "";
  EXPECT_EQ(pair.error().code, core::ErrorCode::kModelUnusable) << pair.error().message;
  EXPECT_FALSE(pair.error().hint.empty());
  return pair.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LoadTest, FilesInEachOthersPlace) {
  EXPECT_TRUE(has(load_error(test::kMiniVision, ""), "is a vision projector"));
  EXPECT_TRUE(has(load_error(test::kMiniText, test::kMiniText), "is no vision projector"));
}

TEST(LoadTest, AbsentAndForeignFilesAreNamed) {
  EXPECT_TRUE(has(load_error("absent.gguf", ""), "absent.gguf: no such file"));
  EXPECT_TRUE(has(load_error(test::kMiniText, "absent.gguf"), "absent.gguf: no such file"));
  EXPECT_TRUE(has(load_error("models/mini/tokenizer.json", ""), "not a GGUF file"));
}

TEST(LoadTest, ATruncatedFileIsRefused) {
  auto bytes = read_all(test::kMiniText);
  bytes.resize(bytes.size() / 2);
  EXPECT_TRUE(has(load_error(write_file("half.gguf", bytes), ""), "cut short"));
}

// A projector made for another width: both files are named. The last tensor's first dimension and
// so the width of its output is changed in place.
TEST(LoadTest, AnMmprojOfAnotherModelNamesBoth) {
  auto bytes = read_all(test::kMiniVision);
  const std::string name = "mm.model.fc.weight";
  const auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
  ASSERT_NE(at, bytes.end());
  char* const dims = &*at + name.size() + 4;  // after the rank: 768, 192
  std::uint64_t width = 0;
  std::memcpy(&width, dims + 8, 8);
  ASSERT_EQ(width, 192U);
  width = 160;
  std::memcpy(dims + 8, &width, 8);
  const std::string other = write_file("other-mmproj.gguf", bytes);
  const std::string error = load_error(test::kMiniText, other);
  EXPECT_TRUE(has(error, "belongs to another model") && has(error, other) &&
              has(error, test::kMiniText))
      << error;
}

TEST(LoadTest, ProgressIsToldAndCanStopTheLoad) {
  LoadOptions options;
  options.model_path = test::kMiniText;
  options.mmproj_path = test::kMiniVision;
  float last = -1;
  bool ordered = true;
  options.progress = [&](float x) {
    ordered = ordered && x >= last;
    last = x;
    return true;
  };
  ASSERT_TRUE(load_vision_language(options).ok());
  EXPECT_TRUE(ordered);
  EXPECT_FLOAT_EQ(last, 1.0F);
  options.progress = [](float) { return false; };
  const auto stopped = load_vision_language(options);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, core::ErrorCode::kCancelled);
}

TEST(LoadTest, OptionsOutOfRangeAreUsageErrors) {
  LoadOptions options;
  options.model_path = test::kMiniText;
  options.threads = -1;
  EXPECT_EQ(load_vision_language(options).error().code, core::ErrorCode::kUsage);
  options.threads = 1;
  options.context_tokens = 5;
  EXPECT_EQ(load_vision_language(options).error().code, core::ErrorCode::kUsage);
}

TEST(LoadTest, FactsOfAFile) {
  const auto facts = inspect_gguf(test::kMiniVision);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->projector, "idefics3");
  EXPECT_EQ(facts->architecture, "clip");
  EXPECT_NE(describe_backend().find("CPU"), std::string::npos);
}

// T17 end to end: what the header check lets through must not take llama.cpp down either.
TEST(LoadTest, MutatedModelsNeverCrash) {
  core::Rng rng(77);
  int loaded = 0, refused = 0;
  for (const char* const original : {test::kMiniText, test::kMiniVision}) {
    const auto whole = read_all(original);
    const auto opened = gguf::read_gguf(original);
    ASSERT_TRUE(opened.ok());
    const auto header_bytes = static_cast<std::int64_t>(opened->header.header_bytes);
    for (int round = 0; round < 120; ++round) {
      auto bytes = whole;
      for (auto edits = rng.between(1, 3); edits > 0; --edits) {
        const auto at = static_cast<std::size_t>(rng.between(24, header_bytes - 9));
        const std::uint64_t numbers[] = {0, 1, 255, 1ULL << 31, UINT64_MAX, rng.next()};
        std::memcpy(&bytes[at], &numbers[rng.between(0, 5)],
                    rng.between(0, 1) == 0 ? 1 : sizeof(std::uint64_t));
      }
      const std::string path = write_file("mutated.gguf", bytes);
      const bool is_text = original == test::kMiniText;
      LoadOptions options;
      options.model_path = is_text ? path : test::kMiniText;
      options.mmproj_path = is_text ? "" : path;
      options.threads = 1;
      const auto pair = load_vision_language(options);
      (pair.ok() ? loaded : refused) += 1;
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_EQ(loaded + refused, 240);
}

}  // namespace
}  // namespace saccade::engine
