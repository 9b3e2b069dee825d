// Headers are checked before any engine opens a file. A pair goes to our own graphs where they
// serve it, else to llama.cpp.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/checked_files.h"
#include "engine/llama/backend.h"
#include "engine/llama/load_llama.h"
#include "engine/native/load_native.h"

namespace saccade::engine {
namespace {

constexpr int kThreadsMax = 256;

core::Error unusable(const std::string& message, std::string hint) {
  return core::error(core::ErrorCode::kModelUnusable, message, std::move(hint));
}

// Names for messages: "path (model name)".
std::string name_file(const std::string& path, const gguf::OpenedHeader& file) {
  const std::string name = file.header.text("general.name");
  return name.empty() ? path : path + " (" + name + ")";
}

core::Result<gguf::OpenedHeader> open_text(const std::string& path) {
  auto file = gguf::read_gguf(path);
  if (!file) return file.error();
  if (file->header.text("general.architecture") == "clip") {
    return unusable(path + ": is a vision projector (mmproj), not a language model",
                    "give it as --mmproj and name the text model as --model");
  }
  if (file->header.find("tokenizer.ggml.model") == nullptr || file->header.tensors == 0) {
    return unusable(path + ": holds no language model with its vocabulary", "use another file");
  }
  return file;
}

core::Result<gguf::OpenedHeader> open_mmproj(const std::string& path) {
  auto file = gguf::read_gguf(path);
  if (!file) return file.error();
  const auto& header = file->header;
  if (header.text("general.architecture") != "clip") {
    return unusable(path + ": is no vision projector (its architecture is '" +
                        header.text("general.architecture") + "')",
                    "the mmproj file comes beside the text model");
  }
  if (!header.boolean("clip.has_vision_encoder").value_or(false)) {
    return unusable(path + ": holds no vision encoder", "use an mmproj file made for pictures");
  }
  return file;
}

core::Status check_threads(int wanted) {
  if (wanted >= 0 && wanted <= kThreadsMax) return {};
  return core::error(core::ErrorCode::kUsage, std::to_string(wanted) + " threads (allowed 0.." +
                                                  std::to_string(kThreadsMax) + ")");
}

// Threads meet after every operation of a graph. Where the work between two meetings is small they
// wait for each other more than they work, most of all when other models want the cores too: with
// the bundled model two threads made answers four times as old as one did. `work` and `each`: what
// there is to do and what is worth a thread of its own, in one unit.
int thread_count(int wanted, double work, double each) {
  if (wanted > 0) return wanted;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const double worth = std::min(work / each, static_cast<double>(kThreadsMax));
  return std::clamp(static_cast<int>(worth), 1, std::clamp(cores, 1, kThreadsMax));
}

// A step of the language model reads every weight once.
int language_threads(int wanted, const gguf::Header& text) {
  constexpr double kWeightsEach = 16e6;
  return thread_count(wanted, static_cast<double>(text.parameters), kWeightsEach);
}

// A view goes patch by patch through every weight.
int vision_threads(int wanted, const gguf::Header& mmproj) {
  constexpr double kProductsEach = 2e9;
  const double side = mmproj.number("clip.vision.image_size").value_or(0);
  const double patch = std::max(mmproj.number("clip.vision.patch_size").value_or(1), 1.0);
  const double patches = side / patch * (side / patch);
  return thread_count(wanted, static_cast<double>(mmproj.parameters) * patches, kProductsEach);
}

// Last tensor of a projector, whose rows are as many as a visual token is wide.
constexpr std::pair<std::string_view, std::string_view> kLastTensors[] = {
    {"idefics3", "mm.model.fc.weight"},
    {"internvl", "mm.model.mlp.3.weight"},
    {"mlp", "mm.2.weight"},
    {"qwen2vl_merger", "mm.2.weight"},
    {"qwen2.5vl_merger", "mm.2.weight"},
    {"qwen3vl_merger", "mm.2.weight"}};

// Found out before anything is loaded where the family says it plainly; mtmd checks the others.
core::Status check_widths(const CheckedFiles& files) {
  const auto& text = files.text.header;
  const auto& mmproj = files.mmproj->header;
  const std::string projector = mmproj.text("clip.projector_type");
  const auto* named = std::find_if(std::begin(kLastTensors), std::end(kLastTensors),
                                   [&](const auto& known) { return known.first == projector; });
  if (named == std::end(kLastTensors)) return {};
  const auto last = mmproj.shapes.find(named->second);
  const auto width = text.number(text.text("general.architecture") + ".embedding_length");
  if (last == mmproj.shapes.end() || last->second.size() != 2 || !width) return {};
  if (static_cast<double>(last->second[1]) == *width) return {};
  return foreign_mmproj(files, "visual tokens are " + std::to_string(last->second[1]) +
                                   " wide, the text model takes " +
                                   std::to_string(static_cast<long long>(*width)));
}

core::Result<CheckedFiles> check_files(const LoadOptions& options) {
  if (auto status = check_threads(options.threads); !status) return status.error();
  if (options.sessions < 1 || options.sessions > kSessionsMax) {
    return core::error(core::ErrorCode::kUsage, std::to_string(options.sessions) +
                                                    " sessions (allowed 1.." +
                                                    std::to_string(kSessionsMax) + ")");
  }
  auto text = open_text(options.model_path);
  if (!text) return text.error();
  CheckedFiles files{options, std::move(*text), std::nullopt};
  files.language_threads = language_threads(options.threads, files.text.header);
  if (options.mmproj_path.empty()) return files;
  auto mmproj = open_mmproj(options.mmproj_path);
  if (!mmproj) return mmproj.error();
  files.mmproj = std::move(*mmproj);
  files.vision_threads = vision_threads(options.threads, files.mmproj->header);
  if (auto status = check_widths(files); !status) return status.error();
  return files;
}

}  // namespace

core::Error foreign_mmproj(const CheckedFiles& files, const std::string& why) {
  return unusable(name_file(files.options.mmproj_path, *files.mmproj) +
                      " belongs to another model than " +
                      name_file(files.options.model_path, files.text) + ": " + why,
                  "use the mmproj that was published with the text model");
}

core::Result<VisionLanguage> load_vision_language(const LoadOptions& options) {
  if (auto status = llama::start_backend(); !status) return status.error();
  const auto files = check_files(options);
  if (!files) return files.error();
  // A processor is all our graphs run on so far.
  if (options.engine != Engine::kLlama && !options.gpu) {
    std::string reason;
    auto native = native::load_native(*files, reason);
    if (!native) return native.error();
    if (*native) return std::move(**native);
    if (options.engine == Engine::kNative) {
      return core::error(core::ErrorCode::kUnsupported, reason,
                         "leave the choice of the engine to saccade");
    }
  }
  return llama::load_llama(*files);
}

}  // namespace saccade::engine
