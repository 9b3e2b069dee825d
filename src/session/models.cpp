#include "session/models.h"

#include <utility>

namespace saccade::session {
namespace {

core::Status load_voice(const ModelFiles& files, LoadedModels& loaded) {
  auto voice = perceive::load_voice_detector(files.vad);
  if (!voice) return std::move(voice).error();
  loaded.voice = std::move(voice).value();
  return {};
}

core::Status load_speech(const ModelFiles& files, LoadedModels& loaded) {
  auto speech = engine::load_speech(files.speech, files.threads);
  if (!speech) return std::move(speech).error();
  loaded.speech = std::move(speech).value();
  return {};
}

core::Status load_reader(const ModelFiles& files, LoadedModels& loaded) {
  perceive::ReadOptions options;
  options.detector_path = files.ocr_det;
  options.recogniser_path = files.ocr_rec;
  if (files.threads > 0) options.threads = files.threads;
  auto reader = perceive::TextReader::open(options);
  if (!reader) return std::move(reader).error();
  loaded.reader = std::move(reader).value();
  return {};
}

core::Status load_eye(const ModelFiles& files, LoadedModels& loaded) {
  engine::LoadOptions options;
  options.model_path = files.model;
  options.mmproj_path = files.mmproj;
  options.context_tokens = files.context_tokens;
  options.threads = files.threads;
  options.engine = files.engine;
  options.sessions = files.sessions;
  auto pair = engine::load_vision_language(options);
  if (!pair) return std::move(pair).error();
  loaded.vision_language = std::move(pair).value();
  if (loaded.vision_language.vision) return {};
  return core::error(core::ErrorCode::kModelUnusable,
                     "the model " + files.model + " has no vision projector beside it",
                     "give its mmproj file with --mmproj");
}

// What every stream needs for itself.
core::Status load_own(const ModelFiles& files, const Senses& senses, LoadedModels& loaded) {
  core::Status status;
  if (senses.read) status = load_reader(files, loaded);
  if (status && senses.hear) status = load_voice(files, loaded);
  return status;
}

}  // namespace

SessionModels LoadedModels::lend() const {
  SessionModels lent;
  lent.vision = vision_language.vision.get();
  lent.language = vision_language.language.get();
  lent.reader = reader.get();
  lent.voice = voice.get();
  lent.speech = speech.get();
  return lent;
}

core::Result<LoadedModels> load_models(const ModelFiles& files, const Senses& senses) {
  LoadedModels loaded;
  core::Status status;
  if (senses.see) status = load_eye(files, loaded);
  if (status) status = load_own(files, senses, loaded);
  if (status && senses.hear) status = load_speech(files, loaded);
  if (!status) return status.error();
  return loaded;
}

core::Result<LoadedModels> load_stream_senses(const ModelFiles& files, const Senses& senses) {
  LoadedModels loaded;
  if (const auto status = load_own(files, senses, loaded); !status) return status.error();
  return loaded;
}

}  // namespace saccade::session
