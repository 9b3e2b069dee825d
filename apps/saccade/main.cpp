// The one binary: parses the command line, hands over to a command, turns errors into one line and
// an exit code (0 ok, 1 runtime, 2 usage, 3 media, 4 model, 5 source, 6 resources, 128+N signals).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "commands.h"
#include "completion.h"
#include "flags.h"
#include "print_error.h"
#include "pull.h"
#include "session/host.h"

extern char** environ;

namespace saccade::app {
namespace {

constexpr const char* kVersion = SACCADE_VERSION;

// Words on the command line that are not flags.
struct Arguments {
  std::string source, file, pull_name, shell;
  std::vector<std::string> words;
  bool origin = false;
};

struct Commands {
  CLI::App* watch;
  CLI::App* ask;
  CLI::App* serve;
  CLI::App* transcribe;
  CLI::App* read;
  CLI::App* models;
  CLI::App* pull;
  CLI::App* doctor;
  CLI::App* config_show;
  CLI::App* config_sample;
  CLI::App* completion;
};

constexpr const char* kSourceHelp =
    "file, - (stdin), /dev/videoN, rtsp:// rtsps:// rtmp:// srt:// or http(s):// (HLS)";

CLI::App* add_stream_command(CLI::App& app, const std::string& name, const std::string& help,
                             Arguments& arguments, FlagValues& flags) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("SOURCE", arguments.source, kSourceHelp)->required();
  using G = SettingGroup;
  add_setting_flags(*command, {G::kSource, G::kQuestions, G::kPace, G::kModels, G::kOutput}, flags);
  return command;
}

Commands add_commands(CLI::App& app, Arguments& arguments, FlagValues& flags) {
  using G = SettingGroup;
  Commands c{};
  c.watch = add_stream_command(app, "watch", "Say what a source shows, reads and speaks, in time.",
                               arguments, flags);
  c.ask = app.add_subcommand("ask", "One question about pictures or recordings, one answer.");
  c.ask->add_option("MEDIA... QUESTION", arguments.words, "files, then the question")->required();
  add_setting_flags(*c.ask, {G::kSource, G::kQuestions, G::kModels, G::kOutput}, flags);
  c.serve = app.add_subcommand("serve", "Answer over HTTP, as OpenAI's clients ask.");
  add_setting_flags(
      *c.serve, {G::kServer, G::kSource, G::kQuestions, G::kPace, G::kModels, G::kOutput}, flags);
  c.transcribe =
      add_stream_command(app, "transcribe", "Write down what is spoken.", arguments, flags);
  c.read = add_stream_command(app, "read", "Write down the text on the screen.", arguments, flags);
  c.models = app.add_subcommand("models", "List the model files of this machine, or inspect one.");
  c.models->add_option("FILE", arguments.file, "a GGUF file to inspect");
  add_setting_flags(*c.models, {G::kModels, G::kOutput}, flags);
  c.pull = app.add_subcommand("pull", "Download a model: org/name[:quant].");
  c.pull->add_option("NAME", arguments.pull_name, "org/name[:quant] on the hub")->required();
  add_setting_flags(*c.pull, {G::kOutput}, flags);
  c.doctor = app.add_subcommand("doctor", "What works on this machine; one fix per problem.");
  add_setting_flags(*c.doctor, {G::kModels, G::kOutput}, flags);
  CLI::App* config = app.add_subcommand("config", "Show the settings in force, or a sample file.");
  config->require_subcommand(1);
  c.config_show = config->add_subcommand("show", "Settings in force.");
  c.config_show->add_flag("--origin", arguments.origin, "say where each value comes from");
  add_setting_flags(*c.config_show,
                    {G::kSource, G::kQuestions, G::kPace, G::kModels, G::kServer, G::kOutput},
                    flags);
  c.config_sample = config->add_subcommand("sample", "A commented file with every default.");
  c.completion = app.add_subcommand("completion", "Completion script for bash, zsh or fish.");
  c.completion->add_option("SHELL", arguments.shell, "whose script")
      ->type_name("bash|zsh|fish")
      ->required();
  return c;
}

core::Status print_text(core::Result<std::string> text) {
  if (!text) return std::move(text).error();
  std::cout << *text << std::flush;
  return {};
}

core::Status show_settings(CommandContext& context, bool origin) {
  const auto loaded = context.settings();
  if (!loaded) return loaded.error();
  return print_text(show_config(*loaded, origin));
}

core::Status pull(CommandContext& context, const std::string& name) {
  const auto loaded = context.settings();
  if (!loaded) return loaded.error();
  return run_pull({.name = name,
                   .hub = hub_options(context.environment),
                   .quiet = loaded->settings.quiet,
                   .stop = &context.signals.requested()},
                  context.footer, context.clock);
}

core::Status dispatch(CommandContext& context, CLI::App& app, const Commands& c,
                      Arguments& arguments, int& exit) {
  if (*c.watch) return run_stream(context, StreamCommand::kWatch, arguments.source);
  if (*c.transcribe) return run_stream(context, StreamCommand::kTranscribe, arguments.source);
  if (*c.read) return run_stream(context, StreamCommand::kRead, arguments.source);
  if (*c.ask) return run_ask(context, std::move(arguments.words));
  if (*c.serve) return run_serve(context);
  if (*c.models) return run_models(context, arguments.file);
  if (*c.pull) return pull(context, arguments.pull_name);
  if (*c.config_show) return show_settings(context, arguments.origin);
  if (*c.config_sample) return print_text(sample_config());
  if (*c.completion) return print_text(completion_script(app, arguments.shell));
  exit = run_doctor(context);
  return {};
}

int run(int argc, char** argv) {
  const Environment environment = read_environment(environ);
  SignalWatcher signals;
  Footer footer(std::cout, std::cerr, detect_style(2, environment));
  CommandContext context{.environment = environment,
                         .executable = std::filesystem::read_symlink("/proc/self/exe").string(),
                         .version = kVersion,
                         .clock = {},
                         .footer = footer,
                         .out_style = detect_style(1, environment),
                         .signals = signals,
                         .flags = {}};
  CLI::App app("Saccade watches and listens: live video and audio in, time-aligned events out.",
               "saccade");
  app.set_version_flag("--version", std::string("saccade ") + kVersion);
  app.require_subcommand(1);
  Arguments arguments;
  const Commands commands = add_commands(app, arguments, context.flags);
  const auto fail = [&](const core::Error& error) {
    footer.print_error(error_line(error, footer.style()));
    return core::exit_code(error.code);
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return fail(explain_parse_error(error, app));
  }
  int exit = 0;
  const core::Status status = dispatch(context, app, commands, arguments, exit);
  const bool ends_by_signal = *commands.serve && status.ok();
  if (const int signal = signals.caught(); signal && !ends_by_signal) return 128 + signal;
  return status ? exit : fail(status.error());
}

// OpenMP threads that wait by spinning steal the cores from each other; its runtime reads this
// variable before main, so the program starts itself once more with it set.
void make_waiting_passive(char** argv) {
  constexpr const char* kPolicy = "OMP_WAIT_POLICY";
  if (std::getenv(kPolicy)) return;
  setenv(kPolicy, "passive", 1);
  execv("/proc/self/exe", argv);  // on failure it only runs slower
}

}  // namespace
}  // namespace saccade::app

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "decode-worker") == 0) {
    return saccade::session::run_decode_worker();
  }
  saccade::app::make_waiting_passive(argv);
  return saccade::app::run(argc, argv);
}
