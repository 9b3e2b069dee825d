#include "pull.h"

#include <algorithm>
#include <fstream>

#include "find_models.h"
#include "progress.h"

namespace saccade::app {

namespace {

std::string token_from(const Environment& environment) {
  if (const std::string token = lookup(environment, "HF_TOKEN"); !token.empty()) return token;
  std::string path = lookup(environment, "HF_TOKEN_PATH");
  if (path.empty()) {
    // The token lies beside the hub folder: HF_HOME/token.
    std::string home = lookup(environment, "HF_HOME");
    if (home.empty()) {
      std::string cache = lookup(environment, "XDG_CACHE_HOME");
      if (cache.empty()) cache = lookup(environment, "HOME") + "/.cache";
      home = cache + "/huggingface";
    }
    path = home + "/token";
  }
  std::ifstream in(path);
  std::string token;
  in >> token;
  return token;
}

bool is_on(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

}  // namespace

transport::HubOptions hub_options(const Environment& environment) {
  transport::HubOptions out;
  if (const std::string own = lookup(environment, "HF_ENDPOINT"); !own.empty()) out.endpoint = own;
  out.token = token_from(environment);
  out.cache_folder = hub_cache_folder(environment);
  out.offline = is_on(lookup(environment, "HF_HUB_OFFLINE"));
  return out;
}

core::Status run_pull(const PullRequest& request, Footer& footer, const core::Clock& clock) {
  const auto model = transport::parse_hub_model(request.name);
  if (!model) return model.error();
  Progress progress({request.name, Progress::Unit::kBytes, 0, request.quiet}, footer, clock);
  transport::HubClient client(request.hub, clock);
  const auto pulled = client.pull(*model, [&](const transport::HubProgress& now) {
    if (now.total_bytes > 0) {
      progress.set_label(now.waiting ? "waiting for another download" : now.file);
      progress.set_total(static_cast<double>(now.total_bytes));
      progress.update(static_cast<double>(now.done_bytes));
    }
    return request.stop == nullptr || !request.stop->load();
  });
  progress.finish();
  if (!pulled) return pulled.error();
  for (const std::string& path : pulled->text_paths) footer.print(path + "\n");
  if (!pulled->mmproj_path.empty()) footer.print(pulled->mmproj_path + "\n");
  if (request.quiet) return {};
  const std::string came = pulled->fetched_bytes == 0 ? "was already here" : "is here and verified";
  footer.print_error(
      model->repo + " " + came +
      (pulled->mmproj_path.empty() ? "; it has no vision projector, text only" : "") +
      "\nuse it: saccade watch SOURCE --model " + request.name + "\n");
  return {};
}

}  // namespace saccade::app
