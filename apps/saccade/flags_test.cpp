#include "flags.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "completion.h"

namespace saccade::app {
namespace {

class FlagsTest : public ::testing::Test {
 protected:
  FlagsTest() : app("watches and listens", "saccade") {
    app.require_subcommand(1);
    CLI::App* watch = app.add_subcommand("watch", "Say what a source shows; it's live");
    watch->add_option("source", source, "File or address");
    add_setting_flags(*watch,
                      {SettingGroup::kSource, SettingGroup::kQuestions, SettingGroup::kPace,
                       SettingGroup::kModels, SettingGroup::kOutput},
                      values);
    app.add_subcommand("doctor", "Tell what works here");
    app.add_subcommand("decode-worker", "hidden")->group("");
  }
  core::Error refused(const std::string& line) {
    try {
      app.parse(line);
    } catch (const CLI::ParseError& error) {
      return explain_parse_error(error, app);
    }
    ADD_FAILURE() << line << " was taken";
    return {};
  }

  CLI::App app;
  FlagValues values;
  std::string source;
};

TEST_F(FlagsTest, ValuesAreTakenAsTheyStand) {
  app.parse(
      "watch clip.mp4 --fps -3 --prompt 'what is it?' --prompt where --json --no-loop "
      "--config my.toml --senses see,hear");
  EXPECT_EQ(source, "clip.mp4");
  EXPECT_EQ(values.given.at("fps"), std::vector<std::string>{"-3"});
  EXPECT_EQ(values.given.at("prompt"), (std::vector<std::string>{"what is it?", "where"}));
  EXPECT_EQ(values.given.at("json"), std::vector<std::string>{"true"});
  EXPECT_EQ(values.given.at("loop"), std::vector<std::string>{"false"});
  EXPECT_EQ(values.given.at("senses"), std::vector<std::string>{"see,hear"});
  EXPECT_EQ(values.config, "my.toml");
  EXPECT_EQ(values.given.size(), 5U);
}

TEST_F(FlagsTest, AListFlagDoesNotSwallowTheSource) {
  app.parse("watch --prompt x clip.mp4");
  EXPECT_EQ(source, "clip.mp4");
}

TEST_F(FlagsTest, MistakesNameTheNearestFlag) {
  const core::Error error = refused("watch clip.mp4 --promt x");
  EXPECT_EQ(error.message, "saccade watch knows no flag --promt");
  EXPECT_EQ(error.hint, "did you mean --prompt?");
  EXPECT_EQ(error.code, core::ErrorCode::kUsage);
  EXPECT_EQ(refused("watch a.mp4 b.mp4").message, "saccade watch does not expect 'b.mp4'");
  EXPECT_EQ(refused("wacth").hint, "did you mean watch?");
  EXPECT_NE(refused("watch --fps").message.find("fps"), std::string::npos);
  EXPECT_FALSE(refused("").message.empty());
}

TEST_F(FlagsTest, HelpShowsRangesAndHidesTheNegations) {
  const std::string help = app.get_subcommand("watch")->help();
  EXPECT_NE(help.find("--fps"), std::string::npos);
  EXPECT_NE(help.find("0..240 pictures per second"), std::string::npos);
  EXPECT_EQ(help.find("--no-json"), std::string::npos);
}

TEST_F(FlagsTest, CompletionKnowsCommandsAndFlags) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(app, shell);
    ASSERT_TRUE(script.ok());
    EXPECT_NE(script->find("watch"), std::string::npos) << shell;
    EXPECT_NE(script->find("slo-ms"), std::string::npos) << shell;
    EXPECT_EQ(script->find("decode-worker"), std::string::npos) << shell;
    EXPECT_EQ(script->find("no-json"), std::string::npos) << shell;
  }
  EXPECT_FALSE(completion_script(app, "tcsh").ok());
}

// What a user gets after pressing Tab, asked of the shell itself.
TEST_F(FlagsTest, BashCompletes) {
  const auto script = completion_script(app, "bash");
  const std::string command =
      "bash -c '" +
      [&] {
        std::string out;
        for (const char c : *script) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
        return out;
      }() +
      "\nCOMP_WORDS=(saccade watch --slo); COMP_CWORD=2; _saccade; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(saccade wa); COMP_CWORD=1; _saccade; echo \"${COMPREPLY[*]}\"'";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string out(256, '\0');
  out.resize(fread(out.data(), 1, out.size(), pipe));
  pclose(pipe);
  EXPECT_EQ(out, "--slo-ms\nwatch\n");
}

}  // namespace
}  // namespace saccade::app
