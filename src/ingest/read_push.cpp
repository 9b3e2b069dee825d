#include "ingest/read_push.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <utility>
#include <vector>

#include "ingest/av_handles.h"
#include "ingest/convert_picture.h"
#include "ingest/convert_sound.h"
#include "ingest/from_push.h"
#include "ingest/pass_packet.h"
#include "ingest/read_bytes.h"
#include "ingest/read_still.h"
#include "ingest/stamp_time.h"
#include "ingest/worker_protocol.h"

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
}

namespace saccade::ingest {
namespace {

// Borrows `bytes`, which were checked to hold all rows.
void lay_out(const wire::Pushed& packet, std::uint8_t* bytes, AVFrame& frame) {
  frame.width = packet.width;
  frame.height = packet.height;
  frame.data[0] = bytes;
  frame.linesize[0] = packet.stride;
  frame.format = AV_PIX_FMT_RGB24;
  if (static_cast<PushKind>(packet.kind) == PushKind::kRgb24) return;
  frame.format = AV_PIX_FMT_YUV420P;
  const int chroma = (packet.stride + 1) / 2;
  frame.linesize[1] = frame.linesize[2] = chroma;
  frame.data[1] = bytes + std::ptrdiff_t{packet.stride} * packet.height;
  frame.data[2] = frame.data[1] + std::ptrdiff_t{chroma} * ((packet.height + 1) / 2);
}

class PushReader final : public MediaReader {
 public:
  PushReader(ReaderOptions options, PictureSlots& slots)
      : options_(std::move(options)),
        slots_(slots),
        axis_(options_.start),
        picture_stamp_(axis_, {}),
        sound_stamp_(axis_, {}),
        convert_(options_.matte) {
    info_.has_video = options_.want_video;
    info_.has_audio = options_.want_audio;
    info_.live = true;
    info_.container = "push";
    if (info_.has_video) info_.video_codec = "pictures";
    if (info_.has_audio) info_.audio_codec = "pcm";
  }

  const SourceInfo& info() const override { return info_; }
  void interrupt() override { interrupted_ = true; }

  core::Result<ReadItem> read() override {
    while (ready_.empty()) {
      if (interrupted_) {
        return core::error(core::ErrorCode::kCancelled, options_.name + ": cancelled");
      }
      if (std::exchange(working_, false)) return ReadItem(PushTaken{});
      if (ended_) return ReadItem(EndOfSource{});
      receive();
    }
    ReadItem item = std::move(ready_.front());
    ready_.pop_front();
    return item;
  }

 private:
  void receive() {
    alignas(8) std::array<std::byte, sizeof(wire::Pushed)> buffer;
    Received received = receive_packet(options_.fd, buffer, Waiting::kBlock, Descriptors::kTake);
    const auto packet =
        read_as<wire::Pushed>(std::span<const std::byte>(buffer).first(received.bytes));
    if (!packet || !received.fd) {
      ended_ = true;
      return finish_sound();
    }
    working_ = true;
    if (!axis_.has_offset()) axis_.set_origin(packet->capture_us - kPushLeadUs);
    if (static_cast<PushKind>(packet->kind) == PushKind::kSound) {
      take_sound(*packet, received.fd.get());
    } else {
      take_picture(*packet, received.fd.get());
    }
  }

  void lose(LossKind kind, core::MediaTime time) { ready_.emplace_back(Loss{kind, time, 1}); }

  // Empty when they are not as many as was said.
  std::vector<std::uint8_t> bytes_of_file(const wire::Pushed& packet, int fd) {
    ReadBytes file(fd, interrupted_);
    if (file.context() == nullptr) return {};
    auto bytes = read_all(*file.context(), packet.bytes);
    if (!bytes || bytes->size() != packet.bytes) return {};
    return std::move(bytes).value();
  }

