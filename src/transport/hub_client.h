#pragma once
// Downloads models from a Hugging Face hub: text GGUF and vision projector, resumed by range,
// checked by size and SHA-256 before they get their name, shared with Python tools (hub_cache.h).
// Nothing half-written is ever visible under a final name. The environment is read in apps only.
// Threads: one call at a time per object; processes may run side by side.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "transport/hub_cache.h"
#include "transport/hub_listing.h"

namespace saccade::transport {

inline constexpr std::string_view kHubDefaultEndpoint = "https://huggingface.co";
inline constexpr int kHubAttemptsMax = 5;  // without a byte of progress between them
inline constexpr std::int64_t kHubLockWaitUsMax = 2LL * 3600 * 1'000'000;

struct HubOptions {
  std::string endpoint{kHubDefaultEndpoint};  // HF_ENDPOINT
  std::string token;                          // HF_TOKEN; never sent to another host
  std::string cache_folder;                   // HF_HUB_CACHE, or HF_HOME/hub
  bool offline = false;                       // HF_HUB_OFFLINE: use only what is there
};

struct HubProgress {
  std::string file;              // being fetched or checked
  std::uint64_t done_bytes = 0;  // of all files together
  std::uint64_t total_bytes = 0;
  bool waiting = false;  // another process downloads this file
};

struct PulledModel {
  std::string repo, commit;
  std::vector<std::string> text_paths;  // parts in order; llama.cpp opens the first
  std::string mmproj_path;              // empty = text only
  std::uint64_t fetched_bytes = 0;      // 0 = all of it was there
};

class HubClient {
 public:
  // `clock` must outlive the client.
  HubClient(HubOptions options, const core::Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  // `progress` may be empty; false cancels. Errors: kUnauthorized (401, 403), kSourceUnreachable,
  // kModelUnusable (no such model or file, wrong hash), kMediaUnusable (listing), kExhausted
  // (disk), kCancelled, kTimeout (lock).
  core::Result<PulledModel> pull(const HubModel& model,
                                 const std::function<bool(const HubProgress&)>& progress);

  // Only what is already downloaded; never touches the network.
  core::Result<PulledModel> find_cached(const HubModel& model) const;

 private:
  struct Download;

  core::Result<HubListing> list(const HubModel& model,
                                const std::function<bool()>& keep_going) const;
  core::Result<FileLock> wait_for_lock(const Download& job) const;
  core::Status download(Download& job) const;
  core::Result<long> attempt(Download& job) const;

  const HubOptions options_;
  const core::Clock& clock_;
};

}  // namespace saccade::transport
