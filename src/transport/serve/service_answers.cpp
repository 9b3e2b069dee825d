// Routes that ask the models: chat, questions to a stream, transcription, tokens.
#include <utility>

#include "transport/json_text.h"
#include "transport/response_form.h"
#include "transport/response_request.h"
#include "transport/serve/service.h"
#include "transport/serve/transcribe_job.h"

namespace saccade::transport {
namespace {

using Role = engine::ChatTurn::Role;

Role role_of(ChatMessage::Role role) {
  switch (role) {
    case ChatMessage::Role::kSystem:
      return Role::kSystem;
    case ChatMessage::Role::kAssistant:
      return Role::kAssistant;
    case ChatMessage::Role::kUser:
      return Role::kUser;
  }
  return Role::kUser;
}

// Media of one conversation as files, and under which name an error shall speak of each.
struct OpenMedia {
  std::vector<MemoryFile> files;
  std::vector<std::string> where;

  // A file's path says nothing to a client.
  core::Error named(core::Error error, std::string& fault) const {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string path = files[i].path();
      const std::size_t at = error.message.find(path + ":");
      if (at == std::string::npos) continue;
      error.message.replace(at, path.size(), where[i]);
      fault = where[i];
    }
    return error;
  }
};

session::Medium medium_of(const ChatPart& part, const std::string& path, bool lines) {
  session::Medium medium;
  medium.source.url = path;
  medium.source.scene_cuts = false;
  switch (part.kind) {
    case ChatPart::Kind::kImage:
      medium.pictures_max = 1;
      medium.senses = {.see = true, .read = lines, .hear = false};
      break;
    case ChatPart::Kind::kAudio:
      medium.senses = {.see = false, .read = false, .hear = true};
      break;
    default:
      medium.source.fps = part.fps;
      medium.pictures_max = part.pictures_max;
      medium.spread = true;
      medium.senses = {.see = true, .read = lines, .hear = lines};
  }
  return medium;
}

}  // namespace

ServeJob::Caller Service::caller_of(const Call& call) const {
  return {.exchange = call.exchange,
          .tenant = call.tenant,
          .route = std::string(call.match.route->path),
          .request_id = call.request.id,
          .arrived = call.arrived,
          .deadline_ms = call.deadline_ms,
          .body_hold = call.request.body_hold,
          .headers = cors_headers(options_.access, call.request)};
}

session::QuestionOptions Service::question_of(const ChatRequest& request) {
  session::QuestionOptions question;
  question.sampling = options_.sampling;
  question.sampling.alternatives = request.top_logprobs;
  if (request.temperature) question.sampling.temperature = *request.temperature;
  if (request.top_p) question.sampling.top_p = *request.top_p;
  if (request.min_p) question.sampling.min_p = *request.min_p;
  question.sampling.seed = request.seed ? *request.seed : next_rng().next();
  question.stops = request.stops;
  question.filter_words = options_.filter_words;
  question.knobs = options_.knobs;
  if (request.max_tokens) question.knobs.max_new_tokens = *request.max_tokens;
  question.answers = request.choices;
  return question;
}

ChatFrame Service::frame_of(const Call& call, const ChatRequest& request) const {
  return {.id = "chatcmpl-" + call.request.id,
          .model = options_.model,
          .created = clock_.wall_now().us / 1'000'000,
          .extension = request.extension};
}

void Service::submit_answer(const CallPtr& call, const ChatRequest& request,
                            AnswerJob::Options options) {
  if (!options.form) options.form = chat_form(frame_of(*call, request), request.include_usage);
  options.question = question_of(request);
  options.stream = request.stream;
  options.logprobs = request.logprobs;
  options.rng = next_rng();
  const auto job = std::make_shared<AnswerJob>(house(), caller_of(*call), std::move(options));
  job->open_stream();
  job->submit();
}

void Service::chat(const CallPtr& call) {
  std::string fault;
  auto request = parse_chat_request(call->request.body, fault);
  call->request.body = {};
  if (!request) return fail_field(*call, request.error(), fault);
  converse(call, *request, {});
}

void Service::respond(const CallPtr& call) {
  std::string fault;
  auto request = parse_response_request(call->request.body, fault);
  call->request.body = {};
  if (!request) return fail_field(*call, request.error(), fault);
  const ChatRequest& chat = request->chat;
  AnswerJob::Options options;
  options.form =
      response_form({.chat = frame_of(*call, chat),
                     .id = "resp_" + call->request.id,
                     .instructions = std::move(request->instructions),
                     .max_output_tokens = chat.max_tokens,
                     .temperature = chat.temperature.value_or(options_.sampling.temperature),
                     .top_p = chat.top_p.value_or(options_.sampling.top_p)});
  converse(call, request->chat, std::move(options));
}

