#include "transport/hub_listing.h"

#include <gtest/gtest.h>

namespace saccade::transport {
namespace {

const std::string kCommit(40, 'a');
const std::string kHash(64, 'b');

std::string entry(const std::string& path, const std::string& size = "10",
                  const std::string& sha = kHash) {
  return R"({"rfilename":")" + path + R"(","lfs":{"sha256":")" + sha + R"(","size":)" + size +
         R"(,"pointerSize":1}})";
}

std::string listing(const std::string& files) {
  return R"({"sha":")" + kCommit + R"(","siblings":[)" + files + "]}";
}

std::vector<HubFile> files(const std::vector<std::string>& paths) {
  std::vector<HubFile> out;
  out.reserve(paths.size());
  for (const std::string& path : paths) out.push_back({path, 1, kHash});
  return out;
}

TEST(HubModel, NamesAreHeldToWhatTheHubAllows) {
  const auto model = parse_hub_model("acme/tiny-GGUF:q8_0");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->repo, "acme/tiny-GGUF");
  EXPECT_EQ(model->quant, "q8_0");
  for (const char* bad : {"", "acme", "acme/", "/x", "a/b/c", "../x/y", "a/..", "a/.b", "a b/c",
                          "a/b:", "a/b:../c", "a--b/c", "a/b%2f", "-a/b", "a/b:x y"}) {
    EXPECT_FALSE(parse_hub_model(bad).ok()) << bad;
  }
}

TEST(HubListing, KeepsGgufFilesOnly) {
  const auto read = parse_hub_listing(listing(R"({"rfilename":"README.md","size":3},)" +
                                              entry("b.gguf") + "," + entry("a/c.GGUF")));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->files.size(), 2U);
  EXPECT_EQ(read->files[0].path, "a/c.GGUF");
  EXPECT_EQ(read->files[1].bytes, 10U);
  EXPECT_EQ(read->commit, kCommit);
}

TEST(HubListing, RefusesWhatIsHostile) {
  const std::vector<std::string> bad = {
      "",
      "[]",
      "{",
      std::string(100'000, '['),
      "{\"sha\":\"" + kCommit + "\"}",
      "{\"sha\":\"../../x\",\"siblings\":[]}",
      listing("1"),
      listing("{\"rfilename\":7}"),
      listing(entry("../x.gguf")),
      listing(entry("/etc/x.gguf")),
      listing(entry("a//x.gguf")),
      listing(entry("a/../x.gguf")),
      listing(entry(".hidden/x.gguf")),
      listing(entry("a\\\\x.gguf")),
      listing(entry("a\\u0000x.gguf")),
      listing(entry("x.gguf", "0")),
      listing(entry("x.gguf", "-1")),
      listing(entry("x.gguf", "1e30")),
      listing(entry("x.gguf", "18446744073709551615")),
      listing(entry("x.gguf", "10", "../../x")),
      listing(entry("x.gguf", "10", std::string(64, 'G'))),
      listing(R"({"rfilename":"x.gguf","size":10})"),
      listing(entry("x.gguf") + "," + entry("x.gguf")),
      listing(entry(std::string(600, 'x') + ".gguf")),
  };
  for (const std::string& text : bad) {
    EXPECT_FALSE(parse_hub_listing(text).ok()) << text.substr(0, 200);
  }
}

TEST(HubChoice, DefaultQuantAndProjectorAreFoundByThemselves) {
  const auto choice =
      choose_hub_files(files({"m-IQ4_K_M.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf",
                              "mmproj-m-bf16.gguf", "mmproj-m-f16.gguf", "mmproj-m-f32.gguf"}),
                       "");
  ASSERT_TRUE(choice.ok());
  ASSERT_EQ(choice->text.size(), 1U);
  EXPECT_EQ(choice->text[0].path, "m-Q4_K_M.gguf");
  EXPECT_EQ(choice->mmproj.at(0).path, "mmproj-m-f16.gguf");
}

TEST(HubChoice, FallsBackOnlyWhenNothingWasAskedFor) {
  const auto some = files({"m-f16.gguf", "m-Q8_0.gguf"});
  EXPECT_EQ(choose_hub_files(some, "")->text.at(0).path, "m-Q8_0.gguf");
  EXPECT_EQ(choose_hub_files(some, "F16")->text.at(0).path, "m-f16.gguf");
  const auto refused = choose_hub_files(some, "Q5_K_M");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().hint.find("m-Q8_0.gguf"), std::string::npos);
  EXPECT_FALSE(choose_hub_files(files({"mmproj-f16.gguf"}), "").ok());
}

TEST(HubChoice, SplitModelsComeWhole) {
  const auto all = files({"q/m-Q4_K_M-00001-of-00002.gguf", "q/m-Q4_K_M-00002-of-00002.gguf",
                          "q/m-Q8_0-00001-of-00002.gguf"});
  const auto choice = choose_hub_files(all, "");
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->text.size(), 2U);
  EXPECT_FALSE(choose_hub_files(all, "Q8_0").ok());  // the second part is missing
}

}  // namespace
}  // namespace saccade::transport
