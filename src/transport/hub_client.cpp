#include "transport/hub_client.h"

#include <algorithm>
#include <utility>

#include "transport/blob_file.h"
#include "transport/http_fetch.h"

namespace saccade::transport {

namespace {

using core::ErrorCode;

constexpr std::int64_t kBackoffUs = 500'000, kLockPollUs = 200'000;
constexpr int kListAttemptsMax = 3;  // a person is waiting, and nothing has come yet
constexpr const char* kRevision = "main";

// Path parts go into a URL: everything but unreserved characters is escaped.
std::string url_escape(std::string_view path) {
  std::string out;
  for (const unsigned char c : path) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    if (plain) {
      out += static_cast<char>(c);
    } else {
      out += '%';
      out += "0123456789ABCDEF"[c >> 4];
      out += "0123456789ABCDEF"[c & 15];
    }
  }
  return out;
}

bool worth_another_try(long status) {
  return status == 408 || status == 416 || status == 429 || status >= 500;
}

core::Error http_error(long status, const std::string& repo, bool with_token) {
  if (status == 401 || status == 403) {
    return core::error(ErrorCode::kUnauthorized,
                       "the hub refuses access to " + repo + " (HTTP " + std::to_string(status) +
                           (with_token ? ", a token was sent)" : ", no token was sent)"),
                       with_token ? "check HF_TOKEN, and that its account may read this model"
                                  : "set HF_TOKEN; the hub answers so for unknown names too, check "
                                    "the spelling");
  }
  if (status == 404) {
    return core::error(ErrorCode::kModelUnusable, "the hub knows no model " + repo,
                       "check the spelling; names look like org/model-GGUF");
  }
  return core::error(ErrorCode::kSourceUnreachable,
                     "the hub answered HTTP " + std::to_string(status) + " for " + repo,
                     "try again later, or set HF_ENDPOINT to a mirror");
}

std::string without_slash(std::string endpoint) {
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint;
}

}  // namespace

// One file on its way.
struct HubClient::Download {
  const HubCache& cache;
  const HubModel& model;
  const HubFile& file;
  std::string commit;
  std::function<bool(std::uint64_t file_bytes, bool waiting)> tell;
  std::uint64_t fetched_bytes = 0;
  std::unique_ptr<BlobFile> blob;
};

core::Result<HubListing> HubClient::list(const HubModel& model,
                                         const std::function<bool()>& keep_going) const {
  std::string body;
  FetchRequest request;
  request.url = without_slash(options_.endpoint) + "/api/models/" + model.repo + "/revision/" +
                kRevision + "?blobs=true";
  request.token = options_.token;
  request.keep_going = keep_going;
  request.begin = [&](std::uint64_t) {
    body.clear();
    return core::Status();
  };
  request.body = [&](std::string_view bytes) -> core::Status {
    if (body.size() + bytes.size() > kHubListingBytesMax) {
      return core::error(
          ErrorCode::kMediaUnusable,
          "the hub's listing has more than " + std::to_string(kHubListingBytesMax) + " bytes",
          "check HF_ENDPOINT");
    }
    body.append(bytes);
    return {};
  };
  for (int tries = 1;; ++tries) {
    const auto status = fetch(request);
    const bool again =
        status ? worth_another_try(*status) : status.error().code == ErrorCode::kSourceUnreachable;
    if (again && tries < kListAttemptsMax) {
      clock_.sleep_us(kBackoffUs << (tries - 1));
      continue;
    }
    if (!status) return status.error();
    if (*status != 200) return http_error(*status, model.repo, !options_.token.empty());
    return parse_hub_listing(body);
  }
}

core::Result<PulledModel> HubClient::pull(const HubModel& model,
                                          const std::function<bool(const HubProgress&)>& progress) {
  if (options_.offline) return find_cached(model);
  HubProgress now;
  const auto tell = [&] { return !progress || progress(now); };
  auto listing = list(model, tell);
  if (!listing) return listing.error();
  auto choice = choose_hub_files(listing->files, model.quant);
  if (!choice) return choice.error();
  std::vector<HubFile> wanted = choice->text;
  wanted.insert(wanted.end(), choice->mmproj.begin(), choice->mmproj.end());

  const HubCache cache(options_.cache_folder, model.repo);
  if (core::Status made = cache.prepare(); !made.ok()) return made.error();
  if (core::Status fits = cache.check_space(wanted); !fits.ok()) return fits.error();
  for (const HubFile& file : wanted) now.total_bytes += file.bytes;
  PulledModel out{model.repo, listing->commit, {}, {}, 0};
  std::uint64_t before = 0;
  for (const HubFile& file : wanted) {
    Download job{cache, model, file, listing->commit, {}, 0, nullptr};
    job.tell = [&](std::uint64_t file_bytes, bool waiting) {
      now.file = file.path;
      now.done_bytes = before + file_bytes;
      now.waiting = waiting;
      return tell();
    };
    core::Status done = download(job);
    if (done.ok()) done = cache.link(listing->commit, file);
    if (!done.ok()) return done.error();
    before += file.bytes;
    out.fetched_bytes += job.fetched_bytes;
  }
  if (core::Status noted = cache.write_ref(kRevision, listing->commit); !noted.ok()) {
    return noted.error();
  }
  for (const HubFile& file : choice->text) {
    out.text_paths.push_back(cache.snapshot_path(listing->commit, file.path));
  }
  for (const HubFile& file : choice->mmproj) {
    out.mmproj_path = cache.snapshot_path(listing->commit, file.path);
  }
  return out;
}

