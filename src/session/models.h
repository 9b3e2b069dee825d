#pragma once
// Opens the weights that sessions need and owns them.
#include <memory>
#include <string>

#include "core/result.h"
#include "engine/load.h"
#include "session/session.h"

namespace saccade::session {

// Files of one set of senses; empty = that sense has none.
struct ModelFiles {
  std::string model, mmproj;     // see and answer: GGUF pair
  std::string ocr_det, ocr_rec;  // read: ONNX
  std::string vad, speech;       // hear: ONNX and whisper.cpp weights
  int context_tokens = 0;        // 0 = the model's own
  engine::Engine engine = engine::Engine::kAuto;
  int threads = 0;   // 0 = cores of the machine
  int sessions = 1;  // that answer at one time, where the engine can (engine/load.h)
};

struct LoadedModels {
  engine::VisionLanguage vision_language;
  std::unique_ptr<perceive::TextReader> reader;
  std::unique_ptr<perceive::VoiceDetector> voice;
  std::unique_ptr<engine::SpeechModel> speech;

  SessionModels lend() const;
};

// Loads what `senses` need. Errors: kModelUnusable (absent, broken, no vision projector), kUsage.
core::Result<LoadedModels> load_models(const ModelFiles& files, const Senses& senses);

// Only what each stream needs for itself: reader and voice detector. Errors: kModelUnusable.
core::Result<LoadedModels> load_stream_senses(const ModelFiles& files, const Senses& senses);

}  // namespace saccade::session
