#include "transport/read_multipart.h"

#include <gtest/gtest.h>

#include <string>

namespace saccade::transport {
namespace {

constexpr const char* kType = "multipart/form-data; boundary=XX";

std::string shown(const std::string& type, const std::string& body) {
  const auto parts = read_multipart(type, body);
  if (!parts) return "(refused)";
  std::string out;
  for (const FormPart& part : *parts) {
    out += part.name + (part.file ? "!" : "") + "=" + std::string(part.data) + ";";
  }
  return out;
}

TEST(ReadMultipart, FieldsAndFilesComeOutAsTheyWentIn) {
  const std::string body =
      "preamble\r\n--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n"
      "--XX\r\ncontent-disposition: form-data; name=\"file\"; filename=\"x \\\"y\\\".wav\"\r\n"
      "Content-Type: audio/wav\r\n\r\nRIFF\r\n--X\r\n--XY--more\r\n"
      "--XX\r\nContent-Disposition: form-data; name=empty\r\n\r\n\r\n--XX--\r\n";
  EXPECT_EQ(shown("Multipart/Form-Data; charset=utf-8; boundary=\"XX\"", body),
            "a=one;file!=RIFF\r\n--X\r\n--XY--more;empty=;");
}

TEST(ReadMultipart, WhatBreaksOffIsRefused) {
  const std::string body =
      "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--XX--";
  EXPECT_EQ(shown(kType, body), "a=one;");
  for (std::size_t cut = 0; cut < body.size(); ++cut) {
    EXPECT_EQ(shown(kType, body.substr(0, cut)), "(refused)") << cut;
  }
}

TEST(ReadMultipart, OtherTypesAndStrangeBoundariesAreRefused) {
  const std::string body = "--XX\r\n\r\n\r\n--XX--";
  for (const char* type : {"", "application/json", "multipart/form-data",
                           "multipart/form-data; boundary=", "multipart/mixed; boundary=XX"}) {
    EXPECT_EQ(shown(type, body), "(refused)") << type;
  }
  EXPECT_EQ(shown("multipart/form-data; boundary=" + std::string(71, 'x'), body), "(refused)");
}

TEST(ReadMultipart, PartsAndHeadsAreBounded) {
  std::string many;
  for (std::size_t i = 0; i <= kFormPartsMax; ++i) {
    many += "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n";
  }
  EXPECT_EQ(shown(kType, many + "--XX--"), "(refused)");
  const std::string head(kFormHeadBytesMax, 'h');
  EXPECT_EQ(shown(kType, "--XX\r\nX: " + head + "\r\n\r\nx\r\n--XX--"), "(refused)");
}

}  // namespace
}  // namespace saccade::transport
