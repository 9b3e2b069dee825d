#pragma once
// `saccade models`: the model files this machine has, and what they are.
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"
#include "engine/load.h"
#include "find_models.h"
#include "terminal.h"

namespace saccade::app {

inline constexpr std::size_t kModelsListedMax = 1000;

struct FoundModel {
  std::string path;
  std::string reference;  // what --model takes: the path, or org/name of the hub cache
  core::Result<engine::GgufFacts> facts;
};

using InspectGguf = std::function<core::Result<engine::GgufFacts>(const std::string&)>;

// GGUF files of the folders and of the hub cache, by path; at most kModelsListedMax.
std::vector<FoundModel> list_models(const ModelPlaces& places, const InspectGguf& inspect);
std::string models_text(const std::vector<FoundModel>& models, const TerminalStyle& style);
// One JSON object per line: path, reference, kind, name, parameters, bytes, or error.
std::string models_json(const std::vector<FoundModel>& models);

}  // namespace saccade::app
