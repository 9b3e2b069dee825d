#include "transport/push_message.h"

#include <cstring>
#include <optional>

#include "core/limits.h"

namespace saccade::transport {
namespace {

namespace limits = core::limits;

constexpr std::string_view kMagic = "SACP";
constexpr std::uint8_t kVersion = 1;

using Fault = std::optional<core::Error>;

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number out = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    out |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[at + i]))
                               << (8 * i));
  }
  return out;
}

struct Range {
  std::uint64_t low = 0, high = 0;
};

Fault check(const char* name, std::uint64_t value, Range range) {
  if (value >= range.low && value <= range.high) return std::nullopt;
  std::string allowed = std::to_string(range.low);
  if (range.low != range.high) allowed += ".." + std::to_string(range.high);
  return core::error(core::ErrorCode::kUsage, std::string(name) + " is " + std::to_string(value) +
                                                  "; allowed is " + allowed);
}

Fault first_of(std::initializer_list<Fault> faults) {
  for (const Fault& fault : faults) {
    if (fault) return fault;
  }
  return std::nullopt;
}

Fault check_encoded(std::string_view header, std::string_view payload) {
  const Fault fault = first_of({check("format", static_cast<unsigned char>(header[6]), {0, 0}),
                                check("width", number_at<std::uint32_t>(header, 24), {0, 0}),
                                check("height", number_at<std::uint32_t>(header, 28), {0, 0}),
                                check("stride", number_at<std::uint32_t>(header, 32), {0, 0})});
  if (fault) return fault;
  const bool webp =
      payload.size() >= 12 && payload.starts_with("RIFF") && payload.substr(8, 4) == "WEBP";
  if (webp || payload.starts_with("\xFF\xD8\xFF") || payload.starts_with("\x89PNG\r\n")) {
    return std::nullopt;
  }
  return core::error(core::ErrorCode::kUsage, "the payload is no JPEG, PNG or WebP");
}

Fault check_raw(std::string_view header, PushMessage& message) {
  const auto format = static_cast<unsigned char>(header[6]);
  const auto width = number_at<std::uint32_t>(header, 24);
  const auto height = number_at<std::uint32_t>(header, 28);
  const auto stride = number_at<std::uint32_t>(header, 32);
  constexpr std::uint64_t kSide = limits::kPictureSideMax;
  constexpr std::uint64_t kRatio = limits::kPictureRatioMax;
  Fault fault = first_of({check("format", format, {1, 2}), check("width", width, {1, kSide}),
                          check("height", height, {1, kSide})});
  if (fault) return fault;
  if (width > kRatio * height || height > kRatio * width) {
    return core::error(core::ErrorCode::kUsage, "the sides are " + std::to_string(width) + " and " +
                                                    std::to_string(height) + "; allowed is 1.." +
                                                    std::to_string(kRatio) + " to 1");
  }
  message.planar = format == 2;
  const std::uint64_t row = message.planar ? width : std::uint64_t{width} * 3;
  if ((fault = check("stride", stride, {row, 4 * kSide}))) return fault;
  const std::uint64_t chroma = (std::uint64_t{stride} + 1) / 2 * ((std::uint64_t{height} + 1) / 2);
  const std::uint64_t bytes = std::uint64_t{stride} * height + (message.planar ? 2 * chroma : 0);
  if ((fault = check("the payload's size", message.payload.size(), {bytes, bytes}))) return fault;
  message.width = static_cast<int>(width);
  message.height = static_cast<int>(height);
  message.stride = static_cast<int>(stride);
  return std::nullopt;
}

Fault check_sound(std::string_view header, PushMessage& message) {
  const auto rate = number_at<std::uint32_t>(header, 24);
  const Fault fault = first_of({check("format", static_cast<unsigned char>(header[6]), {1, 1}),
                                check("rate", rate, {kPushRateMin, kPushRateMax}),
                                check("height", number_at<std::uint32_t>(header, 28), {0, 0}),
                                check("stride", number_at<std::uint32_t>(header, 32), {0, 0})});
  if (fault) return fault;
  message.rate = static_cast<int>(rate);
  constexpr std::uint64_t kSampleBytes = 2;
  const std::uint64_t most = rate * kSampleBytes * limits::kPushPieceUsMax / 1'000'000;
  if (message.payload.size() % kSampleBytes != 0) {
    return core::error(core::ErrorCode::kUsage, "the payload's size is " +
                                                    std::to_string(message.payload.size()) +
                                                    "; allowed are whole samples of two bytes");
  }
  return check("the payload's size", message.payload.size(), {kSampleBytes, most});
}

}  // namespace

core::Result<PushMessage> parse_push_message(std::string_view bytes, std::uint64_t& seq) {
  if (const auto fault = check("the message's size", bytes.size(),
                               {kPushHeaderBytes + 1, kPushHeaderBytes + limits::kPushBytesMax})) {
    return *fault;
  }
  const std::string_view header = bytes.substr(0, kPushHeaderBytes);
  if (!header.starts_with(kMagic)) {
    return core::error(core::ErrorCode::kUsage, "the message does not begin with SACP");
  }
  PushMessage message;
  message.seq = number_at<std::uint64_t>(header, 8);
  const auto capture = number_at<std::uint64_t>(header, 16);
  const auto type = static_cast<unsigned char>(header[5]);
  message.payload = bytes.substr(kPushHeaderBytes);
  Fault fault = first_of(
      {check("version", static_cast<unsigned char>(header[4]), {kVersion, kVersion}),
       check("type", type, {1, 3}), check("byte 7", static_cast<unsigned char>(header[7]), {0, 0}),
       check("seq", message.seq, {1, kPushSeqMax}),
       check("capture_us", capture, {0, static_cast<std::uint64_t>(kPushCaptureUsMax)}),
       check("bytes", number_at<std::uint32_t>(header, 36),
             {message.payload.size(), message.payload.size()})});
  seq = message.seq <= kPushSeqMax ? message.seq : 0;
  if (fault) return *fault;
  message.type = static_cast<PushType>(type);
  message.capture_us = static_cast<std::int64_t>(capture);
  switch (message.type) {
    case PushType::kEncoded:
      fault = check_encoded(header, message.payload);
      break;
    case PushType::kRaw:
      fault = check_raw(header, message);
      break;
    case PushType::kSound:
      fault = check_sound(header, message);
      break;
  }
  if (fault) return *fault;
  return message;
}

}  // namespace saccade::transport
