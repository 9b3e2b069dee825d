// The expected tensors are listed once, from the header's numbers; the file must hold each of them
// exactly once, with that type and shape, and nothing else.
#include "engine/whisper/check_weights.h"

#include <ggml.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <istream>
#include <map>
#include <vector>

namespace saccade::engine {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is read as it lies");

constexpr std::uint32_t kMagic = 0x67676D6C;  // "ggml"
constexpr std::uint32_t kGgufMagic = 0x46554747;
constexpr std::int32_t kAudioContext = 1500;  // 30 s: fixed by whisper.cpp's window
constexpr std::int32_t kFftBins = 201;
constexpr std::int32_t kTokenBytesMax = 512;
constexpr std::int32_t kNameBytesMax = 128;
constexpr std::int32_t kPlainTokensMin = 50256;  // below them whisper.cpp has no end-of-text
constexpr std::int32_t kHeadWidth = 64;
constexpr std::int32_t kWidthMax = 4096;
constexpr std::int32_t kTextContextMax = 4096;
constexpr std::int32_t kQuantizationVersions = 1000;
constexpr std::int32_t kFloatTypeEnd = 10 * kQuantizationVersions;  // version 2 is the newest

using Shape = std::array<std::int64_t, 3>;

struct Expected {
  ggml_type type = GGML_TYPE_F32;
  Shape shape{1, 1, 1};
  bool seen = false;
};
using Tensors = std::map<std::string, Expected>;

core::Error unusable(const std::string& name, const std::string& why) {
  return core::error(core::ErrorCode::kModelUnusable, name + ": " + why,
                     "use a whisper.cpp model file such as ggml-tiny.en.bin, and fetch it again "
                     "if it was cut short");
}

// Fields of a stream, each checked against what is left of the file.
class Reader {
 public:
  Reader(std::istream& file, std::uint64_t bytes) : file_(file), left_(bytes) {}

  template <typename T>
  bool field(T& out) {
    return bytes(&out, sizeof(T));
  }
  bool bytes(void* out, std::uint64_t count) {
    if (count > left_) return false;
    left_ -= count;
    return static_cast<bool>(
        file_.read(static_cast<char*>(out), static_cast<std::streamsize>(count)));
  }
  bool skip(std::uint64_t count) {
    if (count > left_) return false;
    left_ -= count;
    return static_cast<bool>(file_.seekg(static_cast<std::streamoff>(count), std::ios::cur));
  }
  std::uint64_t left() const { return left_; }

