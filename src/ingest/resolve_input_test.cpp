#include "ingest/resolve_input.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/limits.h"
#include "ingest/reader_test_support.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;

core::Error refusal(const std::string& url) {
  SourceOptions options;
  options.url = url;
  auto input = resolve_input(options);
  EXPECT_FALSE(input.ok()) << url;
  return input.ok() ? core::Error{} : input.error();
}

TEST(ResolveInput, MissingFile) {
  const auto error = refusal("/tmp/there/is/no.mp4");
  EXPECT_EQ(error.code, ErrorCode::kSourceUnreachable);
  EXPECT_NE(error.message.find("/tmp/there/is/no.mp4: no such file"), std::string::npos);
  EXPECT_FALSE(error.hint.empty());
}

TEST(ResolveInput, EmptyFileAndDirectory) {
  const TestFolder folder;
  folder.store("empty.mp4", {});
  EXPECT_EQ(refusal(folder.path("empty.mp4")).code, ErrorCode::kMediaUnusable);
  EXPECT_NE(refusal(folder.path("empty.mp4")).message.find("0 bytes"), std::string::npos);
  EXPECT_EQ(refusal(folder.path("")).code, ErrorCode::kMediaUnusable);
  EXPECT_NE(refusal(folder.path("")).message.find("directory"), std::string::npos);
}

TEST(ResolveInput, NoPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TestFolder folder;
  folder.store("secret.mp4", {1, 2, 3});
  chmod(folder.path("secret.mp4").c_str(), 0);
  const auto error = refusal(folder.path("secret.mp4"));
  EXPECT_EQ(error.code, ErrorCode::kSourceUnreachable);
  EXPECT_NE(error.message.find("permission"), std::string::npos);
}

TEST(ResolveInput, UnknownSchemesAreRefusedWithTheList) {
  for (const char* url : {"gopher://host/x", "concat:a://b", "ftp://h/x", "file:///etc/passwd",
                          "udp://239.0.0.1:1234", "pipe://1", "data://x"}) {
    const auto error = refusal(url);
    EXPECT_EQ(error.code, ErrorCode::kUsage) << url;
    EXPECT_NE(error.message.find("rtsp, rtsps"), std::string::npos) << error.message;
  }
}

TEST(ResolveInput, OptionsOutOfRangeAreNamed) {
  SourceOptions options;
  options.url = "rtsp://host/x";
  options.fps = -1;
  EXPECT_EQ(resolve_input(options).error().code, ErrorCode::kUsage);
  options.fps = 5;
  options.loop = true;
  EXPECT_EQ(resolve_input(options).error().code, ErrorCode::kUsage);
  options.loop = false;
  options.watchdog = std::chrono::milliseconds(0);
  EXPECT_NE(resolve_input(options).error().message.find("watchdog is 0 ms"), std::string::npos);
  options.watchdog = std::chrono::milliseconds(3000);
  options.connect_limit = std::chrono::milliseconds(1);
  EXPECT_NE(resolve_input(options).error().message.find("connect limit is 1 ms"),
            std::string::npos);
  options.connect_limit = std::chrono::milliseconds(0);
  EXPECT_TRUE(resolve_input(options).ok());
  options.want_audio = options.want_video = false;
  EXPECT_EQ(resolve_input(options).error().code, ErrorCode::kUsage);
}

TEST(ResolveInput, LongAndDirtyNames) {
  EXPECT_EQ(refusal("rtsp://h/" + std::string(core::limits::kSourceUrlBytesMax, 'a')).code,
            ErrorCode::kUsage);
  EXPECT_EQ(refusal("rtsp://h/a\nb").code, ErrorCode::kUsage);
  EXPECT_EQ(refusal("").code, ErrorCode::kUsage);
  EXPECT_EQ(refusal("rtsp:///x").code, ErrorCode::kUsage);
}

TEST(ResolveInput, KindsAndNames) {
  SourceOptions options;
  options.url = "rtsp://u:canary@host:554/live?token=canary";
  auto camera = resolve_input(options);
  ASSERT_TRUE(camera.ok());
  EXPECT_EQ(camera->kind, SourceKind::kPushed);
  EXPECT_EQ(camera->name.find("canary"), std::string::npos);
  options.url = "https://host/live.m3u8";
  EXPECT_EQ(resolve_input(options)->kind, SourceKind::kPulled);
}

TEST(ResolveInput, ADeviceThatIsAbsentOrNone) {
  const auto absent = refusal("/dev/video99");
  EXPECT_EQ(absent.code, ErrorCode::kSourceUnreachable);
  EXPECT_NE(absent.message.find("/dev/video99: no such device"), std::string::npos);
}

TEST(ResolveInput, AnRtspCertificateCannotBeCheckedSoItMustNotMatter) {
  const auto error = refusal("RTSPS://u:canary@host/live");
  EXPECT_EQ(error.code, ErrorCode::kUsage);
  EXPECT_NE(error.hint.find("--tls-insecure"), std::string::npos);
  EXPECT_EQ((error.message + error.hint).find("canary"), std::string::npos);
  SourceOptions options;
  options.url = "rtsps://host/live";
  options.tls_insecure = true;
  EXPECT_TRUE(resolve_input(options).ok());
}

TEST(ResolveInput, CertificatesToTrustAreTakenOverOrRefusedByName) {
  const TestFolder folder;
  const std::string text = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";
  folder.store("ca.pem", {text.begin(), text.end()});
  folder.store("key.pem", {'x'});
  SourceOptions options;
  options.url = "https://host/live.m3u8";
  options.tls_ca_file = folder.path("ca.pem");
  auto input = resolve_input(options);
  ASSERT_TRUE(input.ok()) << input.error().message;
  std::string copy(text.size() + 1, ' ');
  EXPECT_EQ(pread(input->certificates.get(), copy.data(), copy.size(), 0), std::ssize(text));
  EXPECT_EQ(copy.substr(0, text.size()), text);
  for (const std::string& bad :
       {folder.path("key.pem"), folder.path("none.pem"), folder.path("")}) {
    options.tls_ca_file = bad;
    const auto refused = resolve_input(options);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
    EXPECT_NE(refused.error().message.find(bad), std::string::npos);
  }
}

}  // namespace
}  // namespace saccade::ingest
