#include "find_models.h"

#include <algorithm>
#include <filesystem>

#include "core/clock.h"
#include "transport/hub_client.h"

namespace saccade::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTextName = "saccade-mini-text-f16.gguf";
constexpr const char* kProjectorName = "saccade-mini-mmproj-f16.gguf";
constexpr const char* kSpeechName = "whisper-tiny.en.bin";
constexpr const char* kVoiceName = "vad.onnx";
constexpr const char* kTextDetectorName = "ocr-det.onnx";
constexpr const char* kTextReaderName = "ocr-rec.onnx";
constexpr std::size_t kFolderEntriesMax = 10'000;

bool is_file(const fs::path& path) {
  std::error_code why;
  return fs::is_regular_file(path, why);
}

std::string first_hit(const std::string& name, const ModelPlaces& places) {
  for (const std::string& folder : places.folders) {
    if (is_file(fs::path(folder) / name)) return (fs::path(folder) / name).string();
  }
  return {};
}

core::Error not_there(const std::string& flag, const std::string& path) {
  return core::error(core::ErrorCode::kModelUnusable, flag + ": there is no file " + path,
                     "check the path, or leave the flag out to use the bundled model");
}

// Given or found.
core::Status resolve(const std::string& given, const std::string& flag, const char* name,
                     const ModelPlaces& places, std::string& path) {
  path = given.empty() ? first_hit(name, places) : given;
  if (!given.empty() && !is_file(given)) return not_there(flag, given);
  return {};
}

// Text model and projector of `--model`.
core::Status resolve_model(const Settings& settings, const ModelPlaces& places, ModelPaths& out) {
  if (settings.model.empty()) {
    out.model = first_hit(kTextName, places);
    // The bundled projector belongs to the bundled model only.
    if (!out.model.empty()) out.mmproj = projector_beside(out.model);
  } else if (is_file(settings.model)) {
    out.model = settings.model;
    out.mmproj = projector_beside(out.model);
  } else if (const auto hub = transport::parse_hub_model(settings.model);
             hub && !settings.model.ends_with(".gguf")) {
    const core::SystemClock clock;
    transport::HubOptions options;
    options.cache_folder = places.hub_cache;
    options.offline = true;
    const auto found = transport::HubClient(options, clock).find_cached(*hub);
    if (!found) {
      return core::error(core::ErrorCode::kModelUnusable,
                         "--model: " + settings.model + " is not downloaded",
                         "run `saccade pull " + settings.model + "`");
    }
    out.model = found->text_paths.front();
    out.mmproj = found->mmproj_path;
  } else {
    return not_there("--model", settings.model);
  }
  if (!settings.mmproj.empty()) {
    if (!is_file(settings.mmproj)) return not_there("--mmproj", settings.mmproj);
    out.mmproj = settings.mmproj;
  }
  return {};
}

}  // namespace

std::string projector_beside(const std::string& model_path) {
  const fs::path model(model_path);
  if (model.filename() == kTextName && is_file(model.parent_path() / kProjectorName)) {
    return (model.parent_path() / kProjectorName).string();
  }
  std::vector<std::string> found;
  std::error_code why;
  std::size_t seen = 0;
  for (fs::directory_iterator it(model.parent_path().empty() ? "." : model.parent_path(), why), end;
       !why && it != end && seen < kFolderEntriesMax; it.increment(why), ++seen) {
    std::string name = it->path().filename().string();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name.find("mmproj") != name.npos && name.ends_with(".gguf")) {
      found.push_back(it->path().string());
    }
  }
  return found.size() == 1 ? found.front() : std::string();
}

ModelPlaces model_places(const Environment& environment, const std::string& executable) {
  ModelPlaces places;
  if (const std::string own = lookup(environment, "SACCADE_MODELS_DIR"); !own.empty()) {
    places.folders.push_back(own);
  }
  const fs::path folder = fs::path(executable).parent_path();
  for (const char* relative :
       {"../models", "../../models/mini", "../../build/models", "../share/saccade/models"}) {
    places.folders.push_back((folder / relative).lexically_normal().string());
  }
  places.folders.emplace_back("/usr/share/saccade/models");
  places.hub_cache = hub_cache_folder(environment);
  return places;
}

core::Result<ModelPaths> find_models(const Settings& settings, const ModelPlaces& places) {
  ModelPaths out;
  if (core::Status s = resolve_model(settings, places, out); !s.ok()) return s.error();
  for (const core::Status& s : {
           resolve(settings.speech_model, "--speech-model", kSpeechName, places, out.speech),
           resolve(settings.vad_model, "--vad-model", kVoiceName, places, out.vad),
           resolve(settings.ocr_det, "--ocr-det", kTextDetectorName, places, out.ocr_det),
           resolve(settings.ocr_rec, "--ocr-rec", kTextReaderName, places, out.ocr_rec),
       }) {
    if (!s.ok()) return s.error();
  }
  return out;
}

core::Error missing_model(const std::string& what, const std::string& setting,
                          const ModelPlaces& places) {
  std::string looked;
  for (const std::string& folder : places.folders) looked += (looked.empty() ? "" : ", ") + folder;
  return core::error(core::ErrorCode::kModelUnusable, "no " + what + " found in " + looked,
                     "give " + setting +
                         " FILE, set SACCADE_MODELS_DIR, or run `make setup` in "
                         "the source tree");
}

std::string hub_cache_folder(const Environment& environment) {
  if (const std::string own = lookup(environment, "HF_HUB_CACHE"); !own.empty()) return own;
  if (const std::string home = lookup(environment, "HF_HOME"); !home.empty()) return home + "/hub";
  std::string cache = lookup(environment, "XDG_CACHE_HOME");
  if (cache.empty()) cache = lookup(environment, "HOME") + "/.cache";
  return cache + "/huggingface/hub";
}

}  // namespace saccade::app
