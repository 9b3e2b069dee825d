#include "ingest/worker_protocol.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace saccade::ingest {
namespace {

constexpr double kFpsMax = 10'000;
constexpr std::int64_t kWallUsMax = std::int64_t{1} << 53;  // year 2255
constexpr std::uint64_t kLossCountMax = 1'000'000'000;

bool in_range(std::int64_t value, std::int64_t high) { return value >= 0 && value <= high; }

// Nothing of a worker's text reaches a terminal as a control sequence.
template <std::size_t N>
std::string printable(const wire::Text<N>& text) {
  std::string out = from_text(text);
  unsigned char before = 0;
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    const bool c1 = before == 0xC2 && byte >= 0x80 && byte < 0xA0;  // U+0080 .. U+009F
    if (byte < 0x20 || byte == 0x7F || c1) c = '?';
    before = byte;
  }
  return out;
}

bool valid_size(std::int32_t width, std::int32_t height) {
  using namespace core::limits;
  return width >= 1 && height >= 1 && width <= kPictureSideMax && height <= kPictureSideMax &&
         std::int64_t{width} * height <= kPicturePixelsMax;
}

std::optional<core::MediaTime> time_of(const wire::Time& time) {
  if (time.set != 1 || !in_range(time.us, kWorkerTimeUsMax) || time.epoch > kWorkerEpochMax) {
    return std::nullopt;
  }
  return core::MediaTime::from_us(time.us, time.epoch);
}

// Unset is a legal answer here, nonsense is not.
std::optional<core::MediaTime> time_or_unset(const wire::Time& time) {
  if (time.set == 0) return core::MediaTime::unset();
  return time_of(time);
}

// A label only: a senseless value is left out rather than refused.
std::optional<core::WallTime> wall_of(const wire::Wall& wall) {
  if (wall.set != 1 || !in_range(wall.us, kWallUsMax)) return std::nullopt;
  return core::WallTime{wall.us};
}

std::optional<WorkerMessage> parse_hello(std::span<const std::byte> packet) {
  const auto m = read_as<wire::Hello>(packet);
  if (!m) return std::nullopt;
  return SandboxReport{m->limits == 1,     m->memory_limit == 1, m->user == 1,
                       m->privileges == 1, m->files == 1,        m->system_calls == 1};
}

std::optional<WorkerMessage> parse_info(std::span<const std::byte> packet) {
  const auto m = read_as<wire::Info>(packet);
  if (!m || !in_range(m->duration_us, kWorkerTimeUsMax)) return std::nullopt;
  const bool no_size = m->width == 0 && m->height == 0;
  if (!no_size && !valid_size(m->width, m->height)) return std::nullopt;
  if (!(m->fps >= 0 && m->fps <= kFpsMax)) return std::nullopt;  // refuses NaN too
  SourceInfo info;
  info.has_video = m->has_video == 1;
  info.has_audio = m->has_audio == 1;
  info.width = m->width;
  info.height = m->height;
  info.fps = m->fps;
  info.duration = core::MediaDuration::from_us(m->duration_us);
  info.container = printable(m->container);
  info.video_codec = printable(m->video_codec);
  info.audio_codec = printable(m->audio_codec);
  return info;
}

std::optional<WorkerMessage> parse_need_slots(std::span<const std::byte> packet) {
  const auto m = read_as<wire::NeedSlots>(packet);
  if (!m || !valid_size(m->width, m->height)) return std::nullopt;
  return SlotsNeeded{m->width, m->height};
}

std::optional<WorkerMessage> parse_picture(std::span<const std::byte> packet) {
  const auto m = read_as<wire::Picture>(packet);
  if (!m || !valid_size(m->width, m->height)) return std::nullopt;
  const auto time = time_of(m->time);
  if (!time || !in_range(m->duration_us, kWorkerTimeUsMax)) return std::nullopt;
  FrameSent frame;
  frame.time = *time;
  frame.duration = core::MediaDuration::from_us(m->duration_us);
  frame.captured_us = m->captured_us;
  frame.wall = wall_of(m->wall);
  frame.payload =
      PictureSent{m->region, m->slot, m->width, m->height, m->scene_cut == 1, m->interlaced == 1};
  return frame;
}

std::optional<WorkerMessage> parse_sound(std::span<const std::byte> packet) {
  const auto m = read_as<wire::Sound>(packet);
  if (!m || m->count == 0 || m->count > m->samples.size()) return std::nullopt;
  const auto time = time_of(m->time);
  if (!time) return std::nullopt;
  Sound sound;
  sound.gap = m->gap == 1;
  sound.samples.assign(m->samples.begin(), m->samples.begin() + m->count);
  for (float& sample : sound.samples) {
    sample = std::isfinite(sample) ? std::clamp(sample, -1.0F, 1.0F) : 0.0F;
  }
  FrameSent frame;
  frame.time = *time;
  frame.duration =
      core::MediaDuration::from_us(std::int64_t{m->count} * 1'000'000 / core::limits::kAudioRate);
  frame.captured_us = m->captured_us;
  frame.wall = wall_of(m->wall);
  frame.payload = std::move(sound);
  return frame;
}

