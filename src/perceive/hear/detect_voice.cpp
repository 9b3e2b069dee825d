// Silero VAD on OpenVINO. The network sees the chunk and the last 64 samples before it, and hands
// its memory back with each answer.
#include "perceive/hear/detect_voice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <openvino/openvino.hpp>
#include <optional>

namespace saccade::perceive {
namespace {

using core::ErrorCode;

constexpr std::size_t kContextSamples = 64;
constexpr std::size_t kInputSamples = kContextSamples + kVoiceChunkSamples;
constexpr std::size_t kStateSize = 2UL * 1 * 128;
constexpr std::uintmax_t kFileBytesMax = 64UL << 20;
constexpr int kOnnxFirstByte = 0x08;  // protobuf's tag of the field ir_version

class SileroDetector final : public VoiceDetector {
 public:
  // Throws what OpenVINO throws.
  explicit SileroDetector(ov::CompiledModel& model)
      : request_(model.create_infer_request()),
        sound_(ov::element::f32, {1, kInputSamples}),
        state_(ov::element::f32, {2, 1, 128}) {
    request_.set_tensor("input", sound_);
    request_.set_tensor("state", state_);
    clear();
  }

  core::Result<float> probability(std::span<const float> chunk) override {
    if (chunk.size() != kVoiceChunkSamples)
      return core::error(ErrorCode::kUsage, "voice chunk has " + std::to_string(chunk.size()) +
                                                " samples, allowed: exactly 512");
    float* sound = sound_.data<float>();
    std::copy(sound + kVoiceChunkSamples, sound + kInputSamples, sound);
    std::copy(chunk.begin(), chunk.end(), sound + kContextSamples);
    try {
      request_.infer();
      const ov::Tensor next = request_.get_output_tensor(1);
      std::copy_n(next.data<const float>(), kStateSize, state_.data<float>());
      const float answer = request_.get_output_tensor(0).data<const float>()[0];
      if (std::isfinite(answer)) return answer;
    } catch (const std::exception& problem) {
      return core::error(ErrorCode::kInternal, std::string("voice detector: ") + problem.what());
    }
    clear();
    return core::error(ErrorCode::kNumeric, "voice detector gave no number");
  }

  void reset() override { clear(); }

 private:
  void clear() {
    std::fill_n(sound_.data<float>(), kInputSamples, 0.0F);
    std::fill_n(state_.data<float>(), kStateSize, 0.0F);
  }

  ov::InferRequest request_;
  ov::Tensor sound_;  // F32 [1][kInputSamples]
  ov::Tensor state_;  // F32 [2][1][128]
};

// A protobuf number at the place the file is read; nothing at its end or when it is too long.
std::optional<std::uint64_t> read_varint(std::istream& file) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const int byte = file.get();
    if (byte < 0) return std::nullopt;
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Empty when the file's outermost fields are those of a whole ONNX network. OpenVINO tries every
// format it knows on anything else and complains on stderr.
std::string fault_of(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return "no such file";
  const std::uintmax_t bytes = std::filesystem::file_size(path, none);
  if (bytes > kFileBytesMax) return "larger than 64 MB";
  std::ifstream file(path, std::ios::binary);
  if (!file) return "cannot be opened";
  if (file.peek() != kOnnxFirstByte) return "not an ONNX file";
  while (file.peek() >= 0) {
    const auto tag = read_varint(file);
    const bool number = tag && (*tag & 7) == 0, block = tag && (*tag & 7) == 2;
    const auto value = number || block ? read_varint(file) : std::nullopt;
    if (!value) return "not an ONNX file, or cut short";
    if (!block) continue;
    if (*value > bytes - static_cast<std::uintmax_t>(file.tellg())) return "cut short";
    file.seekg(static_cast<std::streamoff>(*value), std::ios::cur);
  }
  return {};
}

// OpenVINO's messages begin with places in its source; what is wrong comes last.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// Empty when the network has the inputs and outputs this file is written for.
std::string fault_of(const ov::Model& model) {
  if (model.inputs().size() != 2 || model.outputs().size() != 2)
    return "has " + std::to_string(model.inputs().size()) + " inputs and " +
           std::to_string(model.outputs().size()) + " outputs, expected 2 and 2";
  bool sound = false, state = false;
  for (const auto& input : model.inputs()) {
    const auto fits = [&](const char* name, const ov::PartialShape& shape) {
      return input.get_names().contains(name) && input.get_partial_shape().compatible(shape);
    };
    sound |= fits("input", {1, static_cast<std::int64_t>(kInputSamples)});
    state |= fits("state", {2, 1, 128});
  }
  if (!sound || !state) return "lacks the inputs input [1,576] and state [2,1,128]";
  if (!model.outputs()[1].get_partial_shape().compatible({2, 1, 128}))
    return "gives no state [2,1,128] back";
  return {};
}

}  // namespace

core::Result<std::unique_ptr<VoiceDetector>> load_voice_detector(const std::string& path) {
  const auto unusable = [&](const std::string& why) {
    return core::error(ErrorCode::kModelUnusable, "voice model " + path + ": " + why,
                       "use silero_vad_openvino_16k.onnx and fetch it again if it was cut short");
  };
  if (const std::string fault = fault_of(path); !fault.empty()) return unusable(fault);
  try {
    ov::Core core;
    const auto model = core.read_model(path);
    if (const std::string fault = fault_of(*model); !fault.empty()) return unusable(fault);
    ov::CompiledModel compiled = core.compile_model(
        model, "CPU",
        {ov::inference_num_threads(1), ov::hint::inference_precision(ov::element::f32),
         ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY)});
    return std::unique_ptr<VoiceDetector>(std::make_unique<SileroDetector>(compiled));
  } catch (const std::exception& problem) {
    return unusable("OpenVINO cannot load it: " + last_line(problem.what()));
  }
}

}  // namespace saccade::perceive
