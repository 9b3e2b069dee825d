#include "transport/push_message.h"

#include <gtest/gtest.h>

#include <string>

namespace saccade::transport {
namespace {

struct Fields {
  std::string magic = "SACP";
  int version = 1, type = 1, format = 0, spare = 0;
  std::uint64_t seq = 1, capture_us = 5;
  std::uint32_t first = 0, second = 0, third = 0;
  std::string payload = "\xFF\xD8\xFF jpeg";
  std::int64_t bytes = -1;  // as long as the payload
};

std::string little(std::uint64_t value, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

std::string message(const Fields& f) {
  std::string out = f.magic;
  for (const int byte : {f.version, f.type, f.format, f.spare}) out += static_cast<char>(byte);
  out += little(f.seq, 8) + little(f.capture_us, 8);
  out += little(f.first, 4) + little(f.second, 4) + little(f.third, 4);
  const auto size = static_cast<std::int64_t>(f.payload.size());
  return out + little(static_cast<std::uint64_t>(f.bytes < 0 ? size : f.bytes), 4) + f.payload;
}

std::string fault_of(const Fields& fields) {
  std::uint64_t seq = 0;
  const std::string bytes = message(fields);
  const auto parsed = parse_push_message(bytes, seq);
  return parsed ? "" : parsed.error().message;
}

Fields raw(std::uint32_t width, std::uint32_t height, std::uint32_t stride) {
  return {.type = 2,
          .format = 1,
          .first = width,
          .second = height,
          .third = stride,
          .payload = std::string(std::size_t{stride} * height, 'x')};
}

Fields sound(std::uint32_t rate, std::size_t bytes) {
  return {.type = 3, .format = 1, .first = rate, .payload = std::string(bytes, 'x')};
}

TEST(PushMessage, EveryTypeBecomesValues) {
  std::uint64_t seq = 0;
  std::string bytes = message({.seq = 9, .capture_us = 1'700'000'000'000'000});
  auto parsed = parse_push_message(bytes, seq);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->type, PushType::kEncoded);
  EXPECT_EQ(parsed->seq, 9U);
  EXPECT_EQ(parsed->capture_us, 1'700'000'000'000'000);
  EXPECT_EQ(parsed->payload, "\xFF\xD8\xFF jpeg");
  bytes = message(raw(4, 2, 16));
  parsed = parse_push_message(bytes, seq);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->stride, 16);
  EXPECT_FALSE(parsed->planar);
  bytes = message(sound(48'000, 960 * 2));
  parsed = parse_push_message(bytes, seq);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->rate, 48'000);
}

TEST(PushMessage, PlanesOfOddSizes) {
  Fields fields{.type = 2,
                .format = 2,
                .first = 3,
                .second = 3,
                .third = 3,
                .payload = std::string(9 + 2 * 4, 'x')};
  EXPECT_EQ(fault_of(fields), "");
  fields.payload.pop_back();
  EXPECT_EQ(fault_of(fields), "the payload's size is 16; allowed is 17");
}

TEST(PushMessage, WhatIsWrongIsNamedWithItsValueAndWhatIsAllowed) {
  EXPECT_EQ(fault_of({.magic = "SACQ"}), "the message does not begin with SACP");
  EXPECT_EQ(fault_of({.version = 2}), "version is 2; allowed is 1");
  EXPECT_EQ(fault_of({.type = 4}), "type is 4; allowed is 1..3");
  EXPECT_EQ(fault_of({.spare = 1}), "byte 7 is 1; allowed is 0");
  EXPECT_EQ(fault_of({.seq = 0}), "seq is 0; allowed is 1..9007199254740991");
  EXPECT_NE(fault_of({.capture_us = 1ULL << 60}).find("capture_us is"), std::string::npos);
  EXPECT_EQ(fault_of({.bytes = 3}), "bytes is 3; allowed is 8");
  EXPECT_EQ(fault_of({.payload = "GIF89a"}), "the payload is no JPEG, PNG or WebP");
  EXPECT_EQ(fault_of({.first = 1}), "width is 1; allowed is 0");
  EXPECT_EQ(fault_of(raw(0, 2, 16)), "width is 0; allowed is 1..16384");
  EXPECT_EQ(fault_of(raw(4, 2, 11)), "stride is 11; allowed is 12..65536");
  EXPECT_EQ(fault_of(raw(201, 1, 603)), "the sides are 201 and 1; allowed is 1..200 to 1");
  EXPECT_EQ(fault_of(sound(7999, 2)), "rate is 7999; allowed is 8000..48000");
  EXPECT_EQ(fault_of(sound(8000, 16'002)), "the payload's size is 16002; allowed is 2..16000");
  EXPECT_EQ(fault_of(sound(8000, 3)),
            "the payload's size is 3; allowed are whole samples of two bytes");
  std::uint64_t seq = 0;
  EXPECT_FALSE(parse_push_message("", seq));
  EXPECT_FALSE(parse_push_message(message({}).substr(0, kPushHeaderBytes), seq));
}

// A raw picture whose sides multiply beyond 32 bits is compared, not wrapped.
TEST(PushMessage, SizesDoNotWrap) {
  Fields fields = raw(4, 2, 16);
  fields.first = 16'384;
  fields.second = 16'384;
  fields.third = 65'536;
  EXPECT_EQ(fault_of(fields), "the payload's size is 32; allowed is 1073741824");
}

}  // namespace
}  // namespace saccade::transport