std::optional<WorkerMessage> parse_loss(std::span<const std::byte> packet) {
  const auto m = read_as<wire::Loss>(packet);
  if (!m || m->kind > static_cast<std::uint64_t>(LossKind::kLate)) return std::nullopt;
  const auto time = time_or_unset(m->time);
  if (!time || m->count == 0 || m->count > kLossCountMax) return std::nullopt;
  return Loss{static_cast<LossKind>(m->kind), *time, m->count};
}

std::optional<WorkerMessage> parse_end(std::span<const std::byte> packet) {
  if (!read_as<wire::End>(packet)) return std::nullopt;
  return RunEnded{};
}

std::optional<WorkerMessage> parse_taken(std::span<const std::byte> packet) {
  if (!read_as<wire::Taken>(packet)) return std::nullopt;
  return PushTaken{};
}

std::optional<WorkerMessage> parse_error(std::span<const std::byte> packet) {
  const auto m = read_as<wire::Error>(packet);
  if (!m || m->code > static_cast<std::uint64_t>(core::ErrorCode::kInternal)) return std::nullopt;
  return core::error(static_cast<core::ErrorCode>(m->code), printable(m->message),
                     printable(m->hint));
}

}  // namespace

std::optional<wire::Kind> kind_of(std::span<const std::byte> packet) {
  wire::Header header;
  if (packet.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, packet.data(), sizeof(header));
  if (header.magic != wire::kMagic || header.version != wire::kVersion) return std::nullopt;
  return header.kind;
}

bool copy_message(std::span<const std::byte> packet, wire::Kind kind, std::span<std::byte> into) {
  if (kind_of(packet) != kind || packet.size() != into.size()) return false;
  std::memcpy(into.data(), packet.data(), into.size());
  return true;
}

std::optional<WorkerMessage> parse_worker_message(std::span<const std::byte> packet) {
  const auto kind = kind_of(packet);
  if (!kind) return std::nullopt;
  switch (*kind) {
    case wire::Kind::kHello:
      return parse_hello(packet);
    case wire::Kind::kInfo:
      return parse_info(packet);
    case wire::Kind::kNeedSlots:
      return parse_need_slots(packet);
    case wire::Kind::kPicture:
      return parse_picture(packet);
    case wire::Kind::kSound:
      return parse_sound(packet);
    case wire::Kind::kLoss:
      return parse_loss(packet);
    case wire::Kind::kEnd:
      return parse_end(packet);
    case wire::Kind::kError:
      return parse_error(packet);
    case wire::Kind::kTaken:
      return parse_taken(packet);
    case wire::Kind::kOpen:
    case wire::Kind::kRegion:
    case wire::Kind::kFreeSlot:
    case wire::Kind::kPushed:
    case wire::Kind::kEffort:
      break;  // these go the other way
  }
  return std::nullopt;
}

wire::Time to_wire(core::MediaTime time) {
  if (time.is_special()) return {};
  return {time.us(), time.epoch(), 1};
}

wire::Wall to_wire(const std::optional<core::WallTime>& wall) {
  return wall ? wire::Wall{wall->us, 1} : wire::Wall{};
}

wire::Hello to_wire(const SandboxReport& report) {
  wire::Hello hello;
  hello.limits = report.limits;
  hello.memory_limit = report.memory_limit;
  hello.user = report.user;
  hello.privileges = report.privileges;
  hello.files = report.files;
  hello.system_calls = report.system_calls;
  return hello;
}

wire::Info to_wire(const SourceInfo& info) {
  wire::Info out;
  out.duration_us = info.duration.us();
  out.fps = info.fps;
  out.width = info.width;
  out.height = info.height;
  out.has_video = info.has_video;
  out.has_audio = info.has_audio;
  out.container = to_text<32>(info.container);
  out.video_codec = to_text<32>(info.video_codec);
  out.audio_codec = to_text<32>(info.audio_codec);
  return out;
}

wire::Sound to_wire(const ReadSound& sound, core::SteadyTime captured) {
  wire::Sound out;
  out.count = static_cast<std::uint32_t>(std::min(sound.samples.size(), out.samples.size()));
  std::copy_n(sound.samples.begin(), out.count, out.samples.begin());
  out.gap = sound.gap;
  out.time = to_wire(sound.time);
  out.captured_us = captured.us;
  out.wall = to_wire(sound.wall);
  return out;
}

wire::Loss to_wire(const Loss& loss) {
  wire::Loss out;
  out.kind = static_cast<std::uint64_t>(loss.kind);
  out.count = std::clamp<std::uint64_t>(loss.count, 1, kLossCountMax);
  out.time = to_wire(loss.time);
  return out;
}

wire::Error to_wire(const core::Error& error) {
  wire::Error out;
  out.code = static_cast<std::uint64_t>(error.code);
  out.message = to_text<1024>(error.message);
  out.hint = to_text<512>(error.hint);
  return out;
}

}  // namespace saccade::ingest
