#include "transport/serve/transcribe_job.h"

#include <utility>

#include "transport/json_text.h"

namespace saccade::transport {
namespace {

using Format = TranscribeRequest::Format;

std::string words_json(const session::Transcript& transcript) {
  JsonArray list;
  for (const auto& segment : transcript.segments) {
    for (const emit::EventWord& word : segment.words) {
      JsonObject json;
      const std::size_t begin = word.text.find_first_not_of(' ');
      json.text("word", begin == word.text.npos ? word.text : word.text.substr(begin));
      json.seconds("start", word.start.seconds());
      json.seconds("end", word.end.seconds());
      list.add(json.str());
    }
  }
  return list.str();
}

std::string segments_json(const session::Transcript& transcript) {
  JsonArray list;
  std::uint64_t id = 0;
  for (const auto& segment : transcript.segments) {
    JsonObject json;
    json.count("id", id++);
    json.seconds("start", segment.start);
    json.seconds("end", segment.end);
    json.text("text", segment.text);
    json.number("confidence", segment.confidence, 3);
    list.add(json.str());
  }
  return list.str();
}

std::string verbose_json(const session::Transcript& transcript, const TranscribeRequest& how) {
  JsonObject json;
  json.text("task", "transcribe");
  json.text("language", "english");
  const double end = transcript.segments.empty() ? 0 : transcript.segments.back().end;
  json.number("duration", transcript.duration > 0 ? transcript.duration : end, 3);
  json.text("text", transcript.text());
  if (how.segments) json.raw("segments", segments_json(transcript));
  if (how.words) json.raw("words", words_json(transcript));
  return json.str();
}

std::string plain_json(const session::Transcript& transcript) {
  JsonObject json;
  json.text("text", transcript.text());
  return json.str();
}

std::string_view content_type(Format format) {
  switch (format) {
    case Format::kText:
      return "text/plain; charset=utf-8";
    case Format::kSrt:
      return "application/x-subrip; charset=utf-8";
    case Format::kVtt:
      return "text/vtt; charset=utf-8";
    case Format::kJson:
    case Format::kVerboseJson:
      return "application/json";
  }
  return "application/json";
}

}  // namespace

std::string transcript_text(const session::Transcript& transcript, const TranscribeRequest& how) {
  switch (how.format) {
    case Format::kText:
      return transcript.text() + "\n";
    case Format::kSrt:
      return transcript.srt();
    case Format::kVtt:
      return transcript.vtt();
    case Format::kVerboseJson:
      return verbose_json(transcript, how);
    case Format::kJson:
      return plain_json(transcript);
  }
  return {};
}

void TranscribeJob::work() {
  auto loan = options_.models.lend({.see = false, .read = false, .hear = true}, caller_.tenant);
  if (!loan) return fail(api_error(loan.error()));
  session::TranscribeOptions options;
  options.source.url = options_.file.path();
  options.on_session = [this](session::Session* session) {
    const std::lock_guard lock(mutex_);
    running_ = session;
    if (session && cancelled() != Why::kNone) session->stop();
  };
  const auto transcript = session::transcribe(options, loan->models(), house_.clock, options_.rng);
  if (cancelled() != Why::kNone) return fail(cancel_error());
  if (transcript) {
    return succeed({.content_type = std::string(content_type(options_.request.format)),
                    .body = transcript_text(*transcript, options_.request)});
  }
  ApiError error = api_error(transcript.error());
  if (const std::size_t at = error.message.find(options.source.url); at != std::string::npos) {
    error.message.replace(at, options.source.url.size(), "file");
    error.param = "file";
  }
  fail(error);
}

void TranscribeJob::on_cancel() {
  const std::lock_guard lock(mutex_);
  if (running_) running_->stop();
}

}  // namespace saccade::transport
