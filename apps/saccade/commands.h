#pragma once
// What each subcommand gets and does. Every command returns the error that ends the program, or
// success; main turns that into a line on stderr and an exit code.
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "environment.h"
#include "find_models.h"
#include "footer.h"
#include "settings.h"
#include "signals.h"

namespace saccade::app {

struct CommandContext {
  Environment environment;
  std::string executable;  // this program's own path
  std::string version;
  core::SystemClock clock;
  Footer& footer;
  TerminalStyle out_style;  // of stdout
  SignalWatcher& signals;
  FlagValues flags;  // filled by the parser

  ModelPlaces places() const { return model_places(environment, executable); }
  core::Result<LoadedSettings> settings() const { return load_settings(flags, environment); }
};

// `watch`, `transcribe` and `read`: one source to its end, with some of the senses.
enum class StreamCommand { kWatch, kTranscribe, kRead };
core::Status run_stream(CommandContext& context, StreamCommand command, const std::string& source);

// `ask MEDIA... QUESTION`.
core::Status run_ask(CommandContext& context, std::vector<std::string> words);

// `serve`: until a signal; a drained server is a success.
core::Status run_serve(CommandContext& context);

// `doctor`: 1 when something required does not work.
int run_doctor(CommandContext& context);

// `models [FILE.gguf]`.
core::Status run_models(CommandContext& context, const std::string& file);

}  // namespace saccade::app
