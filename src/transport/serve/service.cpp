#include "transport/serve/service.h"

#include <utility>

#include "transport/ascii_text.h"
#include "transport/json_text.h"

namespace saccade::transport {
namespace {

std::string_view route_name(const RouteMatch& match) {
  return match.route ? match.route->path : std::string_view("none");
}

bool needs_models(RouteId id) {
  return id == RouteId::kChat || id == RouteId::kResponse || id == RouteId::kTranscribe ||
         id == RouteId::kStreamAsk;
}

bool is_console(RouteId id) { return id == RouteId::kConsolePage || id == RouteId::kConsoleAsset; }

// Nothing for a value that is no number in the range.
std::optional<std::int64_t> read_deadline(std::string_view text) {
  const auto ms = whole_number<std::int64_t>(text);
  return ms && *ms >= 1 && *ms <= kDeadlineMsMax ? ms : std::nullopt;
}

}  // namespace

Service::Service(ServiceOptions options, session::SharedModels& models, const core::Clock& clock)
    : options_(std::move(options)),
      models_(models),
      clock_(clock),
      started_s_(clock.wall_now().us / 1'000'000),
      queue_(options_.queue, clock),
      streams_({.models = models, .clock = clock, .metrics = metrics_}, options_.streams_max),
      body_thread_([this] {
        while (const auto task = bodies_.pop()) (*task)();
      }) {}

Service::~Service() {
  bodies_.close();
  body_thread_.join();
}

core::Rng Service::next_rng() {
  core::Rng rng(options_.seed + drawn_++ * 0x9E3779B97F4A7C15ULL);
  return core::Rng(rng.next());
}

void Service::begin_drain() {
  draining_ = true;
  queue_.close();
  streams_.close();
}

HttpReply Service::refuse(int status, const std::string& code, const std::string& message) {
  metrics_.requests.add({"none", std::to_string(status)});
  metrics_.refused.add({code});
  return to_reply({.status = status, .message = message, .code = code});
}

// Load is refused before a byte of the body is read.
std::optional<ApiError> Service::check_load(const Route& route) const {
  if (route.body_bytes_max > 0 && draining_) {
    return ApiError{.status = 503,
                    .message = "the server is shutting down",
                    .code = "shutting_down",
                    .retry_after_s = 1};
  }
  if (!needs_models(route.id) || queue_.has_room()) return std::nullopt;
  return ApiError{.status = 429,
                  .message = std::to_string(options_.queue.waiting_max) +
                             " requests are waiting, the most there may be",
                  .code = "queue_full",
                  .retry_after_s = queue_.retry_after_s()};
}

std::optional<ApiError> Service::check_rate(const Admission& admission) {
  if (admission.per_minute == 0) return std::nullopt;
  const int wait_s = rates_.take(admission.tenant, admission.per_minute, clock_.now());
  if (wait_s == 0) return std::nullopt;
  return ApiError{
      .status = 429,
      .message = "this key may make " + std::to_string(admission.per_minute) + " requests a minute",
      .code = "rate_limit_exceeded",
      .retry_after_s = wait_s};
}

HttpHandler::Verdict Service::check(const HttpRequest& head) {
  const RouteMatch match = match_route(head.method, head.path);
  const bool preflight = head.method == "OPTIONS" && !match.allowed.empty();
  const Scope scope = match.route ? match.route->scope : preflight ? Scope::kOpen : Scope::kUser;
  const Admission admission = admit(options_.access, scope, head);
  std::optional<ApiError> error = admission.refusal;
  if (!error && preflight) {
    HttpReply reply{.status = 204};
    reply.headers = cors_headers(options_.access, head);
    return {.accepted = false, .refusal = std::move(reply)};
  }
  const bool hidden = head.listener == ListenerKind::kAdmin &&
                      (scope == Scope::kUser || (match.route && is_console(match.route->id)));
  if (!error && (hidden || (!match.route && match.allowed.empty()))) {
    error = ApiError{.status = 404, .message = "there is no such route", .code = "no_such_route"};
  } else if (!error && !match.route) {
    error = ApiError{.status = 405,
                     .message = "this route takes " + match.allowed,
                     .code = "method_not_allowed"};
  }
  if (!error) error = check_rate(admission);
  if (!error) error = check_load(*match.route);
  const std::string_view deadline = head.header("x-request-deadline-ms");
  if (!error && !deadline.empty() && !read_deadline(deadline)) {
    error = ApiError{.status = 400,
                     .message = "X-Request-Deadline-Ms must be a whole number, 1.." +
                                std::to_string(kDeadlineMsMax),
                     .code = "usage",
                     .param = "X-Request-Deadline-Ms"};
  }
  if (!error)
    return {.accepted = true, .refusal = {}, .body_bytes_max = match.route->body_bytes_max};
  metrics_.requests.add({std::string(route_name(match)), std::to_string(error->status)});
  metrics_.refused.add({error->code});
  HttpReply refusal = to_reply(*error);
  if (error->status == 405) refusal.headers.emplace_back("Allow", match.allowed);
  for (auto& header : cors_headers(options_.access, head)) refusal.headers.push_back(header);
  return {.accepted = false, .refusal = std::move(refusal)};
}

void Service::handle(HttpRequest request, ExchangePtr exchange) {
  auto call = std::make_shared<Call>();
  call->match = match_route(request.method, request.path);
  const Admission admission = admit(options_.access, call->match.route->scope, request);
  call->tenant = admission.tenant;
  call->admin = admission.admin;
  call->arrived = clock_.now();
  call->deadline_ms = read_deadline(request.header("x-request-deadline-ms")).value_or(0);
  call->request = std::move(request);
  call->exchange = std::move(exchange);
  if (call->request.body.size() <= kInlineBodyBytesMax) return dispatch(call);
  if (bodies_.try_push([this, call] { dispatch(call); })) return;
  fail(*call, {.status = 503,
               .message = "too many large requests are under way",
               .code = "bodies_exhausted",
               .retry_after_s = 2});
}

void Service::dispatch(const CallPtr& call) {
  switch (call->match.route->id) {
    case RouteId::kLive:
      return reply(*call, {.body = R"({"status":"ok"})"});
    case RouteId::kReady:
    case RouteId::kHealth:
      return reply(*call, health(!draining_));
    case RouteId::kVersion: {
      JsonObject json;
      json.text("version", options_.version);
      return reply(*call, {.body = json.str()});
    }
    case RouteId::kMetrics:
      return reply(*call, {.content_type = "text/plain; version=0.0.4; charset=utf-8",
                           .body = metrics_text()});
    case RouteId::kModels:
      return reply(*call, {.body = R"({"object":"list","data":[)" + model_json() + "]}"});
    case RouteId::kModel:
      if (call->match.name == options_.model) return reply(*call, {.body = model_json()});
      return fail(*call, no_such_model());
    case RouteId::kTokenize:
      return tokenize(call);
    case RouteId::kChat:
      return chat(call);
    case RouteId::kResponse:
      return respond(call);
    case RouteId::kTranscribe:
      return transcribe(call);
    case RouteId::kStreamList:
      return list_streams(call);
    case RouteId::kStreamMake:
      return make_stream(call);
    case RouteId::kStreamShow:
      if (const auto stream = own_stream(*call)) reply(*call, {.body = stream->to_json()});
      return;
    case RouteId::kStreamChange:
      return change_stream(call);
    case RouteId::kStreamEnd:
      return end_stream(call);
    case RouteId::kStreamEvents:
      return follow_stream(call);
    case RouteId::kStreamAsk:
      return ask_stream(call);
    case RouteId::kStreamSocket:
      return open_socket(call);
    case RouteId::kStreamPicture:
      return show_picture(call);
    case RouteId::kConsolePage:
    case RouteId::kConsoleAsset:
      return show_console(call);
  }
}

void Service::reply(const Call& call, HttpReply reply) {
  metrics_.requests.add({std::string(route_name(call.match)), std::to_string(reply.status)});
  metrics_.duration.observe(core::ms_between(call.arrived, clock_.now()) / 1e3,
                            {std::string(route_name(call.match))});
  for (auto& header : cors_headers(options_.access, call.request)) reply.headers.push_back(header);
  call.exchange->reply(std::move(reply));
}

void Service::fail(const Call& call, const ApiError& error) {
  metrics_.refused.add({error.code});
  reply(call, to_reply(error));
}

void Service::fail_usage(const Call& call, std::string message, std::string param) {
  fail(call,
       {.status = 400, .message = std::move(message), .code = "usage", .param = std::move(param)});
}

void Service::fail_field(const Call& call, const core::Error& error, const std::string& fault) {
  ApiError told = api_error(error);
  told.param = fault;
  fail(call, told);
}

ApiError Service::no_such_model() const {
  return {.status = 404,
          .message = "there is no such model; there is " + options_.model,
          .code = "model_not_found"};
}

HttpReply Service::health(bool ready) const {
  if (ready) return {.body = R"({"status":"ok"})"};
  return to_reply({.status = 503,
                   .message = "the server is shutting down",
                   .code = "shutting_down",
                   .retry_after_s = 1});
}

std::string Service::model_json() const {
  JsonArray inputs;
  inputs.add("\"text\"");
  if (models_.offers().see) inputs.add("\"image\"");
  if (models_.offers().see) inputs.add("\"video\"");
  if (models_.offers().hear) inputs.add("\"audio\"");
  JsonObject architecture;
  architecture.raw("input_modalities", inputs.str());
  architecture.raw("output_modalities", R"(["text"])");
  JsonObject meta;
  meta.count("n_ctx", static_cast<std::uint64_t>(models_.language().context_tokens));
  JsonObject json;
  json.text("id", options_.model);
  json.text("object", "model");
  json.count("created", static_cast<std::uint64_t>(started_s_));
  json.text("owned_by", "saccade");
  json.raw("architecture", architecture.str());
  json.raw("meta", meta.str());
  return json.str();
}

std::string Service::metrics_text() {
  metrics_.queue_waiting.set(static_cast<double>(queue_.waiting()));
  metrics_.queue_running.set(static_cast<double>(queue_.running()));
  metrics_.device_waiting.set(static_cast<double>(models_.device().waiting()));
  metrics_.connections.set(connections_ ? static_cast<double>(connections_()) : 0);
  for (const auto& [state, count] : streams_.count_by_state()) {
    metrics_.streams.set(count, {state});
  }
  metrics_.readers.set(static_cast<double>(streams_.readers()));
  const auto governed = models_.governor().snapshot();
  metrics_.rung.set(static_cast<int>(governed.rung));
  metrics_.width.set(governed.width);
  metrics_.load.set(governed.pressure.load);
  metrics_.prediction.set(governed.prediction_mape);
  metrics_.governed.set_total(static_cast<double>(governed.answers - governed.misses), {"in_time"});
  metrics_.governed.set_total(static_cast<double>(governed.misses), {"late"});
  metrics_.governed.set_total(static_cast<double>(governed.passed_over), {"passed_over"});
  metrics_.governed.set_total(static_cast<double>(governed.refused), {"stream_refused"});
  const engine::LanguageUse use = models_.language_use();
  metrics_.steps.set_total(static_cast<double>(use.steps));
  metrics_.read.set_total(static_cast<double>(use.tokens), {"read"});
  metrics_.read.set_total(static_cast<double>(use.reused), {"reused"});
  metrics_.cells.set(use.cells_used, {"used"});
  metrics_.cells.set(use.cells - use.cells_used, {"free"});
  metrics_.sequences.set(use.sequences);
  metrics_.sockets.set(static_cast<double>(*sockets_));
  return metrics_.text();
}

}  // namespace saccade::transport