  void take_picture(const wire::Pushed& packet, int fd) {
    const Stamp stamp = picture_stamp_.stamp(packet.capture_us, 0);
    if (stamp.before_start) return lose(LossKind::kLate, core::MediaTime::unset());
    auto picture = static_cast<PushKind>(packet.kind) == PushKind::kEncoded
                       ? decode(fd, stamp.time)
                       : convert_raw(packet, fd, stamp.time);
    if (picture) {
      ready_.emplace_back(std::move(picture).value());
    } else {
      const bool no_slot = picture.error().code == core::ErrorCode::kCancelled;
      lose(no_slot ? LossKind::kRate : LossKind::kCorrupt, stamp.time);
    }
  }

  core::Result<ReadItem> decode(int fd, core::MediaTime time) {
    ReadBytes file(fd, interrupted_);
    if (file.context() == nullptr) {
      return core::error(core::ErrorCode::kExhausted, "out of memory");
    }
    ReaderOptions options = options_;
    options.start = time;
    auto still = open_still(*file.context(), std::move(options), slots_);
    if (!still) return still.error();
    return (*still)->read();
  }

  core::Result<ReadItem> convert_raw(const wire::Pushed& packet, int fd, core::MediaTime time) {
    std::vector<std::uint8_t> bytes = bytes_of_file(packet, fd);
    if (bytes.empty()) return core::error(core::ErrorCode::kMediaUnusable, "bytes are missing");
    // The scaler reads a little beyond the last row.
    constexpr std::size_t kPadding = 64;
    bytes.resize(bytes.size() + kPadding, 0);
    const FrameHandle frame(av_frame_alloc());
    if (!frame) return core::error(core::ErrorCode::kExhausted, "out of memory");
    lay_out(packet, bytes.data(), *frame);
    ReadPicture picture;
    picture.width = packet.width;
    picture.height = packet.height;
    picture.time = time;
    picture.slot = slots_.acquire(packet.width, packet.height);
    if (picture.slot == nullptr) return core::error(core::ErrorCode::kCancelled, "no slot is free");
    if (const auto status = convert_.convert(*frame, {}, picture.slot); !status) {
      return status.error();
    }
    return ReadItem(picture);
  }

  void take_sound(const wire::Pushed& packet, int fd) {
    std::vector<std::uint8_t> bytes = bytes_of_file(packet, fd);
    const auto samples = static_cast<int>(bytes.size() / 2);
    const FrameHandle frame(av_frame_alloc());
    if (samples == 0 || packet.rate <= 0 || !frame) {
      return lose(LossKind::kCorrupt, core::MediaTime::unset());
    }
    const Stamp stamp =
        sound_stamp_.stamp(packet.capture_us, std::int64_t{samples} * 1'000'000 / packet.rate);
    if (stamp.before_start) return lose(LossKind::kLate, core::MediaTime::unset());
    frame->format = AV_SAMPLE_FMT_S16;
    frame->sample_rate = packet.rate;
    frame->nb_samples = samples;
    av_channel_layout_default(&frame->ch_layout, 1);
    frame->data[0] = bytes.data();
    frame->extended_data = frame->data;
    blocks_.clear();
    const auto status = sound_.push(*frame, stamp.time, blocks_);
    for (ReadSound& block : blocks_) ready_.emplace_back(std::move(block));
    if (!status) lose(LossKind::kCorrupt, stamp.time);
  }

  void finish_sound() {
    blocks_.clear();
    sound_.finish(blocks_);
    for (ReadSound& block : blocks_) ready_.emplace_back(std::move(block));
  }

  const ReaderOptions options_;
  PictureSlots& slots_;
  SourceInfo info_;
  std::atomic<bool> interrupted_{false};
  StampAxis axis_;
  StampTime picture_stamp_, sound_stamp_;
  ConvertPicture convert_;
  ConvertSound sound_;
  std::vector<ReadSound> blocks_;
  std::deque<ReadItem> ready_;
  bool working_ = false;  // on a packet whose end was not told yet
  bool ended_ = false;
};

}  // namespace

core::Result<std::unique_ptr<MediaReader>> open_push(ReaderOptions options, PictureSlots& slots) {
  return std::unique_ptr<MediaReader>(std::make_unique<PushReader>(std::move(options), slots));
}

}  // namespace saccade::ingest
