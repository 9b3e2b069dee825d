#pragma once
// One binary message of a client that pushes: a header of kPushHeaderBytes, then the payload. All
// numbers are little-endian. docs/serve.md shows it to users. Pure.
//   at  bytes
//    0  4  "SACP"
//    4  1  version, 1
//    5  1  type: 1 encoded picture, 2 raw picture, 3 sound
//    6  1  format: 0 for type 1; 1 RGB24, 2 I420 for type 2; 1 PCM16 mono for type 3
//    7  1  0
//    8  8  seq: the client's number, rising
//   16  8  capture_us: the client's clock
//   24  4  width of a raw picture, or rate of sound; else 0
//   28  4  height of a raw picture; else 0
//   32  4  stride of a raw picture: bytes of a row (I420: of the first plane; the others have
//          (stride + 1) / 2); else 0
//   36  4  bytes of the payload
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace saccade::transport {

inline constexpr std::size_t kPushHeaderBytes = 40;
inline constexpr std::uint64_t kPushSeqMax = (1ULL << 53) - 1;             // exact in any JSON
inline constexpr std::int64_t kPushCaptureUsMax = (1LL << 52) - 1;         // 142 years
inline constexpr std::uint32_t kPushRateMin = 8000, kPushRateMax = 48000;  // samples per second

enum class PushType { kEncoded = 1, kRaw = 2, kSound = 3 };

// `payload` is a part of the message.
struct PushMessage {
  PushType type = PushType::kEncoded;
  bool planar = false;  // raw: I420 instead of RGB24
  std::uint64_t seq = 0;
  std::int64_t capture_us = 0;
  int width = 0, height = 0, stride = 0;  // raw
  int rate = 0;                           // sound
  std::string_view payload;
};

// Errors: kUsage; the message names the field, its value and what is allowed. `seq` gets the
// message's number as soon as it can be read.
core::Result<PushMessage> parse_push_message(std::string_view bytes, std::uint64_t& seq);

}  // namespace saccade::transport
