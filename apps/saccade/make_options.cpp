#include "make_options.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <utility>

#include "engine/load.h"
#include "match_prompt.h"
#include "terminal.h"

namespace saccade::app {
namespace {

constexpr const char* kDefaultPrompt = "What do you see?";

std::vector<attend::StandingPrompt> prompts_of(const Settings& settings, bool default_prompt) {
  using Kind = attend::StandingPrompt::Kind;
  std::vector<attend::StandingPrompt> prompts;
  for (const std::string& text : settings.prompt) {
    prompts.push_back({Kind::kAnswer, "prompt-" + std::to_string(prompts.size() + 1), text});
  }
  if (prompts.empty() && settings.alert.empty() && default_prompt) {
    prompts.push_back({Kind::kAnswer, "caption", kDefaultPrompt});
  }
  int alerts = 0;
  for (const std::string& text : settings.alert) {
    prompts.push_back({Kind::kAlert, "alert-" + std::to_string(++alerts), text});
  }
  return prompts;
}

// The settings table has checked the word.
engine::Engine engine_of(const std::string& word) {
  if (word == "native") return engine::Engine::kNative;
  return word == "llama" ? engine::Engine::kLlama : engine::Engine::kAuto;
}

}  // namespace

core::Result<session::ModelFiles> find_model_files(const CommandContext& context,
                                                   const Settings& settings, const Senses& senses) {
  const ModelPlaces places = context.places();
  const auto paths = find_models(settings, places);
  if (!paths) return paths.error();
  struct Need {
    bool needed;
    const std::string& path;
    const char *what, *setting;
  };
  for (const Need& need : {Need{senses.see, paths->model, "vision-language model", "model"},
                           Need{senses.read, paths->ocr_det, "text detector", "ocr_det"},
                           Need{senses.read, paths->ocr_rec, "text recogniser", "ocr_rec"},
                           Need{senses.hear, paths->vad, "voice detector", "vad_model"},
                           Need{senses.hear, paths->speech, "speech model", "speech_model"}}) {
    if (need.needed && need.path.empty()) return missing_model(need.what, need.setting, places);
  }
  return session::ModelFiles{.model = paths->model,
                             .mmproj = paths->mmproj,
                             .ocr_det = paths->ocr_det,
                             .ocr_rec = paths->ocr_rec,
                             .vad = paths->vad,
                             .speech = paths->speech,
                             .context_tokens = settings.context_tokens,
                             .engine = engine_of(settings.engine),
                             .threads = settings.threads};
}

core::Result<session::LoadedModels> open_models(const CommandContext& context,
                                                const Settings& settings, const Senses& senses) {
  const auto files = find_model_files(context, settings, senses);
  if (!files) return files.error();
  return session::load_models(*files, senses);
}

void note_on_prompts(CommandContext& context, const Settings& settings,
                     const std::vector<std::string>& prompts) {
  const auto files =
      find_model_files(context, settings, {.see = true, .read = false, .hear = false});
  if (!files || settings.quiet) return;
  const auto facts = engine::inspect_gguf(files->model);
  if (!facts) return;
  for (const std::string& prompt : prompts) {
    const std::string note = note_on_prompt(prompt, facts->prompts);
    if (!note.empty()) context.footer.print_error("note: " + printable(note) + "\n");
  }
}

core::Result<std::optional<PolicyFolder>> open_policies(const Settings& settings) {
  if (settings.policies.empty()) return std::optional<PolicyFolder>();
  auto folder = PolicyFolder::open(settings.policies);
  if (!folder) return std::move(folder).error();
  return std::optional<PolicyFolder>(std::move(*folder));
}

core::Result<session::Governing> governing_of(const Settings& settings,
                                              const std::optional<PolicyFolder>& policies) {
  session::Governing governing{.policy = settings.policy, .slo_ms = settings.slo_ms};
  governing.book = policies ? policies->book() : std::make_shared<governor::PolicyBook>();
  if (settings.policy == "auto") return governing;
  if (const auto policy = governing.book->find(settings.policy); !policy) return policy.error();
  return governing;
}

core::Knobs knobs_of(const Settings& settings) {
  core::Knobs knobs;
  knobs.change_threshold = settings.change_threshold;
  knobs.refresh_max = core::MediaDuration::from_seconds(settings.refresh_s);
  knobs.keep_share = settings.keep_share;
  knobs.max_new_tokens = settings.max_new_tokens;
  return knobs;
}

engine::SamplingOptions sampling_of(const Settings& settings) {
  engine::SamplingOptions sampling;
  sampling.temperature = static_cast<float>(settings.temperature);
  sampling.top_p = static_cast<float>(settings.top_p);
  sampling.seed = static_cast<std::uint64_t>(settings.seed);
  return sampling;
}

core::Result<std::vector<std::string>> filter_words_of(const Settings& settings) {
  std::vector<std::string> words;
  if (settings.filter_words_file.empty()) return words;
  std::ifstream file(settings.filter_words_file);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) words.push_back(line);
  }
  if (file.is_open() && file.eof()) return words;
  return core::error(core::ErrorCode::kUsage,
                     "cannot read the filter words file " + settings.filter_words_file,
                     "check the path of --filter-words-file");
}

ingest::SourceOptions source_of(const Settings& settings, const std::string& url) {
  ingest::SourceOptions source;
  source.url = url;
  source.fps = settings.fps;
  source.realtime = settings.realtime;
  source.loop = settings.loop;
  source.udp = settings.rtsp_udp;
  source.connect_limit = std::chrono::milliseconds(std::llround(settings.connect_timeout_s * 1000));
  source.tls_ca_file = settings.tls_ca;
  source.tls_insecure = settings.tls_insecure;
  return source;
}

core::Result<session::SessionOptions> session_options(const Settings& settings,
                                                      const std::string& source,
                                                      const Senses& senses,
                                                      const OptionRules& rules) {
  if (!senses.see && !(settings.prompt.empty() && settings.alert.empty()) && rules.default_prompt) {
    return core::error(core::ErrorCode::kUsage, "--prompt and --alert need the sense see",
                       "add see to --senses");
  }
  auto words = filter_words_of(settings);
  if (!words) return std::move(words).error();
  session::SessionOptions options;
  options.source = source_of(settings, source);
  if (!settings.audio.empty()) options.audio_source = source_of(settings, settings.audio);
  if (senses.see) options.prompts = prompts_of(settings, rules.default_prompt);
  options.senses = senses;
  options.context_lines = settings.context_lines == "on"    ? session::ContextLines::kOn
                          : settings.context_lines == "off" ? session::ContextLines::kOff
                                                            : session::ContextLines::kModelDecides;
  options.sampling = sampling_of(settings);
  options.stops = settings.stop;
  options.filter_words = std::move(words).value();
  options.knobs = knobs_of(settings);
  options.media_max = core::MediaDuration::from_seconds(settings.duration_s);
  return options;
}

}  // namespace saccade::app