 private:
  std::istream& file_;
  std::uint64_t left_;
};

// GGML_TYPE_COUNT when whisper.cpp would abort on it.
ggml_type weight_type(std::int32_t float_type) {
  switch (float_type % kQuantizationVersions) {
    case GGML_FTYPE_ALL_F32:
      return GGML_TYPE_F32;
    case GGML_FTYPE_MOSTLY_F16:
      return GGML_TYPE_F16;
    case GGML_FTYPE_MOSTLY_Q4_0:
      return GGML_TYPE_Q4_0;
    case GGML_FTYPE_MOSTLY_Q4_1:
      return GGML_TYPE_Q4_1;
    case GGML_FTYPE_MOSTLY_Q5_0:
      return GGML_TYPE_Q5_0;
    case GGML_FTYPE_MOSTLY_Q5_1:
      return GGML_TYPE_Q5_1;
    case GGML_FTYPE_MOSTLY_Q8_0:
      return GGML_TYPE_Q8_0;
    default:
      return GGML_TYPE_COUNT;
  }
}

// Empty when the header is one of a Whisper model.
std::string fault_of(const WhisperShape& s) {
  const auto is_one_of = [](std::int32_t value, std::initializer_list<std::int32_t> list) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  const auto number = [](const char* what, std::int32_t value, const char* allowed) {
    return std::string(what) + " is " + std::to_string(value) + ", allowed: " + allowed;
  };
  if (!is_one_of(s.vocabulary, {51864, 51865, 51866}))
    return number("vocabulary size", s.vocabulary, "51864, 51865 or 51866");
  if (s.audio_context != kAudioContext) return number("audio context", s.audio_context, "1500");
  if (!is_one_of(s.audio_layers, {4, 6, 12, 24, 32}))
    return number("audio layers", s.audio_layers, "4, 6, 12, 24 or 32");
  if (s.text_layers < 1 || s.text_layers > s.audio_layers)
    return number("text layers", s.text_layers, "1 to the number of audio layers");
  if (s.audio_width < kHeadWidth || s.audio_width > kWidthMax || s.audio_width % kHeadWidth != 0)
    return number("width", s.audio_width, "multiples of 64 from 64 to 4096");
  if (s.text_width != s.audio_width) return number("text width", s.text_width, "the audio width");
  if (s.audio_heads != s.audio_width / kHeadWidth)
    return number("audio heads", s.audio_heads, "one per 64 of the width");
  if (s.text_heads != s.text_width / kHeadWidth)
    return number("text heads", s.text_heads, "one per 64 of the width");
  if (s.text_context < 64 || s.text_context > kTextContextMax)
    return number("text context", s.text_context, "64 to 4096");
  if (!is_one_of(s.mels, {80, 128})) return number("mel bands", s.mels, "80 or 128");
  if (s.float_type < 0 || s.float_type >= kFloatTypeEnd ||
      weight_type(s.float_type) == GGML_TYPE_COUNT)
    return number("float type", s.float_type, "f32, f16, q4_0, q4_1, q5_0, q5_1 or q8_0");
  return {};
}

void expect_norm(Tensors& t, const std::string& name, std::int64_t width) {
  t[name + ".weight"] = t[name + ".bias"] = {GGML_TYPE_F32, {width, 1, 1}};
}

void expect_linear(Tensors& t, const std::string& name, Expected weight, bool bias = true) {
  t[name + ".weight"] = weight;
  if (bias) t[name + ".bias"] = {GGML_TYPE_F32, {weight.shape[1], 1, 1}};
}

void expect_attention(Tensors& t, const std::string& name, const Expected& square) {
  expect_norm(t, name + "_ln", square.shape[0]);
  expect_linear(t, name + ".query", square);
  expect_linear(t, name + ".key", square, false);
  expect_linear(t, name + ".value", square);
  expect_linear(t, name + ".out", square);
}

Tensors expected_tensors(const WhisperShape& s) {
  const ggml_type type = weight_type(s.float_type);
  const ggml_type conv = type == GGML_TYPE_F32 ? GGML_TYPE_F32 : GGML_TYPE_F16;
  const std::int64_t width = s.audio_width;
  Tensors t;
  t["encoder.positional_embedding"] = {GGML_TYPE_F32, {width, s.audio_context, 1}};
  t["encoder.conv1.weight"] = {conv, {3, s.mels, width}};
  t["encoder.conv2.weight"] = {conv, {3, width, width}};
  t["encoder.conv1.bias"] = t["encoder.conv2.bias"] = {GGML_TYPE_F32, {1, width, 1}};
  expect_norm(t, "encoder.ln_post", width);
  t["decoder.positional_embedding"] = {GGML_TYPE_F32, {width, s.text_context, 1}};
  t["decoder.token_embedding.weight"] = {type, {width, s.vocabulary, 1}};
  expect_norm(t, "decoder.ln", width);
  const auto block = [&](const std::string& name, bool cross) {
    expect_attention(t, name + ".attn", {type, {width, width, 1}});
    if (cross) expect_attention(t, name + ".cross_attn", {type, {width, width, 1}});
    expect_norm(t, name + ".mlp_ln", width);
    expect_linear(t, name + ".mlp.0", {type, {width, 4 * width, 1}});
    expect_linear(t, name + ".mlp.2", {type, {4 * width, width, 1}});
  };
  for (int i = 0; i < s.audio_layers; ++i) block("encoder.blocks." + std::to_string(i), false);
  for (int i = 0; i < s.text_layers; ++i) block("decoder.blocks." + std::to_string(i), true);
  return t;
}

// Each of the following reads one part and says what is wrong with it; empty = fine.

std::string check_header(Reader& in, WhisperShape& shape) {
  std::uint32_t magic = 0;
  if (!in.field(magic)) return "is empty or shorter than a header";
  if (magic == kGgufMagic) return "is a GGUF file, not a whisper.cpp one";
  if (magic != kMagic) return "does not begin with the mark of a whisper.cpp model";
  for (std::int32_t* field :
       {&shape.vocabulary, &shape.audio_context, &shape.audio_width, &shape.audio_heads,
        &shape.audio_layers, &shape.text_context, &shape.text_width, &shape.text_heads,
        &shape.text_layers, &shape.mels, &shape.float_type})
    if (!in.field(*field)) return "ends inside the header";
  return fault_of(shape);
}

std::string check_filters(Reader& in, const WhisperShape& shape) {
  std::int32_t mels = 0, bins = 0;
  if (!in.field(mels) || !in.field(bins)) return "ends before the mel filters";
  if (mels != shape.mels || bins != kFftBins)
    return "mel filters are " + std::to_string(mels) + " x " + std::to_string(bins) +
           ", expected " + std::to_string(shape.mels) + " x 201";
  if (!in.skip(sizeof(float) * static_cast<std::uint64_t>(mels) * kFftBins))
    return "ends inside the mel filters";
  return {};
}

std::string check_vocabulary(Reader& in, const WhisperShape& shape) {
  std::int32_t count = 0;
  if (!in.field(count)) return "ends before the vocabulary";
  if (count < kPlainTokensMin || count > shape.vocabulary)
    return "lists " + std::to_string(count) + " tokens, allowed: 50256 to " +
           std::to_string(shape.vocabulary);
  bool space = false;
  std::array<char, kTokenBytesMax> token{};
  for (std::int32_t i = 0; i < count; ++i) {
    std::uint32_t bytes = 0;
    if (!in.field(bytes)) return "ends inside the vocabulary";
    if (bytes > token.size())
      return "token " + std::to_string(i) + " has " + std::to_string(bytes) +
             " bytes, allowed: 0 to 512";
    if (!in.bytes(token.data(), bytes)) return "ends inside the vocabulary";
    space = space || (bytes == 1 && token[0] == ' ');
  }
  return space ? std::string() : "the vocabulary has no token for a space";
}

std::string check_tensor(Reader& in, Tensors& tensors) {
  std::int32_t rank = 0, name_bytes = 0, type = 0;
  if (!in.field(rank) || !in.field(name_bytes) || !in.field(type))
    return "ends inside a tensor's header";
  if (rank < 1 || rank > 3) return "a tensor has rank " + std::to_string(rank) + ", allowed: 1..3";
  if (name_bytes < 1 || name_bytes > kNameBytesMax)
    return "a tensor's name has " + std::to_string(name_bytes) + " bytes, allowed: 1 to 128";
  Shape shape{1, 1, 1};
  for (int i = 0; i < rank; ++i) {
    std::int32_t size = 0;
    if (!in.field(size)) return "ends inside a tensor's header";
    shape[static_cast<std::size_t>(i)] = size;
  }
  std::string name(static_cast<std::size_t>(name_bytes), '\0');
  if (!in.bytes(name.data(), name.size())) return "ends inside a tensor's name";
  const auto found = tensors.find(name);
  if (found == tensors.end()) return "holds a tensor that no Whisper model has";
  Expected& expected = found->second;
  if (expected.seen) return "holds tensor " + name + " twice";
  if (type != expected.type || shape != expected.shape)
    return "tensor " + name + " has another type or shape than the header implies";
  expected.seen = true;
  const auto rows = static_cast<std::uint64_t>(shape[1] * shape[2]);
  if (!in.skip(rows * ggml_row_size(expected.type, shape[0])))
    return "ends inside tensor " + name + " (cut short?)";
  return {};
}

std::string check_tensors(Reader& in, const WhisperShape& shape) {
  Tensors tensors = expected_tensors(shape);
  for (const auto& [name, expected] : tensors)
    if (expected.shape[0] % ggml_blck_size(expected.type) != 0)
      return "width " + std::to_string(shape.audio_width) + " does not fit the float type";
  while (in.left() > 0)
    if (std::string fault = check_tensor(in, tensors); !fault.empty()) return fault;
  for (const auto& [name, expected] : tensors)
    if (!expected.seen) return "lacks tensor " + name + " (cut short?)";
  return {};
}

}  // namespace

core::Result<WhisperShape> check_whisper_weights(std::istream& file, std::uint64_t file_bytes,
                                                 const std::string& name) {
  WhisperShape shape;
  Reader in(file, file_bytes);
  std::string fault = check_header(in, shape);
  if (fault.empty()) fault = check_filters(in, shape);
  if (fault.empty()) fault = check_vocabulary(in, shape);
  if (fault.empty()) fault = check_tensors(in, shape);
  if (!fault.empty()) return unusable(name, fault);
  // A seek past the end of a file that shrank is only noticed by reading.
  if (file.peek(); file.bad()) return unusable(name, "cannot be read");
  return shape;
}

}  // namespace saccade::engine
