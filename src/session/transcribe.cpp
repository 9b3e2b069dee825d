#include "session/transcribe.h"

#include <utility>

#include "emit/write_cues.h"

namespace saccade::session {
namespace {

class SpeechSink final : public emit::EventSink {
 public:
  void on_event(const emit::Event& event) override {
    if (event.kind == emit::EventKind::kStatus && event.reason == "source") {
      for (const auto& [name, value] : event.numbers) {
        if (name == "duration_s") transcript.duration = value;
      }
    }
    if (event.kind != emit::EventKind::kSpeech || !event.final || event.text.empty()) return;
    transcript.segments.push_back({.text = event.text,
                                   .start = event.t0.seconds(),
                                   .end = event.t1.seconds(),
                                   .confidence = event.confidence.value_or(0),
                                   .words = event.words});
  }

  Transcript transcript;
};

core::MediaTime media_time(double seconds) {
  return core::MediaTime::from_us(core::MediaDuration::from_seconds(seconds).us());
}

std::string cues(const Transcript& transcript, emit::CueFormat format) {
  emit::CueWriter writer(format);
  std::string out = writer.header();
  for (const Transcript::Segment& segment : transcript.segments) {
    out += writer.push({.start = media_time(segment.start),
                        .end = media_time(segment.end),
                        .text = segment.text,
                        .lane = {}});
  }
  return out;
}

}  // namespace

std::string Transcript::text() const {
  std::string out;
  for (const Segment& segment : segments) out += (out.empty() ? "" : " ") + segment.text;
  return out;
}
std::string Transcript::vtt() const { return cues(*this, emit::CueFormat::kWebVtt); }
std::string Transcript::srt() const { return cues(*this, emit::CueFormat::kSubRip); }

core::Result<Transcript> transcribe(const TranscribeOptions& options, const SessionModels& models,
                                    const core::Clock& clock, core::Rng rng) {
  SessionOptions session_options;
  session_options.source = options.source;
  session_options.source.want_video = false;
  session_options.senses = {.see = false, .read = false, .hear = true};
  session_options.partial_speech = false;
  SpeechSink sink;
  auto session = Session::open(std::move(session_options), models, sink, clock, rng);
  if (!session) return std::move(session).error();
  if (options.on_session) options.on_session(session->get());
  const core::Status status = (*session)->run();
  if (options.on_session) options.on_session(nullptr);
  if (!status) return status.error();
  return std::move(sink.transcript);
}

}  // namespace saccade::session
