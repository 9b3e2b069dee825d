// Routes for eyes: the console's own files, and the picture of a stream.
#include <algorithm>
#include <utility>

#include "transport/json_text.h"
#include "transport/serve/service.h"

namespace saccade::transport {
namespace {

// Texts of events are hostile. Should one ever become markup, nothing it asks for is done: no
// script but ours, no markup from strings, no request elsewhere, no frame, no form.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

const HttpHeaders& page_headers() {
  static const HttpHeaders kHeaders = {
      {"Cache-Control", "no-cache"},
      {"Content-Security-Policy", std::string(kContentPolicy)},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Frame-Options", "DENY"}};
  return kHeaders;
}

bool has_it(const HttpRequest& request, std::string_view etag) {
  const std::string_view held = request.header("if-none-match");
  return held == "*" || held.find(etag) != held.npos;
}

}  // namespace

void Service::show_console(const CallPtr& call) {
  const bool page = call->match.route->id == RouteId::kConsolePage;
  const std::string_view name = page ? std::string_view("index.html") : call->match.name;
  const auto& files = options_.console;
  const auto file = std::find_if(files.begin(), files.end(),
                                 [&](const ConsoleFile& each) { return each.name == name; });
  if (file == files.end() || (!page && name == "index.html")) {
    return fail(*call,
                {.status = 404, .message = "there is no such file", .code = "no_such_route"});
  }
  HttpReply out{.content_type = std::string(file->content_type)};
  if (page) {
    out.headers = page_headers();
  } else {
    out.headers = {{"Cache-Control", "public, max-age=31536000, immutable"},
                   {"Cross-Origin-Resource-Policy", "same-origin"}};
  }
  out.headers.emplace_back("ETag", file->etag);
  if (has_it(call->request, file->etag)) {
    out.status = 304;
  } else {
    out.body = std::string(file->bytes);
  }
  reply(*call, std::move(out));
}

// Encoding takes milliseconds, which the I/O thread has not.
void Service::show_picture(const CallPtr& call) {
  const auto stream = own_stream(*call);
  if (!stream) return;
  if (bodies_.try_push([this, call, stream] { send_picture(*call, *stream); })) return;
  fail(*call, {.status = 503,
               .message = "too many pictures are asked for",
               .code = "pictures_exhausted",
               .retry_after_s = 1});
}

void Service::send_picture(const Call& call, const LiveStream& stream) {
  if (call.exchange->gone()) return;
  auto picture = stream.picture();
  if (!picture) return fail(call, api_error(picture.error()));
  if (!picture->shown) {
    return fail(call, {.status = 404,
                       .message = "the stream '" + stream.id() + "' has shown no picture yet",
                       .code = "no_picture"});
  }
  const session::ShownPicture& shown = *picture->shown;
  const std::string etag = "\"p" + std::to_string(shown.number) + "\"";
  HttpReply out{.content_type = "image/jpeg"};
  out.headers = {{"Cache-Control", "private, no-cache"},
                 {"Cross-Origin-Resource-Policy", "same-origin"},
                 {"ETag", etag},
                 {"X-Media-Time", json_number(shown.time.seconds(), 3, true)},
                 {"X-Source-Size",
                  std::to_string(shown.source_width) + "x" + std::to_string(shown.source_height)}};
  if (has_it(call.request, etag)) {
    out.status = 304;
  } else {
    out.body = std::move(picture->jpeg);
  }
  reply(call, std::move(out));
}

}  // namespace saccade::transport
