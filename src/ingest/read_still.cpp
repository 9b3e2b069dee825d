#include "ingest/read_still.h"

#include <algorithm>
#include <atomic>

#include "core/limits.h"
#include "ingest/av_handles.h"
#include "ingest/convert_picture.h"
#include "ingest/orient_picture.h"
#include "ingest/probe_header.h"
#include "ingest/read_bytes.h"
#include "ingest/read_webp.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace saccade::ingest {
namespace {

namespace limits = core::limits;
using core::ErrorCode;

core::Error cancelled(const std::string& name) {
  return core::error(ErrorCode::kCancelled, name + ": cancelled");
}

core::Error damaged(const std::string& name) {
  return core::error(ErrorCode::kMediaUnusable, name + ": the picture is damaged or cut short",
                     "check how it was made or sent");
}

const char* decoder_of(StillKind kind) {
  switch (kind) {
    case StillKind::kJpeg:
      return "mjpeg";
    case StillKind::kPng:
      return "png";
    case StillKind::kBmp:
      return "bmp";
    case StillKind::kTiff:
      return "tiff";
    default:
      return nullptr;
  }
}

// Null when the decoder finds any fault: half a picture is no picture.
FrameHandle decode_still(const char* decoder_name, std::vector<std::uint8_t>& bytes) {
  const AVCodec* codec = avcodec_find_decoder_by_name(decoder_name);
  if (codec == nullptr) return nullptr;
  const CodecHandle decoder(avcodec_alloc_context3(codec));
  const PacketHandle packet(av_packet_alloc());
  FrameHandle frame(av_frame_alloc());
  if (!decoder || !packet || !frame) return nullptr;
  decoder->thread_count = 1;
  decoder->max_pixels = limits::kPicturePixelsMax;
  decoder->err_recognition |= AV_EF_CRCCHECK;
  // The TIFF decoder takes every tag it does not know for a fault.
  if (codec->id != AV_CODEC_ID_TIFF) decoder->err_recognition |= AV_EF_EXPLODE;
  if (avcodec_open2(decoder.get(), codec, nullptr) < 0) return nullptr;
  const auto size = static_cast<int>(bytes.size());
  bytes.resize(bytes.size() + AV_INPUT_BUFFER_PADDING_SIZE, 0);
  packet->data = bytes.data();
  packet->size = size;
  if (avcodec_send_packet(decoder.get(), packet.get()) < 0) return nullptr;
  avcodec_send_packet(decoder.get(), nullptr);
  if (avcodec_receive_frame(decoder.get(), frame.get()) < 0) return nullptr;
  const bool broken = (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0;
  return broken ? nullptr : std::move(frame);
}

SourceInfo info_of(PictureSize size, const char* format) {
  SourceInfo info;
  info.has_video = true;
  info.width = size.width;
  info.height = size.height;
  info.container = format;
  info.video_codec = format;
  return info;
}

// What stills have in common.
class StillReader : public MediaReader {
 public:
  StillReader(ReaderOptions options, PictureSlots& slots, SourceInfo info)
      : options_(std::move(options)), slots_(slots), info_(std::move(info)) {}
  const SourceInfo& info() const override { return info_; }
  void interrupt() override { interrupted_ = true; }

 protected:
  // A slot for the picture; null when nobody wants it any more.
  std::uint8_t* acquire() {
    return interrupted_ ? nullptr : slots_.acquire(info_.width, info_.height);
  }
  const ReaderOptions& options() const { return options_; }

 private:
  const ReaderOptions options_;
  PictureSlots& slots_;
  const SourceInfo info_;
  std::atomic<bool> interrupted_{false};
};

class SingleReader final : public StillReader {
 public:
  SingleReader(ReaderOptions options, PictureSlots& slots, SourceInfo info, FrameHandle frame,
               int orientation)
      : StillReader(std::move(options), slots, std::move(info)),
        frame_(std::move(frame)),
        orientation_(orientation) {}

  core::Result<ReadItem> read() override {
    if (!frame_) return ReadItem(EndOfSource{});
    std::uint8_t* slot = acquire();
    if (slot == nullptr) return cancelled(options().name);
    ConvertPicture convert(options().matte);
    const auto status = convert.convert(*frame_, {.orientation = orientation_}, slot);
    if (!status) {
      return core::error(status.error().code, options().name + ": " + status.error().message);
    }
    frame_.reset();
    ReadPicture picture;
    picture.slot = slot;
    picture.width = info().width;
    picture.height = info().height;
    picture.time = options().start;
    return ReadItem(picture);
  }

 private:
  FrameHandle frame_;  // null once given
  const int orientation_;
};

class WebpReader final : public StillReader {
 public:
  WebpReader(ReaderOptions options, PictureSlots& slots, SourceInfo info,
             std::vector<std::uint8_t> bytes, int orientation)
      : StillReader(std::move(options), slots, std::move(info)),
        bytes_(std::move(bytes)),
        webp_(ReadWebp::open(bytes_)),
        orientation_(orientation) {}

  core::Result<ReadItem> read() override {
    const bool all = options().animation_frames_max > 0 && given_ >= options().animation_frames_max;
    const auto canvas = webp_ && !all ? webp_->next() : std::nullopt;
    if (!canvas) {
      if (given_ == 0) return damaged(options().name);
      return ReadItem(EndOfSource{});
    }
    std::uint8_t* slot = acquire();
    if (slot == nullptr) return cancelled(options().name);
    RawPicture raw = packed_rgba(canvas->rgba, std::ptrdiff_t{4} * webp_->width());
    raw.width = webp_->width();
    raw.height = webp_->height();
    write_upright(raw, orientation_, options().matte, slot);
    ReadPicture picture;
    picture.slot = slot;
    picture.width = info().width;
    picture.height = info().height;
    // Frames without duration still follow each other.
    const auto start = core::MediaDuration::from_ms(canvas->start_ms);
    picture.time = std::max(options().start + start, next_);
    picture.duration = core::MediaDuration::from_ms(canvas->end_ms - canvas->start_ms);
    next_ = picture.time + core::MediaDuration::from_us(1);
    ++given_;
    return ReadItem(picture);
  }

 private:
  const std::vector<std::uint8_t> bytes_;
  const std::unique_ptr<ReadWebp> webp_;
  const int orientation_;
  int given_ = 0;
  core::MediaTime next_;
};

}  // namespace

core::Result<std::unique_ptr<MediaReader>> open_still(AVIOContext& bytes, ReaderOptions options,
                                                      PictureSlots& slots) {
  if (!options.want_video) {
    return core::error(ErrorCode::kMediaUnusable, options.name + ": a picture has no sound",
                       "give a sound or video file");
  }
  auto read = read_all(bytes, kStillBytesMax);
  if (!read) {
    const bool cut = options.fd < 0 && read.error().code == ErrorCode::kSourceUnreachable;
    return core::error(cut ? ErrorCode::kSourceUnreachable : ErrorCode::kMediaUnusable,
                       options.name + ": " + read.error().message);
  }
  const StillHeader header = probe_still(*read);
  auto status = check_picture_size(options.name, header.width, header.height);
  if (header.kind == StillKind::kUnknown || header.width == 0) return damaged(options.name);
  if (!status) return status.error();
  if (!header.complete) return damaged(options.name);
  const PictureShape shape{.orientation = header.orientation};
  if (header.kind == StillKind::kWebp) {
    const auto webp = ReadWebp::open(*read);
    if (!webp) return damaged(options.name);
    status = check_picture_size(options.name, webp->width(), webp->height());
    if (!status) return status.error();
    auto info = info_of(upright_size({webp->width(), webp->height()}, shape), "webp");
    return std::unique_ptr<MediaReader>(std::make_unique<WebpReader>(
        std::move(options), slots, std::move(info), std::move(*read), header.orientation));
  }
  const char* decoder = decoder_of(header.kind);
  FrameHandle frame = decode_still(decoder, *read);
  if (!frame) return damaged(options.name);
  status = check_picture_size(options.name, frame->width, frame->height);
  if (!status) return status.error();
  const char* format = header.kind == StillKind::kJpeg ? "jpeg" : decoder;
  auto info = info_of(upright_size({frame->width, frame->height}, shape), format);
  return std::unique_ptr<MediaReader>(std::make_unique<SingleReader>(
      std::move(options), slots, std::move(info), std::move(frame), header.orientation));
}

}  // namespace saccade::ingest