core::Result<FileLock> HubClient::wait_for_lock(const Download& job) const {
  const core::SteadyTime start = clock_.now();
  while (true) {
    auto lock = FileLock::try_lock(job.cache.lock_path(job.file));
    if (!lock || lock->held()) return lock;
    if (!job.tell(0, true)) return core::error(ErrorCode::kCancelled, "the download was cancelled");
    if (core::us_between(start, clock_.now()) > kHubLockWaitUsMax) {
      return core::error(ErrorCode::kTimeout,
                         "another process has been downloading " + job.file.path + " for too long",
                         "end it, then run `saccade pull` again");
    }
    clock_.sleep_us(kLockPollUs);
  }
}

core::Status HubClient::download(Download& job) const {
  const auto lock = wait_for_lock(job);
  if (!lock) return lock.error();
  if (job.cache.has_blob(job.file)) {
    job.tell(job.file.bytes, false);
    return {};
  }
  auto blob = BlobFile::open(job.cache.incomplete_path(job.file));
  if (!blob) return blob.error();
  job.blob = std::move(*blob);
  if (job.blob->bytes() > job.file.bytes) {
    if (core::Status again = job.blob->restart(); !again.ok()) return again;
  }
  std::uint64_t reached = job.blob->bytes();
  for (int tries = 1; job.blob->bytes() < job.file.bytes; ++tries) {
    const auto status = attempt(job);
    const bool again = status ? (*status < 300 || worth_another_try(*status))
                              : status.error().code == ErrorCode::kSourceUnreachable;
    if (!again && !status) return status.error();
    if (!again) return http_error(*status, job.model.repo, !options_.token.empty());
    if (job.blob->bytes() >= job.file.bytes) break;
    if (job.blob->bytes() > reached) tries = 0;
    reached = job.blob->bytes();
    if (tries >= kHubAttemptsMax) {
      return status ? core::Status(http_error(*status, job.model.repo, !options_.token.empty()))
                    : core::Status(status.error());
    }
    clock_.sleep_us(kBackoffUs << tries);
  }
  return job.blob->commit({job.file.bytes, job.file.sha256, job.cache.blob_path(job.file)});
}

core::Result<long> HubClient::attempt(Download& job) const {
  FetchRequest request;
  request.url = without_slash(options_.endpoint) + "/" + job.model.repo + "/resolve/" + job.commit +
                "/" + url_escape(job.file.path);
  request.token = options_.token;
  request.from = job.blob->bytes();
  request.keep_going = [&] { return job.tell(job.blob->bytes(), false); };
  request.begin = [&](std::uint64_t from) -> core::Status {
    if (from == job.blob->bytes()) return {};
    if (from == 0) return job.blob->restart();  // the server does not do ranges
    return core::error(ErrorCode::kSourceUnreachable,
                       "the hub sent another range of " + job.file.path + " than asked for",
                       "try again, or set HF_ENDPOINT to another mirror");
  };
  request.body = [&](std::string_view bytes) -> core::Status {
    if (job.blob->bytes() + bytes.size() > job.file.bytes) {
      return core::error(ErrorCode::kModelUnusable,
                         "the hub sends more than the " + std::to_string(job.file.bytes) +
                             " bytes it announced for " + job.file.path,
                         "try again, or set HF_ENDPOINT to another mirror");
    }
    job.fetched_bytes += bytes.size();
    return job.blob->append(bytes);
  };
  return fetch(request);
}

core::Result<PulledModel> HubClient::find_cached(const HubModel& model) const {
  const HubCache cache(options_.cache_folder, model.repo);
  const auto commit = cache.read_ref(kRevision);
  if (!commit) return commit.error();
  const auto choice = choose_hub_files(cache.snapshot_files(*commit), model.quant);
  if (!choice) return choice.error();
  PulledModel out{model.repo, *commit, {}, {}, 0};
  for (const HubFile& file : choice->text) {
    out.text_paths.push_back(cache.snapshot_path(*commit, file.path));
  }
  for (const HubFile& file : choice->mmproj) {
    out.mmproj_path = cache.snapshot_path(*commit, file.path);
  }
  return out;
}

}  // namespace saccade::transport
