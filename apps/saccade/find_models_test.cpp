#include "find_models.h"

#include <gtest/gtest.h>

#include "folder_for_test.h"
#include "models.h"
#include "pull.h"

namespace saccade::app {
namespace {

ModelPlaces places(const FolderForTest& folder) {
  return {{folder / "a", folder / "b"}, folder / "hub"};
}

TEST(FindModels, TheFirstFolderWins) {
  const FolderForTest folder;
  folder.write("b/vad.onnx", "x");
  folder.write("b/ocr-det.onnx", "x");
  folder.write("a/vad.onnx", "x");
  folder.write("b/saccade-mini-text-f16.gguf", "x");
  folder.write("b/saccade-mini-mmproj-f16.gguf", "x");
  const auto found = find_models({}, places(folder));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->vad, folder / "a/vad.onnx");
  EXPECT_EQ(found->ocr_det, folder / "b/ocr-det.onnx");
  EXPECT_EQ(found->mmproj, folder / "b/saccade-mini-mmproj-f16.gguf");
  EXPECT_EQ(found->speech, "");
}

TEST(FindModels, AGivenFileMustBeThere) {
  const FolderForTest folder;
  Settings settings;
  settings.model = folder / "none.gguf";
  EXPECT_EQ(find_models(settings, places(folder)).error().code, core::ErrorCode::kModelUnusable);
  settings = {};
  settings.vad_model = folder / "none.onnx";
  EXPECT_NE(find_models(settings, places(folder)).error().message.find("none.onnx"),
            std::string::npos);
}

TEST(FindModels, TheProjectorBesideAModelIsTakenWhenThereIsOneOnly) {
  const FolderForTest folder;
  Settings settings;
  settings.model = folder.write("m/model-Q8_0.gguf", "x");
  EXPECT_EQ(find_models(settings, places(folder))->mmproj, "");
  folder.write("m/mmproj-model-f16.gguf", "x");
  EXPECT_EQ(find_models(settings, places(folder))->mmproj, folder / "m/mmproj-model-f16.gguf");
  folder.write("m/mmproj-other.gguf", "x");
  EXPECT_EQ(find_models(settings, places(folder))->mmproj, "");
}

TEST(FindModels, AHubNameMeansTheDownloadedModel) {
  const FolderForTest folder;
  const std::string commit(40, 'a');
  Settings settings;
  settings.model = "acme/tiny-GGUF";
  const auto absent = find_models(settings, places(folder));
  EXPECT_NE(absent.error().hint.find("saccade pull acme/tiny-GGUF"), std::string::npos);
  folder.write("hub/models--acme--tiny-GGUF/refs/main", commit);
  folder.write("hub/models--acme--tiny-GGUF/snapshots/" + commit + "/t-Q4_K_M.gguf", "x");
  folder.write("hub/models--acme--tiny-GGUF/snapshots/" + commit + "/mmproj-f16.gguf", "x");
  const auto found = find_models(settings, places(folder));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->model.ends_with("t-Q4_K_M.gguf"));
  EXPECT_TRUE(found->mmproj.ends_with("mmproj-f16.gguf"));

  const auto listed = list_models(places(folder), [](const std::string& path) {
    return core::Result<engine::GgufFacts>(
        path.find("mmproj") == path.npos
            ? core::Result<engine::GgufFacts>({"llama", "tiny", "", 10, 1, 3'800'000, 3})
            : core::Result<engine::GgufFacts>(core::error(core::ErrorCode::kModelUnusable, "cut")));
  });
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].reference, "acme/tiny-GGUF");
  EXPECT_NE(models_text(listed, {}).find("llama, 3.8 M parameters"), std::string::npos);
  EXPECT_NE(models_json(listed).find("\"error\":\"cut\""), std::string::npos);
}

TEST(HubOptions, AreReadAsTheHubsOwnToolsDo) {
  const FolderForTest folder;
  folder.write("home/token", "hf_file\n");
  const auto of = [](const Environment& environment) { return hub_options(environment); };
  EXPECT_EQ(of({{"HF_HOME", folder / "home"}}).token, "hf_file");
  EXPECT_EQ(of({{"HF_HOME", folder / "home"}, {"HF_TOKEN", "hf_env"}}).token, "hf_env");
  EXPECT_EQ(of({{"HF_HOME", "/h"}}).cache_folder, "/h/hub");
  EXPECT_EQ(of({{"HF_HOME", "/h"}, {"HF_HUB_CACHE", "/c"}}).cache_folder, "/c");
  EXPECT_EQ(of({{"HOME", "/u"}}).cache_folder, "/u/.cache/huggingface/hub");
  EXPECT_TRUE(of({{"HF_HUB_OFFLINE", "1"}}).offline);
  EXPECT_FALSE(of({{"HF_HUB_OFFLINE", "0"}}).offline);
  EXPECT_EQ(of({{"HF_ENDPOINT", "https://mirror.example"}}).endpoint, "https://mirror.example");
}

}  // namespace
}  // namespace saccade::app
