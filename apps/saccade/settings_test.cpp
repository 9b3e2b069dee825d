#include "settings.h"

#include <gtest/gtest.h>

#include "folder_for_test.h"

namespace saccade::app {
namespace {

LoadedSettings load(const std::string& toml) {
  LoadedSettings loaded;
  const core::Status status = apply_toml(toml, "saccade.toml", loaded);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return loaded;
}

core::Error refused(const std::string& toml) {
  LoadedSettings loaded;
  const core::Status status = apply_toml(toml, "saccade.toml", loaded);
  EXPECT_FALSE(status.ok()) << toml;
  return status.ok() ? core::Error{} : status.error();
}

TEST(Settings, TomlSetsEveryKindOfField) {
  const Settings s = load(
                         "fps = 2.5\nslo_ms = 300\njson = true\nmodel = \"m.gguf\"\n"
                         "prompt = [\"a, b\", \"c\"]\nsenses = \"see,hear\"\nrefresh_s = 10\n")
                         .settings;
  EXPECT_EQ(s.fps, 2.5);
  EXPECT_EQ(s.slo_ms, 300);
  EXPECT_TRUE(s.json);
  EXPECT_EQ(s.model, "m.gguf");
  EXPECT_EQ(s.prompt, (std::vector<std::string>{"a, b", "c"}));
  EXPECT_EQ(s.senses, (std::vector<std::string>{"see", "hear"}));
  EXPECT_EQ(s.refresh_s, 10);
}

TEST(Settings, AnUnknownKeyNamesTheNearestOne) {
  const core::Error error = refused("\nfsp = 3\n");
  EXPECT_NE(error.message.find("saccade.toml:2"), std::string::npos);
  EXPECT_NE(error.message.find("fsp"), std::string::npos);
  EXPECT_EQ(error.hint, "did you mean fps?");
  EXPECT_NE(refused("slo-ms = 3").hint.find("slo_ms"), std::string::npos);
  EXPECT_NE(refused("zzzzzzzzzz = 3").hint.find("config sample"), std::string::npos);
}

TEST(Settings, RangesTypesAndChoicesAreHeld) {
  EXPECT_NE(refused("fps = -3").message.find("'-3'; allowed is 0..240"), std::string::npos);
  for (const char* bad :
       {"fps = nan",
        "fps = inf",
        "fps = \"5\"",
        "fps = true",
        "fps = [1]",
        "max_new_tokens = 0",
        "max_new_tokens = 1.5",
        "threads = 99999999999999999999",
        "slo_ms = 4294967296",
        "json = 1",
        "json = \"yes\"",
        "model = 3",
        "engine = \"cuda\"",
        "senses = [\"smell\"]",
        "senses = [1]",
        "prompt = [\"\"]",
        "[fps]\nx = 1",
        "prompt = [[\"a\"]]",
        "fps = 1979-05-27",
        "stop = [\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\",\"12\",\"13\","
        "\"14\",\"15\",\"16\",\"17\"]"}) {
    EXPECT_EQ(refused(bad).code, core::ErrorCode::kUsage) << bad;
  }
}

TEST(Settings, BrokenTomlNamesTheLine) {
  EXPECT_NE(refused("fps = 1\nloop = = 2").message.find("saccade.toml:2"), std::string::npos);
  refused(std::string(kConfigBytesMax + 1, '#'));
}

// Found by fuzzing: these took a TOML library down.
TEST(Settings, StrayLettersAreRefusedAndQuotedOnesAreNot) {
  EXPECT_NE(refused("\nfps = \u02B3").message.find("saccade.toml:2"), std::string::npos);
  refused("\u02B3");
  refused("[{A");
  refused("fps = [[[[}");
  refused("fps = 2\x01?\"\u00DC");
  refused("model = \"\\\u02B3\"");
  refused("model = \"\xFF\"");
  refused("model = \"a\\\"\" \u02B3");
  const Settings s = load(
                         "\xEF\xBB\xBF# \u02B3\nmodel = \"\\\\\u02B3\\\"\u02B3\" # \u02B3\n"
                         "out = 'x\\'\nprompt = [\"\"\"\u02B3\n\"\u02B3\"\"\"]\n")
                         .settings;
  EXPECT_EQ(s.model, "\\\u02B3\"\u02B3");
  EXPECT_EQ(s.out, "x\\");
  EXPECT_EQ(s.prompt.at(0), "\u02B3\n\"\u02B3");
}

TEST(Settings, TextsNumbersAndListsAreThoseOfToml) {
  const Settings s =
      load(
          "\"fps\" = +1_0.5e0 # ten\nmodel='C:\\x'\r\nout = \"\"\"\n a\\\n   b\"\"\"\"\"\n"
          "audio = \"\\u00e9\\U0001F600\\t\"\nprompt = [ # two\n 'a', \n\n '''b'c''' ,\n]\n"
          "seed = 1_000\n")
          .settings;
  EXPECT_EQ(s.fps, 10.5);
  EXPECT_EQ(s.model, "C:\\x");
  EXPECT_EQ(s.out, " ab\"\"");
  EXPECT_EQ(s.audio, "é😀\t");
  EXPECT_EQ(s.prompt, (std::vector<std::string>{"a", "b'c"}));
  EXPECT_EQ(s.seed, 1000);
  for (const char* bad : {"fps",
                          "fps =",
                          "= 1",
                          "fps = 1 2",
                          "fps = 01",
                          "fps = 1_",
                          "fps = _1",
                          "fps = .5",
                          "fps = 5.",
                          "fps = 0x10",
                          "fps = 1__0",
                          "fps = +-1",
                          "fps = 1\nfps = 2",
                          "fps.x = 1",
                          "model = \"a",
                          "model = \"a\nb\"",
                          "model = 'a",
                          "model = \"\\q\"",
                          "model = \"\\uD800\"",
                          "model = \"\\u12\"",
                          "model = \"\"\"a",
                          "model = \"\x01\"",
                          "prompt = [\"a\" \"b\"]",
                          "prompt = [\"a\"",
                          "prompt = [,]",
                          "# \x01",
                          "model = bare",
                          "\"\"\"fps\"\"\" = 1",
                          "model = \"\"\"a\"\"\"\"\"\"",
                          "model = {a = 1}",
                          "fps = 5 \x07"}) {
    EXPECT_EQ(refused(bad).code, core::ErrorCode::kUsage) << bad;
  }
}

TEST(Settings, FlagBeatsEnvironmentBeatsFile) {
  const FolderForTest folder;
  const std::string file = folder.write("saccade.toml", "fps = 1\nslo_ms = 1\nthreads = 1\n");
  FlagValues flags;
  flags.config = file;
  flags.given["fps"] = {"3"};
  const auto loaded =
      load_settings(flags, {{"SACCADE_FPS", "2"}, {"SACCADE_SLO_MS", "2"}, {"OTHER", "x"}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->settings.fps, 3);
  EXPECT_EQ(loaded->settings.slo_ms, 2);
  EXPECT_EQ(loaded->settings.threads, 1);
  EXPECT_EQ(loaded->origin.at("fps"), "--fps");
  EXPECT_EQ(loaded->origin.at("slo_ms"), "SACCADE_SLO_MS");
  EXPECT_EQ(loaded->origin.at("threads"), file + ":3");
  const std::string shown = show_config(*loaded, true);
  EXPECT_NE(shown.find("# --fps\n"), std::string::npos);
  EXPECT_NE(shown.find("# default\n"), std::string::npos);
}

TEST(Settings, TheUsersFolderIsRead) {
  const FolderForTest folder;
  folder.write("saccade/config.toml", "fps = 7\n");
  const auto loaded = load_settings({}, {{"XDG_CONFIG_HOME", folder / ""}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->settings.fps, 7);
}

TEST(Settings, EnvironmentListsHaveOneItemPerLine) {
  const auto loaded = load_settings({}, {{"SACCADE_PROMPT", "one, two\nthree\n"}});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->settings.prompt, (std::vector<std::string>{"one, two", "three"}));
}

TEST(Settings, EnvironmentAndFlagErrorsNameWhatWasWritten) {
  const auto unknown = load_settings({}, {{"SACCADE_FSP", "1"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().hint, "did you mean SACCADE_FPS?");
  EXPECT_TRUE(load_settings({}, {{"SACCADE_MODELS_DIR", "/x"}}).ok());
  FlagValues flags;
  flags.given["max_new_tokens"] = {"0"};
  EXPECT_NE(load_settings(flags, {}).error().message.find("--max-new-tokens is '0'"),
            std::string::npos);
  flags = {};
  flags.config = "/no/such/file.toml";
  EXPECT_NE(load_settings(flags, {}).error().message.find("/no/such/file.toml"), std::string::npos);
}

TEST(Settings, TheSampleFileLoadsToTheDefaults) {
  std::string toml;
  const std::string sample = sample_config();
  std::size_t settings = 0;
  for (std::size_t at = 0; at < sample.size();) {
    const auto end = sample.find('\n', at);
    std::string line = sample.substr(at, end - at);
    EXPECT_LE(line.size(), 100U) << line;
    if (line.starts_with("#") && !line.starts_with("# ")) {
      line.erase(0, 1);
      ++settings;
    }
    toml += line + "\n";
    at = end + 1;
  }
  EXPECT_EQ(settings, settings_table().size());
  const LoadedSettings loaded = load(toml);
  EXPECT_EQ(show_config(loaded, false), show_config({}, false));
  EXPECT_EQ(loaded.origin.size(), settings_table().size());
}

TEST(Settings, WhatIsShownCanBeLoadedAgain) {
  LoadedSettings odd;
  odd.settings.prompt = {"say \"hi\"\n\\ \x01", "größe"};
  odd.settings.fps = 0.1;
  EXPECT_EQ(show_config(load(show_config(odd, true)), false), show_config(odd, false));
}

TEST(NearestName, FindsTypingMistakesOnly) {
  const std::vector<std::string> names = {"--prompt", "--fps", "--model"};
  EXPECT_EQ(nearest_name("--promt", names), "--prompt");
  EXPECT_EQ(nearest_name("--modle", names), "--model");
  EXPECT_EQ(nearest_name("--unrelated", names), "");
  EXPECT_EQ(nearest_name("", names), "");
}

}  // namespace
}  // namespace saccade::app
