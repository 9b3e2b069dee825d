#include "perceive/read/text_models.h"

#include <cmath>
#include <exception>
#include <filesystem>
#include <openvino/openvino.hpp>
#include <string_view>
#include <system_error>
#include <utility>

namespace saccade::perceive {
namespace {

using core::ErrorCode;

// OpenVINO's messages run over several lines with source positions; people get the last line.
std::string last_line(std::string_view what) {
  while (!what.empty() && (what.back() == '\n' || what.back() == ' ')) what.remove_suffix(1);
  const auto newline = what.rfind('\n');
  if (newline != std::string_view::npos) what.remove_prefix(newline + 1);
  return std::string(what.substr(0, 200));
}

core::Error unusable(const std::string& path, std::string_view why) {
  return core::error(ErrorCode::kModelUnusable,
                     "text model '" + path + "' cannot be used: " + std::string(why),
                     "fetch the bundled weights again with 'make models'");
}

core::Result<std::shared_ptr<ov::Model>> read_network(ov::Core& core, const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return unusable(path, "no such file");
  try {
    auto model = core.read_model(path);
    if (model->inputs().size() != 1 || model->outputs().size() != 1 ||
        model->input().get_partial_shape().rank() != 4) {
      return unusable(path, "expected one picture in and one result out");
    }
    return model;
  } catch (const std::exception& error) {
    return unusable(path, last_line(error.what()));
  }
}

// Class names: the blank, the lines of the dictionary inside the model, the space.
std::vector<std::string> read_symbols(const ov::Model& model) {
  std::vector<std::string> symbols{std::string()};
  if (!model.has_rt_info(std::vector<std::string>{"framework", "character"})) return symbols;
  const auto joined = model.get_rt_info<std::string>("framework", "character");
  std::size_t start = 0;
  while (start <= joined.size()) {
    const std::size_t end = std::min(joined.find('\n', start), joined.size());
    symbols.push_back(joined.substr(start, end - start));
    start = end + 1;
  }
  symbols.emplace_back(" ");
  return symbols;
}

// The best class of one column; -1 when a number is none. Columns are probabilities, so a class
// above one half is the best: most columns end at their first entry, the blank.
CtcStep best_symbol(const float* column, std::size_t classes) {
  CtcStep best{-1, -1};
  for (std::size_t i = 0; i < classes; ++i) {
    if (column[i] > best.probability) {
      best = CtcStep{static_cast<int>(i), column[i]};
      if (best.probability > 0.5F) break;
    }
  }
  if (!std::isfinite(best.probability)) best.symbol = -1;
  return best;
}

core::Error not_a_number(std::string_view network) {
  return core::error(ErrorCode::kNumeric,
                     "the text " + std::string(network) + " gave values that are no numbers",
                     "check the model file with 'saccade doctor'");
}

}  // namespace

struct TextModels::State {
  ov::Core core;
  ov::CompiledModel detector, recogniser;
  ov::InferRequest detect, recognize;
  std::vector<std::string> symbols;

  ov::CompiledModel compile(const std::shared_ptr<ov::Model>& model, int threads) {
    return core.compile_model(model, "CPU",
                              ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
                              ov::num_streams(1), ov::inference_num_threads(threads),
                              ov::hint::enable_cpu_pinning(false));
  }

  // Runs one request on borrowed input. The result tensor belongs to the request.
  static core::Result<ov::Tensor> infer(ov::InferRequest& request, const ModelPicture& picture) {
    const ov::Shape shape{1, 3, static_cast<std::size_t>(picture.height),
                          static_cast<std::size_t>(picture.width)};
    if (picture.planes.empty() || ov::shape_size(shape) != picture.planes.size()) {
      return core::error(ErrorCode::kInternal, "text network input does not have its stated size");
    }
    try {
      request.set_input_tensor(ov::Tensor(ov::element::f32, shape, picture.planes.data()));
      request.infer();
      return request.get_output_tensor();
    } catch (const std::exception& error) {
      return core::error(ErrorCode::kInternal, "text network failed: " + last_line(error.what()));
    }
  }
};

TextModels::TextModels(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextModels::~TextModels() = default;

core::Result<std::unique_ptr<TextModels>> TextModels::load(const TextModelOptions& options) {
  if (options.threads < 1 || options.threads > kReadThreadsMax) {
    return core::error(ErrorCode::kUsage,
                       "threads for reading text is " + std::to_string(options.threads) +
                           ", allowed are 1 to " + std::to_string(kReadThreadsMax));
  }
  auto state = std::make_unique<State>();
  const auto detector = read_network(state->core, options.detector_path);
  if (!detector) return detector.error();
  const auto recogniser = read_network(state->core, options.recogniser_path);
  if (!recogniser) return recogniser.error();
  try {
    state->core.set_property("CPU",
                             {{"CPU_RUNTIME_CACHE_CAPACITY", std::to_string(kShapesCached)}});
    state->symbols = read_symbols(**recogniser);
    const auto classes = (*recogniser)->output().get_partial_shape();
    if (classes.rank() != 3 || classes[2].is_dynamic() ||
        classes[2].get_length() != static_cast<std::int64_t>(state->symbols.size())) {
      return unusable(options.recogniser_path, "its dictionary and its output do not fit");
    }
    if ((*detector)->output().get_partial_shape().rank() != 4) {
      return unusable(options.detector_path, "it is no text detector");
    }
    state->detector = state->compile(*detector, options.threads);
    state->recogniser = state->compile(*recogniser, options.threads);
    state->detect = state->detector.create_infer_request();
    state->recognize = state->recogniser.create_infer_request();
  } catch (const std::exception& error) {
    return unusable(options.recogniser_path, last_line(error.what()));
  }
  return std::unique_ptr<TextModels>(new TextModels(std::move(state)));
}

core::Result<TextMap> TextModels::detect(const ModelPicture& picture) {
  const auto output = State::infer(state_->detect, picture);
  if (!output) return output.error();
  const auto pixels = static_cast<std::size_t>(picture.height) * picture.width;
  if (output->get_element_type() != ov::element::f32 || output->get_size() != pixels) {
    return core::error(ErrorCode::kInternal, "text detector gave a map of another size");
  }
  const float* values = output->data<const float>();
  TextMap map{std::vector<float>(values, values + pixels), picture.height, picture.width};
  for (const float value : map.probability) {
    if (!std::isfinite(value)) return not_a_number("detector");
  }
  return map;
}

core::Result<std::vector<CtcStep>> TextModels::recognize(const ModelPicture& line) {
  const auto output = State::infer(state_->recognize, line);
  if (!output) return output.error();
  const ov::Shape shape = output->get_shape();
  if (output->get_element_type() != ov::element::f32 || shape.size() != 3 ||
      shape[2] != state_->symbols.size()) {
    return core::error(ErrorCode::kInternal, "text recogniser gave columns of another size");
  }
  const float* values = output->data<const float>();
  std::vector<CtcStep> steps(shape[1]);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i] = best_symbol(values + i * shape[2], shape[2]);
    if (steps[i].symbol < 0) return not_a_number("recogniser");
  }
  return steps;
}

std::span<const std::string> TextModels::symbols() const { return state_->symbols; }

}  // namespace saccade::perceive
