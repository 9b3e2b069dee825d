#pragma once
// Which weight files a run uses. A path that was given must exist; what was not given is looked for
// in these folders, first hit wins:
//   $SACCADE_MODELS_DIR, EXE/../models, EXE/../../models/mini, EXE/../../build/models,
//   EXE/../share/saccade/models, /usr/share/saccade/models        (EXE = folder of the program)
// `--model org/name[:quant]` means a model of the hub cache (`saccade pull`).
#include <string>
#include <vector>

#include "core/result.h"
#include "environment.h"
#include "settings.h"

namespace saccade::app {

// Empty = not found; whether that matters is for the command to say (see missing_model).
struct ModelPaths {
  std::string model, mmproj, speech, vad, ocr_det, ocr_rec;
};

struct ModelPlaces {
  std::vector<std::string> folders;  // searched in order
  std::string hub_cache;             // folder of downloaded models
};
ModelPlaces model_places(const Environment& environment, const std::string& executable);

// Errors: kModelUnusable (a given file is not there, a hub model is not downloaded).
core::Result<ModelPaths> find_models(const Settings& settings, const ModelPlaces& places);

// The vision projector that lies beside a text model; empty when there is none or no telling which.
std::string projector_beside(const std::string& model_path);

// What to say when a command needs a file that was not found. `what` as in "voice detector".
core::Error missing_model(const std::string& what, const std::string& setting,
                          const ModelPlaces& places);

// HF_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub.
std::string hub_cache_folder(const Environment& environment);

}  // namespace saccade::app
