#pragma once
// `saccade pull org/name[:quant]`: downloads a model with a progress bar.
#include <atomic>
#include <string>

#include "core/clock.h"
#include "core/result.h"
#include "environment.h"
#include "footer.h"
#include "transport/hub_client.h"

namespace saccade::app {

// From HF_ENDPOINT, HF_TOKEN or the token file, HF_HUB_CACHE/HF_HOME, HF_HUB_OFFLINE.
transport::HubOptions hub_options(const Environment& environment);

struct PullRequest {
  std::string name;
  transport::HubOptions hub;
  bool quiet = false;
  const std::atomic<bool>* stop = nullptr;  // set by a signal: end, keep what came
};
// Prints the paths of text model and projector on stdout. Errors: those of HubClient::pull.
core::Status run_pull(const PullRequest& request, Footer& footer, const core::Clock& clock);

}  // namespace saccade::app
