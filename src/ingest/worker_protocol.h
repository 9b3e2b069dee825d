#pragma once
// What the decode worker and its parent say to each other over a SOCK_SEQPACKET pair: one
// fixed-size struct per packet, a header with a version first. Both ends are the same program, so
// the structs go over as they lie in memory. Trust: the parent obeys the protocol; the worker has
// touched hostile media and may be taken over. parse_worker_message therefore believes nothing:
// sizes, kinds, ranges, text and samples are checked there, slots in shared_slots.h, the order of
// time in timeline.h. A message that fails is a reason to kill the worker. Pictures do not travel
// here: they lie in shared memory that the parent has made (shared_slots.h).
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/limits.h"
#include "core/media_time.h"
#include "core/result.h"
#include "ingest/ingest_types.h"
#include "ingest/media_reader.h"
#include "ingest/sandbox.h"

namespace saccade::ingest {

// The descriptor on which a worker finds its end of the pair.
inline constexpr int kWorkerControlFd = 3;
// The largest packet of either direction.
inline constexpr std::size_t kMessageBytesMax = 8192;
// Media times that a worker may send: 0 .. 142 years.
inline constexpr std::int64_t kWorkerTimeUsMax = std::int64_t{1} << 52;
inline constexpr std::uint32_t kWorkerEpochMax = 1U << 24;

namespace wire {

inline constexpr std::uint32_t kMagic = 0x53444357;
inline constexpr std::uint16_t kVersion = 1;

enum class Kind : std::uint16_t {
  kOpen = 1,   // parent: what to read; a descriptor may come along: the recorded bytes, or the
               // certificates that a network source shall trust
  kRegion,     // parent: a memory region of picture slots; its descriptor comes along
  kFreeSlot,   // parent: a slot may be filled again
  kHello,      // worker: it runs, locked in as far as it says
  kInfo,       // worker: the header has been read
  kNeedSlots,  // worker: no slot is large enough for the next picture
  kPicture,    // worker: a slot has been filled
  kSound,      // worker: a block of samples
  kLoss,       // worker: something was lost
  kEnd,        // worker: the source has ended
  kError,      // worker: the source failed
  kPushed,     // parent, on the pair for pushed packets: one packet; its bytes come along as a file
  kTaken,      // worker: it is done with the pushed packet
  kEffort,     // parent: which pictures are enough from now on
};

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  Kind kind{};
};

struct Time {
  std::int64_t us = 0;
  std::uint32_t epoch = 0;
  std::uint32_t set = 0;
};

struct Wall {
  std::int64_t us = 0;
  std::uint64_t set = 0;
};

// NUL-terminated, cut to fit.
template <std::size_t N>
using Text = std::array<char, N>;

struct Open {
  Header header{.kind = Kind::kOpen};
  double fps = 0;
  std::int64_t open_timeout_ms = 0;
  std::int32_t animation_frames_max = 0;
  std::uint32_t policy = 0;  // SandboxPolicy
  std::uint8_t live = 0, waits = 0, udp = 0, want_video = 0;
  std::uint8_t want_audio = 0, scene_cuts = 0, matte = 0, has_fd = 0;
  std::uint8_t tls_insecure = 0, push = 0, unused[6] = {};
  Text<core::limits::kSourceUrlBytesMax + 8> url{};
  Text<core::limits::kSourceUrlBytesMax - 512> name{};
};

struct Region {
  Header header{.kind = Kind::kRegion};
  std::uint32_t region = 0, slots = 0;
  std::uint64_t slot_bytes = 0;
};

struct FreeSlot {
  Header header{.kind = Kind::kFreeSlot};
  std::uint32_t region = 0, slot = 0;
};

struct Effort {
  Header header{.kind = Kind::kEffort};
  std::uint64_t key_pictures_only = 0;
};

struct Hello {
  Header header{.kind = Kind::kHello};
  std::uint8_t limits = 0, memory_limit = 0, user = 0, privileges = 0;
  std::uint8_t files = 0, system_calls = 0, unused[2] = {};
};

struct Info {
  Header header{.kind = Kind::kInfo};
  std::int64_t duration_us = 0;
  double fps = 0;
  std::int32_t width = 0, height = 0;
  std::uint32_t has_video = 0, has_audio = 0;
  Text<32> container{}, video_codec{}, audio_codec{};
};

struct NeedSlots {
  Header header{.kind = Kind::kNeedSlots};
  std::int32_t width = 0, height = 0;
};

struct Picture {
  Header header{.kind = Kind::kPicture};
  std::uint32_t region = 0, slot = 0;
  std::int32_t width = 0, height = 0;
  Time time;
  std::int64_t duration_us = 0, captured_us = 0;
  Wall wall;
  std::uint32_t scene_cut = 0, interlaced = 0;
};

struct Sound {
  Header header{.kind = Kind::kSound};
  std::uint32_t count = 0, gap = 0;
  Time time;
  std::int64_t captured_us = 0;
  Wall wall;
  std::array<float, core::limits::kAudioBlockSamples> samples{};
};

struct Loss {
  Header header{.kind = Kind::kLoss};
  std::uint64_t kind = 0, count = 0;
  Time time;
};

struct End {
  Header header{.kind = Kind::kEnd};
};

struct Error {
  Header header{.kind = Kind::kError};
  std::uint64_t code = 0;
  Text<1024> message{};
  Text<512> hint{};
};

struct Pushed {
  Header header{.kind = Kind::kPushed};
  std::uint32_t kind = 0;  // PushKind
  std::int32_t width = 0, height = 0, stride = 0, rate = 0;
  std::uint32_t unused = 0;
  std::int64_t capture_us = 0;
  std::uint64_t bytes = 0;
};

struct Taken {
  Header header{.kind = Kind::kTaken};
};

static_assert(sizeof(Open) <= kMessageBytesMax && sizeof(Sound) <= kMessageBytesMax);
static_assert(std::is_trivially_copyable_v<Open> && std::is_trivially_copyable_v<Picture>);

}  // namespace wire

