// watch, transcribe and read: build a session from settings, run it, show its events.
#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include "commands.h"
#include "make_options.h"
#include "progress.h"
#include "session/session.h"
#include "sinks.h"
#include "view.h"
#include "write_output.h"

namespace saccade::app {
namespace {

std::uint64_t peak_memory_bytes() {
  rusage own{}, children{};
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  return static_cast<std::uint64_t>(own.ru_maxrss + children.ru_maxrss) * 1024;
}

// How far a recording is, fed by the session's own position; learns the length from its events.
class ProgressSink final : public emit::EventSink {
 public:
  ProgressSink(CommandContext& context, bool quiet, double duration_s)
      : progress_({.label = "watching", .unit = Progress::Unit::kMediaSeconds, .quiet = quiet},
                  context.footer, context.clock),
        limit_s_(duration_s) {}

  void on_event(const emit::Event& event) override {
    for (const auto& [name, value] : event.numbers) {
      if (event.kind != emit::EventKind::kStatus || name != "duration_s") continue;
      total_s_ = limit_s_ > 0 ? std::min(limit_s_, value) : value;
    }
  }
  // On the watcher's thread.
  void tick(core::MediaTime position) {
    if (!position.is_set()) return;
    progress_.set_total(total_s_);
    progress_.update(position.seconds());
  }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  const double limit_s_;
  std::atomic<double> total_s_{0};
};

// All places where the events of this run go.
struct Outputs {
  SinkList all;
  std::unique_ptr<emit::EventSink> shown;
  std::unique_ptr<OutputFile> file;
};

core::Result<std::unique_ptr<Outputs>> open_outputs(CommandContext& context,
                                                    const Settings& settings, StreamCommand command,
                                                    std::function<void()> on_closed) {
  auto outputs = std::make_unique<Outputs>();
  if (!settings.out.empty()) {
    auto file = OutputFile::create(settings.out);
    if (!file) return std::move(file).error();
    outputs->file = std::move(file).value();
    outputs->all.add(*outputs->file);
  }
  if (settings.json) {
    outputs->shown = std::make_unique<JsonLines>(std::cout, std::move(on_closed));
  } else if (!settings.quiet && command == StreamCommand::kWatch) {
    outputs->shown = std::make_unique<LiveView>(context.footer, context.out_style);
  } else if (!settings.quiet) {
    outputs->shown = std::make_unique<BareText>(context.footer, command == StreamCommand::kRead
                                                                    ? emit::EventKind::kText
                                                                    : emit::EventKind::kSpeech);
  }
  if (outputs->shown) outputs->all.add(*outputs->shown);
  return outputs;
}

Senses senses_of(StreamCommand command, const Settings& settings) {
  if (command == StreamCommand::kTranscribe) return {.see = false, .read = false, .hear = true};
  if (command == StreamCommand::kRead) return {.see = false, .read = true, .hear = false};
  const auto has = [&](const char* name) {
    return std::find(settings.senses.begin(), settings.senses.end(), name) != settings.senses.end();
  };
  return {.see = has("see"), .read = has("read"), .hear = has("hear")};
}

// What may change while it runs.
struct Followed {
  std::optional<PolicyFolder> policies;
  session::Governing governing;
};

std::vector<std::string> asked_of(const Settings& settings) {
  std::vector<std::string> out = settings.prompt;
  out.insert(out.end(), settings.alert.begin(), settings.alert.end());
  return out;
}

core::Status run_session(CommandContext& context, session::Session& session, Outputs& outputs,
                         ProgressSink& progress, Followed& followed) {
  const auto steer = [&](const governor::PolicyBookPtr& book) {
    followed.governing.book = book;
    const core::Status steered = session.steer({.governing = followed.governing});
    if (!steered) context.footer.print_error(error_line(steered.error(), context.footer.style()));
  };
  context.signals.on_signal([&] { session.stop(); });
  context.signals.on_tick([&] {
    progress.tick(session.position());
    if (followed.policies) renew_policies(context, *followed.policies, false, steer);
  });
  core::Status status = session.run();
  context.signals.on_tick({});
  context.signals.on_signal({});
  progress.finish();
  context.footer.clear();
  // What came before an error or a signal is kept.
  if (outputs.file) {
    if (const core::Status written = outputs.file->finish(); status && !written) return written;
  }
  return status;
}

}  // namespace

core::Status run_stream(CommandContext& context, StreamCommand command, const std::string& source) {
  auto loaded = context.settings();
  if (!loaded) return std::move(loaded).error();
  const Settings& settings = loaded->settings;

  auto options = session_options(settings, source, senses_of(command, settings),
                                 {.default_prompt = command == StreamCommand::kWatch});
  if (!options) return std::move(options).error();
  auto policies = open_policies(settings);
  if (!policies) return std::move(policies).error();
  auto governing = governing_of(settings, *policies);
  if (!governing) return std::move(governing).error();
  options->governing = *governing;
  Followed followed{.policies = std::move(*policies), .governing = std::move(*governing)};
  options->partial_speech = command == StreamCommand::kWatch;
  options->peak_memory_bytes = peak_memory_bytes;

  std::unique_ptr<session::Session> session;
  auto outputs = open_outputs(context, settings, command, [&] {
    if (session) session->stop();
  });
  if (!outputs) return std::move(outputs).error();
  ProgressSink progress(context, settings.quiet || settings.json, settings.duration_s);
  (*outputs)->all.add(progress);

  const Senses& senses = options->senses;
  auto models = open_models(context, settings, senses);
  if (!models) return std::move(models).error();
  if (senses.see) note_on_prompts(context, settings, asked_of(settings));
  auto opened =
      session::Session::open(std::move(options).value(), models->lend(), (*outputs)->all,
                             context.clock, core::Rng(static_cast<std::uint64_t>(settings.seed)));
  if (!opened) return std::move(opened).error();
  session = std::move(opened).value();
  return run_session(context, *session, **outputs, progress, followed);
}

}  // namespace saccade::app