void Service::converse(const CallPtr& call, ChatRequest& request, AnswerJob::Options options) {
  if (!request.model.empty() && request.model != options_.model) {
    ApiError error = no_such_model();
    error.param = "model";
    return fail(*call, error);
  }
  const auto messages = std::make_shared<std::vector<ChatMessage>>(std::move(request.messages));
  options.ask = [this, messages, tenant = call->tenant](session::QuestionOptions question,
                                                        session::QuestionContext context,
                                                        std::string& of) {
    return answer(*messages, tenant, std::move(question), context, of);
  };
  submit_answer(call, request, std::move(options));
}

core::Status Service::answer(std::vector<ChatMessage>& messages, const std::string& tenant,
                             session::QuestionOptions question,
                             const session::QuestionContext& context, std::string& fault) {
  const bool lines = options_.context_lines && models_.offers().read && models_.offers().hear;
  OpenMedia media;
  session::Senses needed{.see = false, .read = false, .hear = false};
  for (ChatMessage& message : messages) {
    session::Turn& turn = question.turns.emplace_back();
    turn.role = role_of(message.role);
    for (ChatPart& part : message.parts) {
      if (part.kind == ChatPart::Kind::kText) {
        turn.parts.emplace_back(std::move(part.text));
        continue;
      }
      auto file = part.media.file_path.empty()
                      ? MemoryFile::create(part.media.bytes)
                      : MemoryFile::open_below(options_.media_path, part.media.file_path);
      part.media.bytes = {};
      fault = part.where;
      if (!file) return file.error();
      const session::Medium medium = medium_of(part, file->path(), lines);
      needed.see |= medium.senses.see;
      needed.read |= medium.senses.read;
      needed.hear |= medium.senses.hear;
      turn.parts.emplace_back(medium);
      media.files.push_back(std::move(*file));
      media.where.push_back(std::move(part.where));
    }
  }
  fault.clear();
  const auto loan = models_.lend(needed, tenant);
  if (!loan) return loan.error();
  const core::Status status = session::answer_question(question, loan->models(), context);
  return status ? status : core::Status(media.named(status.error(), fault));
}

void Service::ask_stream(const CallPtr& call) {
  const auto stream = own_stream(*call);
  if (!stream) return;
  std::string fault;
  auto request = parse_stream_question(call->request.body, fault);
  if (!request) return fail_field(*call, request.error(), fault);
  AnswerJob::Options options;
  options.ask = [this, stream, tenant = call->tenant, text = std::move(request->text)](
                    session::QuestionOptions question, session::QuestionContext context,
                    std::string&) {
    const auto loan = models_.lend({.see = false, .read = false, .hear = false}, tenant);
    if (!loan) return core::Status(loan.error());
    question.turns.emplace_back().parts.emplace_back(text);
    return stream->ask(question, loan->models(), context);
  };
  submit_answer(call, request->sampling, std::move(options));
}

void Service::transcribe(const CallPtr& call) {
  std::string fault;
  auto request =
      parse_transcribe_request(call->request.header("content-type"), call->request.body, fault);
  if (!request) return fail_field(*call, request.error(), fault);
  auto file = MemoryFile::create(request->file);
  request->file = {};
  call->request.body = {};
  if (!file) return fail_field(*call, file.error(), "file");
  TranscribeJob::Options options{
      .request = *request, .file = std::move(*file), .models = models_, .rng = next_rng()};
  std::make_shared<TranscribeJob>(house(), caller_of(*call), std::move(options))->submit();
}

void Service::tokenize(const CallPtr& call) {
  std::string fault;
  const auto text = parse_tokenize_request(call->request.body, fault);
  if (!text) return fail_field(*call, text.error(), fault);
  const auto tokens = models_.device().lend().language->tokenize(*text);
  if (!tokens) return fail_field(*call, tokens.error(), {});
  JsonArray list;
  for (const engine::TokenId id : *tokens) list.add(std::to_string(id));
  JsonObject json;
  json.count("count", tokens->size());
  json.count("max_model_len", static_cast<std::uint64_t>(models_.language().context_tokens));
  json.raw("tokens", list.str());
  reply(*call, {.body = json.str()});
}

}  // namespace saccade::transport
