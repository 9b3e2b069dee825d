// A tiny, well-formed file is built in memory and then broken in every way a hostile one could be.
#include "engine/whisper/check_weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "core/rng.h"

namespace saccade::engine {
namespace {

constexpr std::int32_t kWidth = 64;
constexpr std::size_t kHeaderBytes = 4 + 11 * 4;
constexpr std::size_t kFilterBytes = 8 + 80 * 201 * 4;

void put(std::string& out, std::int32_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_tensor(std::string& out, const std::string& name, const std::vector<std::int32_t>& shape) {
  const bool half = shape.size() > 1 && name.find("positional") == std::string::npos &&
                    name.find("bias") == std::string::npos;
  put(out, static_cast<std::int32_t>(shape.size()));
  put(out, static_cast<std::int32_t>(name.size()));
  put(out, half ? 1 : 0);
  std::size_t count = 1;
  for (const std::int32_t size : shape) {
    put(out, size);
    count *= static_cast<std::size_t>(size);
  }
  out += name;
  out.append(count * (half ? 2 : 4), '\0');
}

void put_block(std::string& out, const std::string& block, bool cross) {
  const auto norm = [&](const std::string& name) {
    put_tensor(out, block + name + ".weight", {kWidth});
    put_tensor(out, block + name + ".bias", {kWidth});
  };
  for (const std::string attention : {".attn", ".cross_attn"}) {
    if (attention == ".cross_attn" && !cross) continue;
    norm(attention + "_ln");
    for (const std::string part : {".query", ".key", ".value", ".out"}) {
      put_tensor(out, block + attention + part + ".weight", {kWidth, kWidth});
      if (part != ".key") put_tensor(out, block + attention + part + ".bias", {kWidth});
    }
  }
  norm(".mlp_ln");
  put_tensor(out, block + ".mlp.0.weight", {kWidth, 4 * kWidth});
  put_tensor(out, block + ".mlp.0.bias", {4 * kWidth});
  put_tensor(out, block + ".mlp.2.weight", {4 * kWidth, kWidth});
  put_tensor(out, block + ".mlp.2.bias", {kWidth});
}

std::string head_and_vocabulary() {
  std::string out;
  put(out, 0x67676D6C);
  for (const std::int32_t v : {51864, 1500, kWidth, 1, 4, 448, kWidth, 1, 1, 80, 1}) put(out, v);
  put(out, 80);
  put(out, 201);
  out.append(80 * 201 * 4, '\0');
  put(out, 50256);
  for (std::int32_t i = 0; i < 50256; ++i) {
    const std::string token = i == 0 ? " " : std::to_string(i);
    put(out, static_cast<std::int32_t>(token.size()));
    out += token;
  }
  return out;
}

std::string whole_file() {
  std::string out = head_and_vocabulary();
  put_tensor(out, "encoder.positional_embedding", {kWidth, 1500});
  put_tensor(out, "encoder.conv1.weight", {3, 80, kWidth});
  put_tensor(out, "encoder.conv1.bias", {1, kWidth});
  put_tensor(out, "encoder.conv2.weight", {3, kWidth, kWidth});
  put_tensor(out, "encoder.conv2.bias", {1, kWidth});
  for (const std::string name : {"encoder.ln_post", "decoder.ln"}) {
    put_tensor(out, name + ".weight", {kWidth});
    put_tensor(out, name + ".bias", {kWidth});
  }
  put_tensor(out, "decoder.positional_embedding", {kWidth, 448});
  put_tensor(out, "decoder.token_embedding.weight", {kWidth, 51864});
  for (int i = 0; i < 4; ++i) put_block(out, "encoder.blocks." + std::to_string(i), false);
  put_block(out, "decoder.blocks.0", true);
  return out;
}

// Empty when accepted, else the message.
std::string verdict(const std::string& bytes) {
  std::istringstream file(bytes);
  const auto shape = check_whisper_weights(file, bytes.size(), "model.bin");
  if (shape.ok()) return {};
  EXPECT_EQ(shape.error().code, core::ErrorCode::kModelUnusable);
  EXPECT_FALSE(shape.error().hint.empty());
  EXPECT_EQ(shape.error().message.rfind("model.bin: ", 0), 0U);
  return shape.error().message;
}

std::string with_field(std::string bytes, std::size_t at, std::int32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

TEST(CheckWeights, AcceptsAWellFormedFile) {
  const std::string file = whole_file();
  std::istringstream in(file);
  const auto shape = check_whisper_weights(in, file.size(), "model.bin");
  ASSERT_TRUE(shape.ok()) << shape.error().message;
  EXPECT_TRUE(shape->english_only());
  EXPECT_EQ(shape->text_layers, 1);
}

TEST(CheckWeights, NamesWhatOtherFilesAre) {
  EXPECT_NE(verdict("").find("empty"), std::string::npos);
  EXPECT_NE(verdict("GGUF and more").find("GGUF"), std::string::npos);
  EXPECT_NE(verdict("hello, I am no model").find("mark"), std::string::npos);
}

TEST(CheckWeights, RefusesEveryTruncation) {
  const std::string file = whole_file();
  core::Rng rng(1);
  for (std::size_t bytes : {std::size_t{4}, kHeaderBytes, kHeaderBytes + 8,
                            kHeaderBytes + kFilterBytes, file.size() - 1, file.size() - 256})
    EXPECT_NE(verdict(file.substr(0, bytes)), "") << bytes;
  for (int i = 0; i < 50; ++i) {
    const auto bytes =
        static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(file.size()) - 1));
    EXPECT_NE(verdict(file.substr(0, bytes)), "") << bytes;
  }
}

TEST(CheckWeights, RefusesHostileHeaderFields) {
  const std::string head = head_and_vocabulary();
  for (std::size_t field = 0; field < 11; ++field)
    for (const std::int32_t value : {-1, 0, 7, 2'000'000'000, INT32_MIN, INT32_MAX}) {
      if (field == 10 && value == 7) continue;  // q8_0 is a float type
      const std::string fault = verdict(with_field(head, 4 + 4 * field, value));
      EXPECT_NE(fault, "") << field << " " << value;
      if (field == 10 && value == 0) continue;  // f32 is one too; the tensors are then missed
      EXPECT_NE(fault.find("allowed"), std::string::npos) << field << " " << value;
    }
}

TEST(CheckWeights, RefusesHostileVocabularyAndFilters) {
  const std::string head = head_and_vocabulary();
  for (const std::int32_t value : {-1, 0, 81, INT32_MAX}) {
    EXPECT_NE(verdict(with_field(head, kHeaderBytes, value)), "");
    EXPECT_NE(verdict(with_field(head, kHeaderBytes + 4, value)), "");
  }
  const std::size_t count_at = kHeaderBytes + kFilterBytes;
  for (const std::int32_t value : {-1, 0, 100, 51865, INT32_MAX})
    EXPECT_NE(verdict(with_field(head, count_at, value)).find("tokens"), std::string::npos);
  for (const std::int32_t value : {-1, 513, INT32_MAX})
    EXPECT_NE(verdict(with_field(head, count_at + 4, value)).find("bytes"), std::string::npos);
  // Without a token for a space whisper.cpp would throw in the middle of a call.
  std::string no_space = head;
  no_space[count_at + 8] = '_';
  EXPECT_NE(verdict(no_space).find("space"), std::string::npos);
}

TEST(CheckWeights, RefusesHostileTensors) {
  const std::string head = head_and_vocabulary();
  const std::string file = whole_file();
  const std::size_t first = head.size();  // rank, name length, type, two sizes, name
  for (const std::int32_t value : {-1, 0, 4, INT32_MAX})
    EXPECT_NE(verdict(with_field(file, first, value)), "") << "rank " << value;
  for (const std::int32_t value : {-1, 0, 129, INT32_MAX})
    EXPECT_NE(verdict(with_field(file, first + 4, value)), "") << "name length " << value;
  for (const std::int32_t value : {-1, 1, 40, INT32_MAX})
    EXPECT_NE(verdict(with_field(file, first + 8, value)), "") << "type " << value;
  for (const std::int32_t value : {-64, 0, 65, INT32_MAX})
    EXPECT_NE(verdict(with_field(file, first + 12, value)), "") << "size " << value;
  std::string twice = file;
  put_tensor(twice, "decoder.ln.bias", {kWidth});
  EXPECT_NE(verdict(twice).find("twice"), std::string::npos);
  std::string unknown = file;
  put_tensor(unknown, "decoder.ln.surprise", {kWidth});
  EXPECT_NE(verdict(unknown), "");
  EXPECT_NE(verdict(file + "trailing bytes"), "");
}

}  // namespace
}  // namespace saccade::engine
