#include <gtest/gtest.h>

#include "ingest/ingest.h"

namespace saccade::ingest {
namespace {

TEST(RedactUrl, UserInfoGoes) {
  EXPECT_EQ(redact_url("rtsp://user:pass@host/x"), "rtsp://host/x");
  EXPECT_EQ(redact_url("rtsp://user@host:8554/x"), "rtsp://host:8554/x");
  EXPECT_EQ(redact_url("rtsps://:secret@[::1]:322/x"), "rtsps://[::1]:322/x");
}

TEST(RedactUrl, AwkwardPasswordsNeverShow) {
  for (const char* url :
       {"rtsp://u:canary@x@host/a", "rtsp://u:can/canary@host/a", "rtsp://u:p@canary:1@host/a"}) {
    EXPECT_EQ(redact_url(url).find("canary"), std::string::npos) << redact_url(url);
    EXPECT_NE(redact_url(url).find("host/a"), std::string::npos);
  }
}

TEST(RedactUrl, SecretParametersGoOthersStay) {
  EXPECT_EQ(redact_url("https://h/live.m3u8?lang=en&token=canary"),
            "https://h/live.m3u8?lang=en&token=***");
  EXPECT_EQ(redact_url("srt://h:9000?mode=caller&passphrase=canary&latency=80"),
            "srt://h:9000?mode=caller&passphrase=***&latency=80");
  EXPECT_EQ(redact_url("http://h/x?API_KEY=canary;q=1"), "http://h/x?API_KEY=***;q=1");
}

TEST(RedactUrl, PlainNamesStayAsTheyAre) {
  for (const char* name : {"/tmp/a@b:c.mp4", "-", "/dev/video0", "rtsp://host:8554/live",
                           "rtsp://[fe80::1]/a@b", "http://host/@channel/live?x=1", ""}) {
    EXPECT_EQ(redact_url(name), name);
  }
}

}  // namespace
}  // namespace saccade::ingest
