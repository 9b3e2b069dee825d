#include "transport/http_fetch.h"

#include <curl/curl.h>

#include <memory>
#include <mutex>

namespace saccade::transport {

namespace {

using core::ErrorCode;

struct CurlFree {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, CurlFree>;
using Headers = std::unique_ptr<curl_slist, CurlFree>;

// One exchange with one host.
struct Hop {
  const FetchRequest& request;
  CURL* handle;
  core::Status failed;  // what a callback returned
  bool started = false, cancelled = false;
  std::uint64_t range_start = 0;  // from Content-Range
};

// Scheme, host and port of a URL, as libcurl itself will dial it; empty when it cannot be parsed or
// carries a user name.
std::string origin_of(const std::string& url) {
  const std::unique_ptr<CURLU, CurlFree> parsed(curl_url());
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
  std::string out;
  for (const auto& [part, flags] : {std::pair{CURLUPART_SCHEME, 0U},
                                    {CURLUPART_HOST, 0U},
                                    {CURLUPART_PORT, unsigned{CURLU_DEFAULT_PORT}}}) {
    char* text = nullptr;
    if (curl_url_get(parsed.get(), part, &text, flags) != CURLUE_OK) return {};
    out += std::string(text) + "|";
    curl_free(text);
  }
  char* user = nullptr;
  if (curl_url_get(parsed.get(), CURLUPART_USER, &user, 0) == CURLUE_OK) {
    curl_free(user);
    return {};
  }
  return out;
}

bool is_web(const std::string& origin) {
  return origin.starts_with("https|") || origin.starts_with("http|");
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
  const std::string_view line(data, size * count);
  constexpr std::string_view kRange = "content-range: bytes ";
  bool range = line.size() > kRange.size();
  for (std::size_t i = 0; range && i < kRange.size(); ++i) range = (line[i] | 0x20) == kRange[i];
  if (range) {
    std::uint64_t start = 0;
    for (const char c : line.substr(kRange.size(), 19)) {
      if (c < '0' || c > '9') break;
      start = start * 10 + static_cast<std::uint64_t>(c - '0');
    }
    static_cast<Hop*>(self)->range_start = start;
  }
  return size * count;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) {
  Hop& hop = *static_cast<Hop*>(self);
  long status = 0;
  curl_easy_getinfo(hop.handle, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200 || status > 299) return size * count;
  if (!hop.started) {
    hop.started = true;
    if (hop.request.begin) hop.failed = hop.request.begin(status == 206 ? hop.range_start : 0);
  }
  if (hop.failed.ok()) hop.failed = hop.request.body(std::string_view(data, size * count));
  return hop.failed.ok() ? size * count : 0;
}

int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  Hop& hop = *static_cast<Hop*>(self);
  if (hop.request.keep_going && !hop.request.keep_going()) hop.cancelled = true;
  return hop.cancelled ? 1 : 0;
}

void configure(Hop& hop, const std::string& url, curl_slist* headers) {
  CURL* const c = hop.handle;
  curl_easy_setopt(c, CURLOPT_URL, url.c_str());
  curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(c, CURLOPT_USERAGENT, "saccade");
  curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, kFetchConnectSeconds);
  curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, kFetchStallSeconds);
  curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(c, CURLOPT_HEADERDATA, &hop);
  curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(c, CURLOPT_WRITEDATA, &hop);
  curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(c, CURLOPT_XFERINFODATA, &hop);
  if (hop.request.from > 0) {
    curl_easy_setopt(c, CURLOPT_RANGE, (std::to_string(hop.request.from) + "-").c_str());
  }
}

core::Error unreachable(const std::string& origin, const std::string& why) {
  std::string host = origin.substr(origin.find('|') + 1);
  host = host.substr(0, host.find('|'));
  return core::error(ErrorCode::kSourceUnreachable, "no answer from " + host + ": " + why,
                     "check the network and HF_ENDPOINT, or set HF_HUB_OFFLINE=1 to use only what "
                     "is already here");
}

struct HopResult {
  long status = 0;
  std::string redirect;  // absolute; empty when it is none
};

core::Result<HopResult> run_hop(const FetchRequest& request, const std::string& url,
                                bool with_token) {
  const Easy handle(curl_easy_init());
  if (!handle) return core::error(ErrorCode::kInternal, "libcurl cannot start");
  Headers headers;
  if (with_token && !request.token.empty()) {
    headers.reset(curl_slist_append(nullptr, ("Authorization: Bearer " + request.token).c_str()));
  }
  Hop hop{request, handle.get(), {}};
  configure(hop, url, headers.get());
  const CURLcode code = curl_easy_perform(handle.get());
  if (!hop.failed.ok()) return hop.failed.error();
  if (hop.cancelled) return core::error(ErrorCode::kCancelled, "the download was cancelled");
  if (code != CURLE_OK) return unreachable(origin_of(url), curl_easy_strerror(code));
  HopResult result;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &result.status);
  char* redirect = nullptr;
  curl_easy_getinfo(handle.get(), CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) result.redirect = redirect;
  if (result.status >= 200 && result.status <= 299 && !hop.started && request.begin) {
    if (core::Status begun = request.begin(0); !begun.ok()) return begun.error();  // empty body
  }
  return result;
}

}  // namespace

core::Result<long> fetch(const FetchRequest& request) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::string home = origin_of(request.url);
  if (!is_web(home)) {
    return core::error(
        ErrorCode::kUsage,
        "'" + request.url.substr(0, 200) + "' is no http:// or https:// address without a user",
        "check HF_ENDPOINT");
  }
  std::string url = request.url;
  for (int hops = 0; hops <= kFetchRedirectsMax; ++hops) {
    auto hop = run_hop(request, url, origin_of(url) == home);
    if (!hop) return hop.error();
    if (hop->redirect.empty()) return hop->status;
    const std::string next = origin_of(hop->redirect);
    if (!is_web(next) || (origin_of(url).starts_with("https|") && !next.starts_with("https|"))) {
      return unreachable(home, "it redirects to an address that is not allowed");
    }
    url = hop->redirect;
  }
  return unreachable(home, "more than " + std::to_string(kFetchRedirectsMax) + " redirects");
}

}  // namespace saccade::transport
