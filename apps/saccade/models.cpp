#include "models.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "transport/json_text.h"

namespace saccade::app {

namespace {

namespace fs = std::filesystem;

std::string kind_of(const engine::GgufFacts& facts) {
  return facts.projector.empty() ? facts.architecture : "projector " + facts.projector;
}

std::string short_count(std::uint64_t n) {
  char text[32];
  if (n >= 1'000'000'000) {
    std::snprintf(text, sizeof text, "%.1f B", static_cast<double>(n) / 1e9);
  } else {
    std::snprintf(text, sizeof text, "%.1f M", static_cast<double>(n) / 1e6);
  }
  return text;
}

// "org/name" of .../models--org--name/snapshots/...; empty elsewhere.
std::string hub_name(const fs::path& path) {
  for (const fs::path& part : path) {
    std::string name = part.string();
    if (!name.starts_with("models--")) continue;
    name.erase(0, 8);
    const auto dashes = name.find("--");
    return dashes == name.npos ? std::string() : name.replace(dashes, 2, "/");
  }
  return {};
}

// GGUF files below `folder`; links of a snapshot count by their name.
void collect(const std::string& folder, std::set<std::string>& paths) {
  std::error_code why;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, why), end; !why && it != end;
       it.increment(why)) {
    if (paths.size() >= kModelsListedMax || it.depth() > 8) break;
    std::error_code missing;
    if (it->path().extension() == ".gguf" && fs::is_regular_file(it->path(), missing)) {
      paths.insert(it->path().lexically_normal().string());
    }
  }
}

}  // namespace

std::vector<FoundModel> list_models(const ModelPlaces& places, const InspectGguf& inspect) {
  std::set<std::string> paths;
  for (const std::string& folder : places.folders) collect(folder, paths);
  collect(places.hub_cache, paths);
  std::vector<FoundModel> out;
  for (const std::string& path : paths) {
    const std::string hub = hub_name(path);
    out.push_back({path, hub.empty() ? path : hub, inspect(path)});
  }
  return out;
}

std::string models_text(const std::vector<FoundModel>& models, const TerminalStyle& style) {
  if (models.empty()) {
    return "no models found; `saccade pull org/name` downloads one\n";
  }
  std::string out;
  for (const FoundModel& model : models) {
    out += painted(printable(model.reference), "1", style) + "\n";
    if (!model.facts) {
      out +=
          "  " + painted("unusable: " + printable(model.facts.error().message), "31", style) + "\n";
      continue;
    }
    const engine::GgufFacts& facts = *model.facts;
    char size[32];
    std::snprintf(size, sizeof size, "%.1f MB", static_cast<double>(facts.file_bytes) / 1e6);
    out += "  " + printable(kind_of(facts)) + ", " + short_count(facts.parameters) +
           " parameters, " + size;
    if (!facts.name.empty()) out += ", \"" + printable(facts.name) + "\"";
    out += "\n";
    if (model.reference != model.path) {
      out += "  " + painted(printable(model.path), "2", style) + "\n";
    }
    if (!facts.prompts.empty()) out += "  trained on these kinds of question only:\n";
    for (const std::string& kind : facts.prompts) out += "    " + printable(kind) + "\n";
  }
  return out;
}

std::string models_json(const std::vector<FoundModel>& models) {
  std::string out;
  for (const FoundModel& model : models) {
    transport::JsonObject row;
    row.text("path", model.path);
    row.text("model", model.reference);
    if (model.facts) {
      row.text("kind", kind_of(*model.facts));
      row.text("name", model.facts->name);
      row.count("parameters", model.facts->parameters);
      row.count("bytes", model.facts->file_bytes);
    } else {
      row.text("error", model.facts.error().message);
    }
    out += row.str() + "\n";
  }
  return out;
}

}  // namespace saccade::app
