#include "ingest/allow_list.h"

#include <gtest/gtest.h>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <sstream>

namespace saccade::ingest {
namespace {

TEST(AllowList, EveryNameIsOneThatFfmpegKnows) {
  std::istringstream decoders(decoder_list()), containers(container_list());
  for (std::string name; std::getline(decoders, name, ',');) {
    EXPECT_NE(avcodec_find_decoder_by_name(name.c_str()), nullptr) << name;
    EXPECT_TRUE(decoder_allowed(name));
  }
  for (std::string name; std::getline(containers, name, ',');) {
    EXPECT_NE(av_find_input_format(name.c_str()), nullptr) << name;
    EXPECT_TRUE(container_allowed(name));
  }
}

TEST(AllowList, DangerousOnesAreOutside) {
  for (const char* name : {"hls", "applehttp", "concat", "dash", "image2", "lavfi", "rtsp", "sdp",
                           "tty", "srt", "ass", "svg_pipe", "j2k_pipe", "", ",", "mo", "mov2"}) {
    EXPECT_FALSE(container_allowed(name)) << name;
  }
  for (const char* name :
       {"jpeg2000", "libopenjpeg", "exr", "psd", "tiff2", "", "libjxl", "librsvg"}) {
    EXPECT_FALSE(decoder_allowed(name)) << name;
  }
  EXPECT_TRUE(container_allowed("mov,mp4,m4a,3gp,3g2,mj2"));
}

TEST(AllowList, NoSchemeMayReachFilesOrOtherProtocols) {
  for (const auto scheme : {Scheme::kRtsp, Scheme::kRtmp, Scheme::kSrt, Scheme::kHttp}) {
    const auto rules = rules_for(scheme);
    EXPECT_FALSE(rules.protocols.empty());
    for (const char* bad :
         {"file", "concat", "pipe", "data", "subfile", "ftp", "gopher", "cache"}) {
      EXPECT_EQ(rules.protocols.find(bad), std::string::npos) << bad;
    }
  }
  EXPECT_TRUE(rules_for(Scheme::kUnknown).containers.empty());
  EXPECT_TRUE(rules_for(Scheme::kDevice).protocols.empty());
}

TEST(AllowList, SchemesAreReadWithoutRegardToCase) {
  EXPECT_EQ(scheme_of("RTSP://host/x"), Scheme::kRtsp);
  EXPECT_EQ(scheme_of("rtsps://host/x"), Scheme::kRtsp);
  EXPECT_EQ(scheme_of("srt://host:1"), Scheme::kSrt);
  EXPECT_EQ(scheme_of("/dev/video0"), Scheme::kDevice);
  EXPECT_EQ(scheme_of("file:///etc/passwd"), Scheme::kUnknown);
  EXPECT_EQ(scheme_of("http:/x"), Scheme::kUnknown);
  EXPECT_EQ(scheme_of(""), Scheme::kUnknown);
}

}  // namespace
}  // namespace saccade::ingest
