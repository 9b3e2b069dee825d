// Routes about live streams: make, show, change, end, follow.
#include <algorithm>
#include <utility>

#include "session/govern.h"
#include "transport/ascii_text.h"
#include "transport/json_text.h"
#include "transport/serve/service.h"
#include "transport/source_address.h"

namespace saccade::transport {
namespace {

constexpr std::string_view kFileScheme = "file://";
constexpr int kRetryStreamSeconds = 5;
constexpr std::string_view kPushSource = "push";

std::vector<attend::StandingPrompt> prompts_of(const std::vector<StreamPrompt>& prompts) {
  using Kind = attend::StandingPrompt::Kind;
  std::vector<attend::StandingPrompt> out;
  int questions = 0, alerts = 0;
  for (const StreamPrompt& prompt : prompts) {
    const std::string made = prompt.alert ? "alert-" + std::to_string(++alerts)
                                          : "prompt-" + std::to_string(++questions);
    out.push_back({prompt.alert ? Kind::kAlert : Kind::kAnswer,
                   prompt.id.empty() ? made : prompt.id, prompt.text});
  }
  return out;
}

// Unset fields stay as they are in the first argument.
session::Governing changed(session::Governing governing, const StreamRequest& request) {
  if (request.policy) governing.policy = *request.policy;
  if (request.slo_ms) governing.slo_ms = *request.slo_ms;
  return governing;
}

core::Knobs changed(core::Knobs knobs, const StreamRequest& request) {
  if (request.refresh_s) {
    knobs.refresh_max = core::MediaDuration::from_seconds(*request.refresh_s);
  }
  if (request.change_threshold) knobs.change_threshold = *request.change_threshold;
  if (request.max_new_tokens) knobs.max_new_tokens = *request.max_new_tokens;
  return knobs;
}

// A stream that was in order and did not start all the same.
ApiError cannot_start(const core::Error& why) {
  ApiError error = api_error(why);
  if (why.code == core::ErrorCode::kExhausted) {
    error.code = "overloaded";
    error.retry_after_s = kRetryStreamSeconds;
  } else {
    error.param = "source";
  }
  return error;
}

bool changes_knobs(const StreamRequest& request) {
  return request.refresh_s || request.change_threshold || request.max_new_tokens;
}

}  // namespace

// Checked after it was found: another's stream looks like none.
std::shared_ptr<LiveStream> Service::own_stream(const Call& call) {
  auto stream = streams_.find(call.match.name);
  if (stream && (call.admin || stream->tenant() == call.tenant)) return stream;
  fail(call, {.status = 404,
              .message = "there is no stream '" + call.match.name + "'",
              .code = "no_such_stream"});
  return nullptr;
}

core::Status Service::place_source(const StreamRequest& request, LiveStream::Options& options) {
  ingest::SourceOptions& source = options.session.source;
  if (request.source == kPushSource) {
    if (request.realtime || request.loop) {
      return core::error(core::ErrorCode::kUsage, "what is pushed cannot be paced or looped",
                         "leave out realtime and loop");
    }
    options.pushed = true;
    options.shown_source = request.source;
    return {};
  }
  if (request.source.starts_with(kFileScheme)) {
    std::string path = request.source.substr(kFileScheme.size());
    path.erase(0, path.find_first_not_of('/'));
    auto file = MemoryFile::open_below(options_.media_path, path);
    if (!file) return file.error();
    options.file = std::make_shared<MemoryFile>(std::move(*file));
    options.shown_source = std::string(kFileScheme) + "/" + path;
    source.url = options.file->path();
    source.realtime = request.realtime;
    source.loop = request.loop;
    return {};
  }
  const auto address = read_source_address(request.source);
  if (!address) return address.error();
  if (!source_allowed(*address, options_.allowed_sources)) {
    return core::error(core::ErrorCode::kUsage, "sources on this host are not allowed",
                       "the operator names hosts with --allow-source");
  }
  options.shown_source = ingest::redact_url(request.source);
  source.url = request.source;
  return {};
}

core::Result<LiveStream::Options> Service::stream_options(const StreamRequest& request,
                                                          std::string& fault) {
  LiveStream::Options options;
  session::SessionOptions& session = options.session;
  fault = "source";
  if (const auto status = place_source(request, options); !status) return status.error();
  fault.clear();
  options.rng = next_rng();
  options.id = request.id;
  if (options.id.empty()) {
    options.id = "s" + std::to_string(next_rng().next() % 1'000'000'000'000ULL);
  }
  session.name = options.id;
  // A client that pushes chooses its pictures itself.
  session.source.fps = request.fps.value_or(options.pushed ? 0 : options_.fps);
  session.senses = models_.offers();
  if (request.senses) {
    const auto has = [&](const char* name) {
      return std::find(request.senses->begin(), request.senses->end(), name) !=
             request.senses->end();
    };
    session.senses = {.see = has("see"), .read = has("read"), .hear = has("hear")};
  }
  session.askable = session.senses.see;
  session.context_lines =
      options_.context_lines ? session::ContextLines::kOn : session::ContextLines::kOff;
  if (request.prompts) session.prompts = prompts_of(*request.prompts);
  session.sampling = options_.sampling;
  session.filter_words = options_.filter_words;
  session.knobs = changed(options_.knobs, request);
  session.governing = changed(options_.governing, request);
  fault = "policy";
  const auto policy = session::policy_of(session.governing, models_.governor());
  if (!policy) return policy.error();
  fault.clear();
  return options;
}

void Service::make_stream(const CallPtr& call) {
  std::string fault;
  const auto request = parse_stream_request(call->request.body, false, fault);
  if (!request) return fail_field(*call, request.error(), fault);
  auto options = stream_options(*request, fault);
  if (!options) return fail_field(*call, options.error(), fault);
  options->tenant = call->tenant;
  const auto made = [this, call](core::Result<std::shared_ptr<LiveStream>> stream) {
    if (!stream) return fail(*call, cannot_start(stream.error()));
    reply(*call, {.status = 201, .body = (*stream)->to_json()});
  };
  const core::Status status = streams_.make(std::move(options).value(), made);
  if (status) return;
  ApiError error = api_error(status.error());
  if (status.error().code == core::ErrorCode::kUsage) {
    error.status = 409;
    error.code = "stream_exists";
    error.param = "id";
  } else if (status.error().code == core::ErrorCode::kExhausted) {
    error.code = "too_many_streams";
    error.retry_after_s = kRetryStreamSeconds;
  }
  fail(*call, error);
}

void Service::list_streams(const CallPtr& call) {
  JsonArray list;
  for (const auto& stream : streams_.list()) {
    if (call->admin || stream->tenant() == call->tenant) list.add(stream->to_json());
  }
  JsonObject json;
  json.text("object", "list");
  json.raw("data", list.str());
  reply(*call, {.body = json.str()});
}

void Service::change_stream(const CallPtr& call) {
  const auto stream = own_stream(*call);
  if (!stream) return;
  std::string fault;
  const auto request = parse_stream_request(call->request.body, true, fault);
  if (!request) return fail_field(*call, request.error(), fault);
  session::Steering steering;
  if (request->prompts) steering.prompts = prompts_of(*request->prompts);
  if (changes_knobs(*request)) steering.knobs = changed(stream->knobs(), *request);
  if (request->policy || request->slo_ms) {
    steering.governing = changed(stream->governing(), *request);
  }
  if (const auto status = stream->steer(steering); !status) {
    return fail_field(*call, status.error(), steering.governing ? "policy" : "prompts");
  }
  reply(*call, {.body = stream->to_json()});
}

void Service::end_stream(const CallPtr& call) {
  const auto stream = own_stream(*call);
  if (!stream) return;
  streams_.remove(stream->id());
  JsonObject json;
  json.text("id", stream->id());
  json.text("object", "stream");
  json.flag("deleted", true);
  reply(*call, {.body = json.str()});
}

void Service::follow_stream(const CallPtr& call) {
  const auto stream = own_stream(*call);
  if (!stream) return;
  std::string_view after = call->request.header("last-event-id");
  if (after.empty()) after = query_value(call->request.query, "last_event_id");
  const auto seq = whole_number<std::uint64_t>(after.empty() ? "0" : after);
  if (!seq) {
    return fail_usage(*call, "Last-Event-ID is no number of an event", "Last-Event-ID");
  }
  const bool follow = query_value(call->request.query, "follow") != "false";
  HttpReply head = sse_head();
  for (auto& header : cors_headers(options_.access, call->request)) head.headers.push_back(header);
  metrics_.requests.add({std::string(call->match.route->path), "200"});
  call->exchange->stream({.head = std::move(head),
                          .source = stream->ring()->read_after(*seq, follow),
                          .ping = std::string(kSsePing)});
  stream->ring()->wake_on_news(call->exchange);
}

}  // namespace saccade::transport
