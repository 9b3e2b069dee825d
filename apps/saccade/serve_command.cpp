// serve: load the models once, answer over HTTP until a signal, then end what runs.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "commands.h"
#include "make_options.h"
#include "serve.h"
#include "session/shared_models.h"
#include "transport/serve/service.h"

namespace saccade::app {
namespace {

// Orchestrators kill after 30 s: everything must have ended before.
constexpr std::int64_t kDrainMs = 25'000;

Senses senses_of(const Settings& settings) {
  const auto has = [&](const char* name) {
    return std::find(settings.senses.begin(), settings.senses.end(), name) != settings.senses.end();
  };
  return {.see = true, .read = has("read"), .hear = has("hear")};
}

core::Result<transport::ServiceOptions> service_options(const CommandContext& context,
                                                        const Settings& settings) {
  transport::ServiceOptions options;
  auto access = access_of(settings);
  if (!access) return std::move(access).error();
  auto words = filter_words_of(settings);
  if (!words) return std::move(words).error();
  std::error_code why;
  if (!settings.media_path.empty() && !std::filesystem::is_directory(settings.media_path, why)) {
    return core::error(core::ErrorCode::kUsage,
                       "--media-path: there is no folder " + settings.media_path,
                       "name the folder whose files clients may use");
  }
  options.access = std::move(*access);
  options.version = context.version;
  options.media_path = settings.media_path;
  options.allowed_sources = settings.allow_source;
  options.queue = {.waiting_max = static_cast<std::size_t>(settings.queue_max),
                   .running = settings.parallel};
  options.streams_max = static_cast<std::size_t>(settings.streams_max);
  options.seed = static_cast<std::uint64_t>(context.clock.wall_now().us);
  options.sampling = sampling_of(settings);
  options.knobs = knobs_of(settings);
  options.filter_words = std::move(*words);
  options.fps = settings.fps;
  options.console = transport::console_files();
  return options;
}

core::Result<std::string> open_listeners(transport::HttpServer& server, const Settings& settings) {
  const bool local = settings.host.find('/') != std::string::npos;
  const auto kind = local ? transport::ListenerKind::kUnix : transport::ListenerKind::kTcp;
  const auto port = server.listen({.kind = kind, .host = settings.host, .port = settings.port});
  if (!port) return port.error();
  std::string told =
      local ? "unix:" + settings.host : "http://" + settings.host + ":" + std::to_string(*port);
  if (settings.admin_listen.empty()) return told;
  auto admin = admin_listen_of(settings.admin_listen);
  if (!admin) return std::move(admin).error();
  const auto admin_port = server.listen(*admin);
  if (!admin_port) return admin_port.error();
  const bool admin_local = admin->host.find('/') != std::string::npos;
  return told + ", admin on " +
         (admin_local ? "unix:" + admin->host
                      : "http://" + admin->host + ":" + std::to_string(*admin_port));
}

// On a change and on SIGHUP, until the callbacks are taken away.
void follow_policies(CommandContext& context, PolicyFolder& policies,
                     session::SharedModels& shared) {
  const auto renew = [&](bool at_once) {
    renew_policies(context, policies, at_once, [&](const governor::PolicyBookPtr& book) {
      shared.governor().set_policies(book);
    });
  };
  context.signals.on_hangup([renew] { renew(true); });
  context.signals.on_tick([renew] { renew(false); });
}

}  // namespace

core::Status run_serve(CommandContext& context) {
  auto loaded = context.settings();
  if (!loaded) return std::move(loaded).error();
  const Settings& settings = loaded->settings;
  auto options = service_options(context, settings);
  if (!options) return std::move(options).error();
  auto policies = open_policies(settings);
  if (!policies) return std::move(policies).error();
  auto governing = governing_of(settings, *policies);
  if (!governing) return std::move(governing).error();
  options->governing = {.policy = governing->policy, .slo_ms = governing->slo_ms};
  if (!settings.admin_listen.empty()) {
    if (const auto admin = admin_listen_of(settings.admin_listen); !admin) return admin.error();
  }

  const Senses senses = senses_of(settings);
  auto files = find_model_files(context, settings, senses);
  if (!files) return std::move(files).error();
  // One for each request and stream at work, and one that stands for the model itself.
  files->sessions = std::min(settings.parallel + settings.streams_max + 1, engine::kSessionsMax);
  auto models = session::load_models(*files, senses);
  if (!models) return std::move(models).error();
  const engine::LanguageTraits traits = models->vision_language.language->traits();
  options->model = model_name(settings.alias, traits.name);
  options->context_lines =
      settings.context_lines == "on" || (settings.context_lines == "auto" && traits.wants_context);
  auto shared = session::SharedModels::create(std::move(*models), std::move(*files), context.clock);
  if (!shared) return std::move(shared).error();
  (*shared)->governor().set_policies(governing->book);

  auto service = std::make_unique<transport::Service>(std::move(*options), **shared, context.clock);
  transport::HttpServer server(*service, context.clock);
  service->count_connections([&] { return server.connections(); });
  const auto where = open_listeners(server, settings);
  if (!where) return where.error();
  context.signals.on_signal([&] {
    service->begin_drain();
    server.begin_drain(kDrainMs);
  });
  if (*policies) follow_policies(context, **policies, **shared);
  if (!settings.quiet) context.footer.print_error("saccade: serving on " + *where + "\n");
  server.run();
  context.signals.on_signal({});
  context.signals.on_hangup({});
  context.signals.on_tick({});
  // Its threads end before the server does: they may still have something to tell.
  service.reset();
  return {};
}

}  // namespace saccade::app
