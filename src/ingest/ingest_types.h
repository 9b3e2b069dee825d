#pragma once
// What ingest gives to the next room: stamped pictures and sound, and the state of the source.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/clock.h"
#include "core/limits.h"
#include "core/media_time.h"
#include "core/pixels.h"

namespace saccade::ingest {

class PushReceipt;  // from_push.h

// One decoded picture. Upright, square pixels, RGB (core/pixels.h).
struct Picture {
  core::Pixels pixels;
  bool scene_cut = false;   // differs as a whole from the picture decoded before it
  bool interlaced = false;  // the source says so; pixels are as decoded
};

// One block of sound: 16 kHz mono, -1..1, at most kAudioBlockSamples samples (20 ms); only the last
// block of a stream may be shorter. `gap` = the source lost this stretch and silence stands for it.
struct Sound {
  std::vector<float> samples;  // [n]
  bool gap = false;
};

// The unit of ingest. Media time is strictly rising per kind inside an epoch, and epochs only rise.
// A new epoch starts where the old one ended on the media axis: seconds never go backwards.
struct Frame {
  core::MediaTime time;                // start of the picture or the block
  core::MediaDuration duration;        // 0 when unknown
  core::SteadyTime captured;           // when it left the decoder: frame age counts from here
  std::optional<core::WallTime> wall;  // when the sender captured it, if it says (RTCP)
  std::variant<Picture, Sound> payload;
  std::shared_ptr<PushReceipt> receipt;  // of a picture that a client pushed; null otherwise

  const Picture* picture() const { return std::get_if<Picture>(&payload); }
  const Sound* sound() const { return std::get_if<Sound>(&payload); }
};

enum class SourceState {
  kConnecting,  // trying; `reason` says what went wrong last, if anything
  kUp,          // frames flow
  kStale,       // connected, but silent or frozen beyond the watchdog
  kFailed,      // will not be tried again; `reason` says why
};

// A change of state of the source.
struct StateChange {
  SourceState state = SourceState::kConnecting;
  std::string reason;  // one line, no credentials, may be empty
};

// Something lost on the way in. Never silent. Workers know no kBusy: a newer picture came before
// this one was decoded.
enum class LossKind { kCorrupt, kRate, kLate, kBusy };
struct Loss {
  LossKind kind = LossKind::kCorrupt;
  core::MediaTime time;     // may be unset
  std::uint64_t count = 1;  // pictures or blocks
};

// What the source holds, known once it is open.
struct SourceInfo {
  bool has_video = false, has_audio = false;
  int width = 0, height = 0;     // upright, square pixels
  double fps = 0;                // 0 = unknown
  core::MediaDuration duration;  // 0 = unknown or endless
  bool live = false;
  std::string container, video_codec, audio_codec;  // short FFmpeg names; empty when absent
};

// The stream has ended for good (files; live sources end by `kFailed` or by being closed).
struct EndOfSource {};

using SourceItem = std::variant<Frame, StateChange, Loss, SourceInfo, EndOfSource>;

}  // namespace saccade::ingest