// A worker's messages after the check, in the room's own words.
struct SlotsNeeded {
  int width = 0, height = 0;
};
struct PictureSent {
  std::uint32_t region = 0, slot = 0;
  int width = 0, height = 0;
  bool scene_cut = false, interlaced = false;
};
// A frame whose times are the worker's own: from 0, epoch 0. A picture's pixels come separately.
struct FrameSent {
  core::MediaTime time;
  core::MediaDuration duration;
  std::int64_t captured_us = 0;  // CLOCK_MONOTONIC; unchecked
  std::optional<core::WallTime> wall;
  std::variant<PictureSent, Sound> payload;
};
struct RunEnded {};
using WorkerMessage = std::variant<SandboxReport, SourceInfo, SlotsNeeded, FrameSent, Loss,
                                   PushTaken, RunEnded, core::Error>;

// Nothing when the packet is not exactly one valid message of a worker.
std::optional<WorkerMessage> parse_worker_message(std::span<const std::byte> packet);

// Worker side: the wire form of what the reader gives.
wire::Hello to_wire(const SandboxReport& report);
wire::Info to_wire(const SourceInfo& info);
wire::Sound to_wire(const ReadSound& sound, core::SteadyTime captured);
wire::Loss to_wire(const Loss& loss);
wire::Error to_wire(const core::Error& error);
wire::Time to_wire(core::MediaTime time);
wire::Wall to_wire(const std::optional<core::WallTime>& wall);

// Cuts `text` to fit, always terminated.
template <std::size_t N>
wire::Text<N> to_text(const std::string& text) {
  wire::Text<N> out{};
  text.copy(out.data(), N - 1);
  return out;
}
// Stops at the first NUL or at the end.
template <std::size_t N>
std::string from_text(const wire::Text<N>& text) {
  std::size_t length = 0;
  while (length < N && text[length] != '\0') ++length;
  return std::string(text.data(), length);
}

// The struct as bytes, and back: nothing unless size, magic, version and kind all fit.
template <typename Message>
std::span<const std::byte> bytes_of(const Message& message) {
  static_assert(std::is_trivially_copyable_v<Message>);
  return std::as_bytes(std::span(&message, 1));
}
std::optional<wire::Kind> kind_of(std::span<const std::byte> packet);
bool copy_message(std::span<const std::byte> packet, wire::Kind kind, std::span<std::byte> into);
template <typename Message>
std::optional<Message> read_as(std::span<const std::byte> packet) {
  Message message;
  const wire::Kind kind = message.header.kind;
  if (!copy_message(packet, kind, std::as_writable_bytes(std::span(&message, 1)))) {
    return std::nullopt;
  }
  return message;
}

}  // namespace saccade::ingest
