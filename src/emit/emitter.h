#pragma once
// Turns what the other rooms made into Events: whole text, times, confidence, frame age, ledger.
//
// Spans. An answer goes out once, when it is complete, with t0 = t1 = the time of its picture.
// While later Moments leave it standing (picture unchanged, or the same answer again) nothing goes
// out; when it stops standing and had lasted, the same event goes out once more (same id, final,
// whole span). The end of a span is the last Moment that confirmed it. docs/events.md says it for
// clients.
//
// Speech. A partial utterance always gets its final event, also when nothing was said after all, or
// the stream ends first: then one with empty text and the partial's start.
//
// Drops are told at once, then summed up and told at most once per second and reason.
//
// Threads: any thread may call anything; one lock orders all events, and the sink is called under
// it, so sinks see `seq` rising by one and must not call back.
// Limits: kAnswersOpenMax running and as many standing answers, kAnswerBytesMax text per answer
// (longer ones end).
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "decode/decode_types.h"  // brings Focus, Percept, Moment and the source's items
#include "emit/assemble_text.h"
#include "emit/cut_stop.h"
#include "emit/emit_types.h"
#include "emit/filter_text.h"
#include "emit/run_summary.h"

namespace saccade::emit {

inline constexpr std::size_t kAnswersOpenMax = 64;

struct EmitterOptions {
  std::string stream = "main";                 // shown in every event
  std::string default_prompt = "caption";      // answers to it are captions, to others answers
  std::vector<std::string> stops = {};         // see StopCutter
  std::vector<std::string> filter_words = {};  // see TextFilter
  bool partials = false;   // also send growing answers (final = false) as they are made
  bool merge_same = true;  // an equal answer to the next Moment extends the span
};

class Emitter {
 public:
  // Errors: kUsage (stop strings or filter words out of range). `sink` and `clock` must outlive it.
  static core::Result<std::unique_ptr<Emitter>> create(EmitterOptions options, EventSink& sink,
                                                       const core::Clock& clock);

  // Answers. `answer` is the number its tokens carry, unique while it runs.
  // Errors: kExhausted (kAnswersOpenMax are running).
  core::Status begin_answer(std::uint64_t answer, const attend::Focus& focus);
  // False when the answer is over: it was the last token, a stop string or the length limit came,
  // or no such answer runs. The caller should then stop decoding it.
  bool on_token(const decode::Token& token);
  void on_verdict(const attend::Focus& focus, const decode::Verdict& verdict);

  // Everything of a Percept that is not for the language model: text tracks, speech, scene cuts,
  // and the spans of standing answers when nothing changed.
  void on_percept(const perceive::Percept& percept);

  void on_state(const ingest::StateChange& change);
  void on_source(const ingest::SourceInfo& info);
  void on_loss(const ingest::Loss& loss);
  void on_drop(DropReason reason, core::MediaTime time, std::uint64_t count = 1);
  // `rung`: what of the quality is given up for the deadline; empty = nothing is governed.
  void on_knobs(const core::Knobs& knobs, const std::string& rung = {});
  // Something went wrong that does not end the session.
  void on_error(const core::Error& error, const std::string& prompt_id = {});

  // Ends all spans, withdraws tentative speech and tells drops not yet told. Running answers are
  // forgotten. Call before on_stats; nothing but on_stats and on_state may follow.
  void finish();
  void on_stats(const RunSummary::Machine& machine);

  RunSummary& summary() { return summary_; }

 private:
  struct Running {  // an answer being made
    Event event;
    core::SteadyTime captured;
    TextAssembler assembler;
    StopCutter stop;
    TextFilter filter;
    double logprob_sum = 0;
    std::uint64_t tokens = 0;
    double emit_ms = 0;
  };
  struct Standing {  // an answer that went out and still holds
    Event event;
    bool lasted = false;
  };
  struct Tally {  // drops not yet told
    std::uint64_t count = 0;
    core::MediaTime first, last;
    core::SteadyTime told;
    bool ever_told = false;
  };

  Emitter(EmitterOptions options, EventSink& sink, const core::Clock& clock)
      : options_(std::move(options)), sink_(sink), clock_(clock) {}

  Event event_for(const attend::Focus& focus);
  void finish_answer(Running& answer, const decode::Token& last);
  void stand(Event event);
  void end_span(Standing& standing);
  void on_track(const perceive::TextTrack& track, const align::Moment& moment);
  void on_utterance(const perceive::Utterance& utterance, const align::Moment& moment);
  void withdraw_speech();
  void add_drop(DropReason reason, core::MediaTime time, std::uint64_t count);
  void tell_drops(bool all);
  void send(Event& event);

  const EmitterOptions options_;
  EventSink& sink_;
  const core::Clock& clock_;
  StopCutter stop_;           // prototype, copied per answer
  FilterWords filter_words_;  // shared, immutable
  RunSummary summary_;        // locks for itself

  std::mutex mutex_;  // guards everything below
  std::uint64_t seq_ = 0;
  std::uint64_t answers_made_ = 0;
  std::map<std::uint64_t, Running> running_;
  std::map<std::string, Standing> standing_;  // by prompt id
  std::optional<Event> partial_speech_;       // told and not yet final
  std::array<Tally, kDropReasons> drops_;
};

}  // namespace saccade::emit
