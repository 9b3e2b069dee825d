#include "transport/read_json.h"

#include <gtest/gtest.h>

#include <string>

namespace saccade::transport {
namespace {

std::string complaint(std::string_view text) {
  const auto document = JsonDocument::parse(text);
  return document ? "" : document.error().message;
}

TEST(ReadJson, WhatIsNoJsonIsRefusedWithoutRepeatingIt) {
  for (const char* text : {"", "{", "{\"a\":}", "[1,]", "nul", "{\"a\":1}x", "{\"a\":\"\xff\"}",
                           R"({"a":"\ud800"})", "\"\x01\"", "{\"secret-key"}) {
    const std::string message = complaint(text);
    EXPECT_FALSE(message.empty()) << text;
    EXPECT_EQ(message.find("secret"), std::string::npos);
  }
}

TEST(ReadJson, AKeyGivenTwiceIsRefused) {
  EXPECT_NE(complaint(R"({"a":1,"b":{"a":2},"a":3})").find("'a' twice"), std::string::npos);
  EXPECT_EQ(complaint(R"({"a":1,"b":{"a":2}})"), "");
}

TEST(ReadJson, DepthAndNumberOfValuesAreBounded) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_EQ(complaint(nested(kJsonDepthMax)), "");
  EXPECT_NE(complaint(nested(kJsonDepthMax + 1)), "");
  EXPECT_NE(complaint(nested(100'000)), "");
  std::string many = "[0";
  for (std::size_t i = 0; i < kJsonValuesMax; ++i) many += ",0";
  EXPECT_NE(complaint(many + "]"), "");
}

// ggml-org/llama.cpp CVE-2026-21869: numbers reach code below with the wrong sign or size.
TEST(ReadJson, WholeNumbersOutsideTheirRangeAreNamedAndNeverWrap) {
  const auto read = [](const std::string& number) {
    auto document = JsonDocument::parse("{\"n\":" + number + "}");
    EXPECT_TRUE(document.ok());
    const auto value = document->root().integer("n", {1, 4096});
    EXPECT_EQ(value.has_value(), !document->error().error.has_value());
    EXPECT_EQ(document->error().param, value ? "" : "n");
    return value;
  };
  EXPECT_EQ(read("1"), 1);
  EXPECT_EQ(read("4096"), 4096);
  EXPECT_EQ(read("7.0"), 7);
  for (const char* bad :
       {"0", "-1", "4097", "1.5", "1e308", "-1e308", "18446744073709551615", "9223372036854775808",
        "-9223372036854775808", "4294967297", "\"5\"", "true", "[]"}) {
    EXPECT_EQ(read(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(JsonDocument::parse("{\"n\":null}")->root().integer("n", {1, 2}), std::nullopt);
}

TEST(ReadJson, TheFirstErrorStaysWithItsPath) {
  auto document = JsonDocument::parse(R"({"a":[{"b":"x"},{"b":7}],"c":"y"})");
  ASSERT_TRUE(document.ok());
  for (const JsonReader& item : document->root().items("a", 8)) (void)item.text("b", 8);
  (void)document->root().flag("c");
  EXPECT_EQ(document->error().param, "a[1].b");
}

}  // namespace
}  // namespace saccade::transport
