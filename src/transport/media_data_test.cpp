#include "transport/media_data.h"

#include <gtest/gtest.h>

#include <string>

namespace saccade::transport {
namespace {

std::string bytes_of(std::string text) {
  const auto media = read_media(text);
  EXPECT_TRUE(media.ok()) << media.error().message;
  return media ? media->bytes : "";
}

core::ErrorCode refusal_of(std::string text) {
  const auto media = read_media(text);
  EXPECT_FALSE(media.ok());
  return media ? core::ErrorCode::kInternal : media.error().code;
}

TEST(MediaData, DataUrlsInAllTheirForms) {
  const std::string wanted = "\xff\xfe\xfd!";
  for (const char* text :
       {"data:image/png;base64,//79IQ==", "DATA:image/png;BASE64,//79IQ==", "data:;base64,//79IQ==",
        "data:image/png;name=a.png;charset=x;base64,//79IQ==", "data:image/png;base64,//79IQ",
        "data:image/png;base64,__79IQ", "data:image/png;base64,//79\r\n IQ==\n",
        "data:image/png;base64,%2F%2F79IQ%3D%3D", "data:image/png,%ff%FE%fd!",
        "//79IQ==", "//79\nIQ"}) {
    EXPECT_EQ(bytes_of(text), wanted) << text;
  }
}

TEST(MediaData, BrokenEncodingsAreRefused) {
  for (const char* text : {"", "data:image/png;base64,", "data:image/png;base64", "data:", "data:,",
                           "data:image/png;base64,A", "data:image/png;base64,AA=A",
                           "data:image/png;base64,A*==", "data:image/png,%f", "data:image/png,%zz",
                           "not base64!", "=", "\x80\x81"}) {
    EXPECT_EQ(refusal_of(text), core::ErrorCode::kMediaUnusable) << text;
  }
}

// vllm-project/vllm CVE-2026-34755: thousands of frames in one body as a comma list.
TEST(MediaData, AListOfFramesIsNoMedium) {
  std::string list = "data:video/jpeg;base64,/9j/";
  for (int i = 0; i < 5000; ++i) list += ",/9j/";
  EXPECT_EQ(refusal_of(list), core::ErrorCode::kMediaUnusable);
}

// CVE-2025-6242, CVE-2026-24779: whatever names a host is refused, in any writing.
TEST(MediaData, NothingRemoteIsTaken) {
  for (const char* text :
       {"http://127.0.0.1/x.png", "HTTP://localhost/", "https://example.com/a.png",
        "http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://0x7f000001/",
        "http://2130706433/", "http://0177.0.0.1/", "gopher://x/", "ftp://x/", "rtsp://x/",
        "http://a\\@b/", "concat:http://x/|y", "subfile,,start,0,end,1,,:/etc/passwd"}) {
    std::string copy = text;
    const auto media = read_media(copy);
    EXPECT_FALSE(media.ok()) << text;
  }
}

TEST(MediaData, FilesAreNamedRelativeToAFolder) {
  std::string text = "file:///a/b%20c.png";
  const auto media = read_media(text);
  ASSERT_TRUE(media.ok());
  EXPECT_EQ(media->file_path, "a/b c.png");
  EXPECT_EQ(refusal_of("file:///a%00b"), core::ErrorCode::kMediaUnusable);
}

TEST(MediaData, Base64ThereAndBackForEveryLength) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    std::string text = encode_base64(bytes);
    EXPECT_EQ(text.size() % 4, 0U);
    EXPECT_TRUE(decode_base64(text));
    EXPECT_EQ(text, bytes);
    bytes += static_cast<char>(i * 37);
  }
}

}  // namespace
}  // namespace saccade::transport
