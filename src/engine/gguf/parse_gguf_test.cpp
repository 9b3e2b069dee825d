// T17: no header, however broken, gets past the parser or takes it down.
#include "engine/gguf/parse_gguf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "core/rng.h"
#include "engine/gguf/inspect_gguf.h"
#include "engine/load.h"

namespace saccade::engine::gguf {
namespace {

constexpr const char* kText = "models/mini/saccade-mini-text-f16.gguf";
constexpr const char* kVision = "models/mini/saccade-mini-mmproj-f16.gguf";

std::vector<std::uint8_t> read_all(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Writes small GGUF files field by field.
class Writer {
 public:
  Writer(std::uint64_t tensors, std::uint64_t keys) {
    put<std::uint32_t>(0x46554747);
    put<std::uint32_t>(3);
    put(tensors);
    put(keys);
  }
  template <typename T>
  Writer& put(T value) {
    const auto* p = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof(T));
    return *this;
  }
  Writer& text(const std::string& s) {
    put<std::uint64_t>(s.size());
    bytes.insert(bytes.end(), s.begin(), s.end());
    return *this;
  }
  Writer& tensor(const std::string& name, const std::vector<std::uint64_t>& dims,
                 std::uint32_t type, std::uint64_t offset) {
    text(name).put<std::uint32_t>(static_cast<std::uint32_t>(dims.size()));
    for (const auto dim : dims) put(dim);
    put(type).put(offset);
    return *this;
  }
  Writer& data(std::size_t count) {
    bytes.resize((bytes.size() + 31) / 32 * 32 + count);
    return *this;
  }
  std::vector<std::uint8_t> bytes;
};

std::string error_of(const std::vector<std::uint8_t>& bytes) {
  const Parsed parsed = parse_gguf(bytes, bytes.size());
  const auto* error = std::get_if<core::Error>(&parsed);
  return error != nullptr ? error->message : "";
}

constexpr std::uint32_t kF32 = 0;

TEST(ParseGgufTest, ReadsTheBundledModel) {
  for (const char* path : {kText, kVision}) {
    const auto opened = read_gguf(path);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(opened->header.version, 3U);
    EXPECT_GT(opened->header.tensors, 10U);
    EXPECT_GT(opened->header.parameters, 1'000'000U);
    EXPECT_EQ(opened->header.text("general.name"), "saccade-mini");
  }
}

TEST(ParseGgufTest, EveryTruncationIsRefused) {
  const auto whole = read_all(kVision);
  ASSERT_FALSE(whole.empty());
  // Every byte of the first part, then in steps to the end.
  for (std::size_t n = 0; n < whole.size(); n += n < 6000 ? 1 : 50'021) {
    const std::vector<std::uint8_t> cut(whole.begin(),
                                        whole.begin() + static_cast<std::ptrdiff_t>(n));
    ASSERT_NE(error_of(cut), "") << "cut at " << n;
  }
}

TEST(ParseGgufTest, AShortHeadOfAWholeFileAsksForMore) {
  const auto whole = read_all(kText);
  const std::span<const std::uint8_t> head(whole.data(), 4096);
  EXPECT_TRUE(std::holds_alternative<NeedMore>(parse_gguf(head, whole.size())));
}

TEST(ParseGgufTest, RefusesWhatIsNoGguf) {
  EXPECT_EQ(error_of({'h', 'e', 'l', 'l', 'o', '!', '!', '!'}), "not a GGUF file");
  auto bytes = Writer(0, 0).bytes;
  bytes[4] = 0;
  bytes[7] = 3;
  EXPECT_NE(error_of(bytes).find("big-endian"), std::string::npos);
  bytes = Writer(0, 0).bytes;
  bytes[4] = 9;
  EXPECT_NE(error_of(bytes).find("version 9"), std::string::npos);
}

TEST(ParseGgufTest, RefusesLyingCounts) {
  EXPECT_NE(error_of(Writer(UINT64_MAX, 0).bytes).find("tensors"), std::string::npos);
  EXPECT_NE(error_of(Writer(0, UINT64_MAX).bytes).find("entries"), std::string::npos);
  Writer key(0, 1);
  key.put<std::uint64_t>(1ULL << 60);
  EXPECT_NE(error_of(key.bytes).find("metadata key of"), std::string::npos);
  Writer items(0, 1);
  items.text("a").put<std::uint32_t>(9).put<std::uint32_t>(10).put<std::uint64_t>(1ULL << 61);
  EXPECT_NE(error_of(items.bytes).find("items"), std::string::npos);
  Writer nested(0, 1);
  nested.text("a").put<std::uint32_t>(9).put<std::uint32_t>(9).put<std::uint64_t>(1);
  EXPECT_NE(error_of(nested.bytes).find("nests"), std::string::npos);
  Writer twice(0, 2);
  for (int i = 0; i < 2; ++i) twice.text("a").put<std::uint32_t>(4).put<std::uint32_t>(1);
  EXPECT_NE(error_of(twice.bytes).find("twice"), std::string::npos);
}

TEST(ParseGgufTest, RefusesLyingTensors) {
  EXPECT_EQ(error_of(Writer(1, 0).tensor("a", {8}, kF32, 0).data(32).bytes), "");
  const auto bad = [](const std::vector<std::uint64_t>& dims, std::uint32_t type,
                      std::uint64_t offset) {
    return error_of(Writer(1, 0).tensor("a", dims, type, offset).data(64).bytes);
  };
  EXPECT_NE(bad({1ULL << 40, 1ULL << 40}, kF32, 0), "");  // product overflows
  EXPECT_NE(bad({INT64_MAX}, kF32, 0), "");               // bytes overflow
  EXPECT_NE(bad({0}, kF32, 0), "");
  EXPECT_NE(bad({}, kF32, 0), "");
  EXPECT_NE(bad({1, 1, 1, 1, 1}, kF32, 0), "");
  EXPECT_NE(bad({8}, 9999, 0), "");       // no such type
  EXPECT_NE(bad({8}, 4, 0), "");          // a type that was removed
  EXPECT_NE(bad({8}, 2, 0), "");          // Q4_0 comes in blocks of 32
  EXPECT_NE(bad({8}, kF32, 4), "");       // not aligned
  EXPECT_NE(bad({8}, kF32, 64), "");      // behind the end
  EXPECT_NE(bad({8}, kF32, ~31ULL), "");  // offset + size overflows
  const auto overlap =
      Writer(2, 0).tensor("a", {16}, kF32, 0).tensor("b", {8}, kF32, 32).data(64).bytes;
  EXPECT_NE(error_of(overlap).find("overlap"), std::string::npos);
  const auto same =
      Writer(2, 0).tensor("a", {8}, kF32, 0).tensor("a", {8}, kF32, 32).data(64).bytes;
  EXPECT_NE(error_of(same).find("twice"), std::string::npos);
}

TEST(ParseGgufTest, RefusesABadAlignment) {
  for (const std::uint32_t alignment : {0U, 3U, 1U << 31}) {
    Writer w(0, 1);
    w.text("general.alignment").put<std::uint32_t>(4).put(alignment);
    EXPECT_NE(error_of(w.bytes).find("alignment"), std::string::npos) << alignment;
  }
}

// Values that the loaders would assert on or divide by.
TEST(ParseGgufTest, RefusesEntriesThatTheLoadersTrust) {
  const auto with = [](const std::string& key, std::uint32_t type, std::uint32_t value) {
    Writer w(0, 2);
    w.text("general.architecture").put<std::uint32_t>(8).text("clip");
    w.text(key).put(type).put(value);
    const Parsed parsed = parse_gguf(w.bytes, w.bytes.size());
    return check_values(std::get<Header>(parsed)).ok();
  };
  constexpr std::uint32_t kU32 = 4, kI32 = 5;
  EXPECT_TRUE(with("clip.vision.patch_size", kU32, 16));
  EXPECT_FALSE(with("clip.vision.patch_size", kU32, 0));
  EXPECT_FALSE(with("clip.vision.patch_size", kI32, 16));
  EXPECT_FALSE(with("clip.vision.image_size", kU32, 1U << 30));
  EXPECT_FALSE(with("clip.vision.attention.head_count", kU32, 0));
  EXPECT_FALSE(with("clip.vision.projector.scale_factor", kU32, 0));
  EXPECT_FALSE(with("clip.projector_type", kU32, 1));
}

// Flipped bytes and numbers all over both headers: always an answer, never a crash, and whatever
// is accepted keeps its tensors inside the file.
TEST(ParseGgufTest, FourThousandMutationsEndCleanly) {
  core::Rng rng(2026);
  int refused = 0;
  for (const char* path : {kText, kVision}) {
    const auto whole = read_all(path);
    const Parsed parsed = parse_gguf(whole, whole.size());
    const auto header_bytes = static_cast<std::int64_t>(std::get<Header>(parsed).header_bytes);
    for (int round = 0; round < 2000; ++round) {
      std::vector<std::uint8_t> head(whole.begin(), whole.begin() + header_bytes);
      for (auto edits = rng.between(1, 4); edits > 0; --edits) {
        const auto at = static_cast<std::size_t>(rng.between(0, header_bytes - 9));
        if (rng.between(0, 1) == 0) {
          head[at] = static_cast<std::uint8_t>(rng.next());
        } else {
          const std::uint64_t numbers[] = {0, 1, UINT64_MAX, 1ULL << 32, 1ULL << 62, rng.next()};
          std::memcpy(&head[at], &numbers[rng.between(0, 5)], sizeof(std::uint64_t));
        }
      }
      const Parsed mutated = parse_gguf(head, whole.size());
      if (const auto* header = std::get_if<Header>(&mutated)) {
        (void)check_values(*header).ok();
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(InspectGgufTest, NamesWhatIsWrongWithAFile) {
  const auto message = [](const std::string& path) { return read_gguf(path).error().message; };
  EXPECT_NE(message("models/absent.gguf").find("no such file"), std::string::npos);
  EXPECT_NE(message("models").find("is not a file"), std::string::npos);
  EXPECT_NE(message("models/mini/tokenizer.json").find("not a GGUF file"), std::string::npos);
  const std::string empty = ::testing::TempDir() + "empty.gguf";
  std::ofstream(empty).close();
  EXPECT_NE(message(empty).find("is empty"), std::string::npos);
}

TEST(InspectGguf, TheBundledModelNamesItsKindsOfQuestion) {
  const auto facts = inspect_gguf(kText);
  ASSERT_TRUE(facts.ok());
  EXPECT_GT(facts->prompts.size(), 20U);
  EXPECT_EQ("Describe the image.", facts->prompts.at(0));
  EXPECT_TRUE(inspect_gguf(kVision)->prompts.empty());
}

}  // namespace
}  // namespace saccade::engine::gguf
