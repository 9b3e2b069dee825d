#include "ingest/read_stream.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <string_view>
#include <utility>

#include "core/limits.h"
#include "ingest/allow_list.h"
#include "ingest/choose_picture.h"
#include "ingest/convert_picture.h"
#include "ingest/convert_sound.h"
#include "ingest/detect_scene.h"
#include "ingest/key_pictures.h"
#include "ingest/orient_picture.h"
#include "ingest/probe_header.h"
#include "ingest/stamp_time.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace saccade::ingest {
namespace {

namespace limits = core::limits;
using core::ErrorCode;

std::int64_t to_us(std::int64_t ticks, AVRational unit) {
  return av_rescale_q(ticks, unit, av_get_time_base_q());
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

int orientation_of(const std::uint8_t* matrix, std::size_t bytes) {
  std::int32_t cells[9];
  if (matrix == nullptr || bytes < sizeof cells) return 1;
  std::memcpy(cells, matrix, sizeof cells);
  return orientation_of_matrix(cells);
}

// One stream in use.
struct Track {
  Track(AVStream& from, CodecHandle with, StampAxis& axis, const StampOptions& stamps)
      : stream(from), decoder(std::move(with)), stamp(axis, stamps) {}
  AVStream& stream;
  CodecHandle decoder;
  StampTime stamp;
  bool unread = false;    // the decoder may hold frames that were not taken yet
  int faults = 0;         // of the decoder since its last packet
  bool entered = false;   // a key packet or a frame was seen: from here on faults count
  bool draining = false;  // the decoder was told that nothing follows; it starts anew when empty
};

class StreamReader final : public MediaReader {
 public:
  StreamReader(StreamSource source, FormatHandle format, ReaderOptions options, PictureSlots& slots)
      : source_(std::move(source)),
        format_(std::move(format)),
        options_(std::move(options)),
        slots_(slots),
        axis_(options_.start),
        choose_(options_.fps),
        convert_(options_.matte),
        packet_(av_packet_alloc()),
        frame_(av_frame_alloc()) {}

  core::Status start();
  const SourceInfo& info() const override { return info_; }
  core::Result<ReadItem> read() override;
  void interrupt() override { source_.deadline->interrupt(); }

 private:
  core::Status open_track(StreamKind kind, std::unique_ptr<Track>& track);
  void describe();
  void find_origin();
  core::Status advance();
  void step();
  void on_read_error(int code);
  void decode(Track& track, const AVPacket* packet);
  KeyPictures::Verdict judge(const Track& track, const AVPacket& packet);
  core::Status take_frame(Track& track);
  core::Status on_picture(Track& track);
  core::Status on_sound(Track& track);
  core::Status give_picture(const AVFrame& frame, const Stamp& stamp, bool scene_cut);
  void finish_sound();
  core::Result<ReadItem> end() const;
  PictureShape shape_of(const AVFrame& frame) const;
  bool is_corrupt(const AVFrame& frame) const;
  std::optional<core::WallTime> wall_of(const Stamp& stamp) const;
  void lose(LossKind kind, core::MediaTime time);

  StreamSource source_;  // outlives format_, which reads through it
  FormatHandle format_;
  const ReaderOptions options_;
  PictureSlots& slots_;
  SourceInfo info_;
  StampAxis axis_;
  std::unique_ptr<Track> video_, audio_;
  bool animation_ = false;
  int orientation_ = 1;  // of the video stream
  ChoosePicture choose_;
  KeyPictures keys_;
  DetectScene scene_;
  ConvertPicture convert_;
  ConvertSound sound_;
  PacketHandle packet_;
  FrameHandle frame_;
  std::deque<ReadItem> ready_;  // what one frame gave: bounded by kSoundGapFillUs of silence
  std::vector<ReadSound> blocks_;
  int demux_errors_ = 0, pictures_ = 0;
  bool gave_ = false, ended_ = false, finished_ = false, broke_off_ = false;
};

core::Status StreamReader::start() {
  if (!packet_ || !frame_) return core::error(ErrorCode::kExhausted, "out of memory");
  core::Status video, audio;
  if (options_.want_video) video = open_track(StreamKind::kVideo, video_);
  if (options_.want_audio) audio = open_track(StreamKind::kAudio, audio_);
  if (!video_ && !audio_) {
    if (!video) return video;
    if (!audio) return audio;
    const char* wanted = !options_.want_audio   ? " no picture"
                         : !options_.want_video ? " no sound"
                                                : " neither picture nor sound";
    return core::error(ErrorCode::kMediaUnusable, options_.name + ": holds" + wanted,
                       "give another source");
  }
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    AVStream* stream = format_->streams[i];
    const bool used =
        (video_ && &video_->stream == stream) || (audio_ && &audio_->stream == stream);
    if (!used) stream->discard = AVDISCARD_ALL;
  }
  describe();
  find_origin();
  return {};
}

// Leaves `track` null and returns ok when there is no such stream.
core::Status StreamReader::open_track(StreamKind kind, std::unique_ptr<Track>& track) {
  AVStream* stream = choose_stream(*format_, kind);
  if (stream == nullptr) return {};
  auto decoder = open_decoder(*stream, options_.name);
  if (!decoder) return decoder.error();
  const bool full_stamps = stream->pts_wrap_bits >= 63;
  // Cuts and restarts happen in these even when recorded; other files mean what they say.
  const bool broadcast = one_of(format_->iformat->name, {"mpegts", "mpeg"});
  const StampOptions stamps{
      .wrap_bits = full_stamps ? 0 : stream->pts_wrap_bits,
      .tick_num = stream->time_base.num,
      .tick_den = stream->time_base.den,
      .jump_ahead_us = options_.live || broadcast ? kJumpAheadUs : kJumpAheadRecordedUs,
  };
  track = std::make_unique<Track>(*stream, std::move(*decoder), axis_, stamps);
  return {};
}

void StreamReader::describe() {
  const std::string_view names = format_->iformat->name;  // "mov,mp4,m4a,..."
  info_.container = names.substr(0, names.find(','));
  info_.live = options_.live;
  animation_ = one_of(info_.container, {"gif", "apng"});
  if (format_->duration > 0 && !options_.live) {
    info_.duration = core::MediaDuration::from_us(format_->duration);
  }
  if (audio_) {
    info_.has_audio = true;
    info_.audio_codec = avcodec_get_name(audio_->stream.codecpar->codec_id);
  }
  if (!video_) return;
  AVStream& stream = video_->stream;
  std::size_t bytes = 0;
  const auto* matrix = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
  orientation_ = orientation_of(matrix, bytes);
  info_.has_video = true;
  info_.video_codec = avcodec_get_name(stream.codecpar->codec_id);
  const AVRational rate = av_guess_frame_rate(format_.get(), &stream, nullptr);
  if (rate.num > 0 && rate.den > 0) info_.fps = av_q2d(rate);
  PictureShape shape{.orientation = orientation_};
  const AVRational aspect = av_guess_sample_aspect_ratio(format_.get(), &stream, nullptr);
  if (!animation_ && aspect.num > 0) {
    shape.aspect_num = aspect.num;
    shape.aspect_den = aspect.den;
  }
  const auto size = upright_size({stream.codecpar->width, stream.codecpar->height}, shape);
  info_.width = size.width;
  info_.height = size.height;
}

// Both kinds count from the earlier first stamp, so that their offset survives. When a stream has
// not told its start yet, whatever comes first is the origin.
void StreamReader::find_origin() {
  std::optional<std::int64_t> origin;
  for (const auto* track : {video_.get(), audio_.get()}) {
    if (track == nullptr) continue;
    const AVStream& stream = track->stream;
    if (stream.start_time == AV_NOPTS_VALUE) return;
    const std::int64_t start_us = to_us(stream.start_time, stream.time_base);
    origin = origin ? std::min(*origin, start_us) : start_us;
  }
  if (origin) axis_.set_origin(*origin);
}

core::Result<ReadItem> StreamReader::read() {
  while (ready_.empty()) {
    if (source_.deadline->interrupted()) {
      return core::error(ErrorCode::kCancelled, options_.name + ": cancelled");
    }
    if (finished_) return end();
    if (auto status = advance(); !status) return status.error();
  }
  ReadItem item = std::move(ready_.front());
  ready_.pop_front();
  return item;
}

core::Result<ReadItem> StreamReader::end() const {
  if (!gave_ && !options_.live) {
    return core::error(ErrorCode::kMediaUnusable,
                       options_.name + ": no picture and no sound could be decoded",
                       "check the file with ffprobe");
  }
  if (broke_off_) {
    return core::error(ErrorCode::kSourceUnreachable, options_.name + ": the stream broke off",
                       "check the sender and the network");
  }
  return ReadItem(EndOfSource{});
}

// One frame, or one packet when the decoders have no more frames. A codec that reorders deeply may
// hold more pictures than there are slots: those it keeps take none, and the taker of the one that
// was given has its turn before the next is asked for.
core::Status StreamReader::advance() {
  for (auto* track : {video_.get(), audio_.get()}) {
    if (track != nullptr && track->unread) return take_frame(*track);
  }
  if (ended_) {
    finish_sound();
  } else {
    step();
  }
  return {};
}

// One packet, or the end.
void StreamReader::step() {
  if (animation_ && options_.animation_frames_max > 0 &&
      pictures_ >= options_.animation_frames_max) {
    ended_ = true;
    return;
  }
  if (options_.fd < 0) source_.deadline->set(options_.read_timeout);
  const int code = av_read_frame(format_.get(), packet_.get());
  if (code < 0) return on_read_error(code);
  demux_errors_ = 0;
  for (auto* track : {video_.get(), audio_.get()}) {
    const bool mine = track != nullptr && packet_->stream_index == track->stream.index;
    if (!mine) continue;
    const auto verdict = judge(*track, *packet_);
    if (verdict == KeyPictures::Verdict::kSkip) continue;
    decode(*track, packet_.get());
    if (verdict != KeyPictures::Verdict::kDecodeAlone) continue;
    track->draining = true;
    avcodec_send_packet(track->decoder.get(), nullptr);
  }
  av_packet_unref(packet_.get());
}

KeyPictures::Verdict StreamReader::judge(const Track& track, const AVPacket& packet) {
  const std::int64_t ticks = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  const bool unstamped = ticks == AV_NOPTS_VALUE;
  if (&track != video_.get() || animation_ || unstamped) return KeyPictures::Verdict::kDecode;
  return keys_.judge((packet.flags & AV_PKT_FLAG_KEY) != 0, to_us(ticks, track.stream.time_base),
                     slots_.key_pictures_only());
}

void StreamReader::on_read_error(int code) {
  if (source_.deadline->interrupted() || code == AVERROR(EAGAIN)) return;
  const bool recorded = options_.fd >= 0;
  if (recorded && code != AVERROR_EOF && code != AVERROR(EIO) &&
      ++demux_errors_ < kDemuxErrorsMax) {
    return;
  }
  // A finished HLS or HTTP file is an end; cameras do not end by themselves.
  const bool may_end =
      scheme_of(options_.url) == Scheme::kHttp && !is_unstamped(format_->iformat->name);
  broke_off_ = !recorded && !(may_end && code == AVERROR_EOF);
  ended_ = true;
  for (auto* track : {video_.get(), audio_.get()}) {
    if (track != nullptr) decode(*track, nullptr);
  }
}

// What is left of the sound when the last frame has been taken.
void StreamReader::finish_sound() {
  finished_ = true;
  blocks_.clear();
  sound_.finish(blocks_);
  for (auto& block : blocks_) ready_.emplace_back(std::move(block));
  gave_ = gave_ || !blocks_.empty();
}

// `packet` null: no more will come.
void StreamReader::decode(Track& track, const AVPacket* packet) {
  if (packet != nullptr) {
    const bool key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
    track.entered = track.entered || key || options_.fd >= 0;
    // Comes back with the frame: was its packet damaged on the way?
    track.decoder->reordered_opaque = (packet->flags & AV_PKT_FLAG_CORRUPT) != 0 ? 1 : 0;
  }
  const int sent = avcodec_send_packet(track.decoder.get(), packet);
  if (sent < 0 && sent != AVERROR_EOF && track.entered) lose(LossKind::kCorrupt, {});
  track.unread = true;
  track.faults = 0;
}

core::Status StreamReader::take_frame(Track& track) {
  const int got = avcodec_receive_frame(track.decoder.get(), frame_.get());
  if (got < 0) {
    const bool fault = got != AVERROR(EAGAIN) && got != AVERROR_EOF;
    if (fault && track.entered) lose(LossKind::kCorrupt, {});
    track.unread = fault && ++track.faults < kDemuxErrorsMax;
    if (!track.unread && std::exchange(track.draining, false)) {
      avcodec_flush_buffers(track.decoder.get());
    }
    return {};
  }
  track.entered = true;
  const auto status = &track == video_.get() ? on_picture(track) : on_sound(track);
  av_frame_unref(frame_.get());
  return status;
}

core::Status StreamReader::on_picture(Track& track) {
  const AVFrame& frame = *frame_;
  const AVRational unit = track.stream.time_base;
  std::optional<std::int64_t> ticks;
  if (frame.best_effort_timestamp != AV_NOPTS_VALUE) ticks = frame.best_effort_timestamp;
  std::int64_t duration_us = to_us(frame.pkt_duration, unit);
  const AVRational rate =
      track.decoder->framerate.num > 0 ? track.decoder->framerate : track.stream.avg_frame_rate;
  if (duration_us <= 0 && rate.num > 0) duration_us = to_us(1, av_inv_q(rate));
  const Stamp stamp = track.stamp.stamp(ticks, duration_us);
  if (stamp.before_start) {
    lose(LossKind::kLate, {});
    return {};
  }
  if (is_corrupt(frame) || !check_picture_size(options_.name, frame.width, frame.height)) {
    lose(LossKind::kCorrupt, stamp.time);
    return {};
  }
  if (animation_) {
    const bool wanted =
        options_.animation_frames_max == 0 || pictures_ < options_.animation_frames_max;
    return wanted ? give_picture(frame, stamp, false) : core::Status{};
  }
  bool cut = false;
  if (options_.scene_cuts) {
    const auto thumb = luma_thumb(frame);
    cut = thumb && scene_.is_cut(*thumb, stamp.time);
  }
  if (!choose_.choose(stamp.time, stamp.duration, cut)) return {};
  return give_picture(frame, stamp, cut);
}

core::Status StreamReader::give_picture(const AVFrame& frame, const Stamp& stamp, bool scene_cut) {
  const PictureShape shape = shape_of(frame);
  const PictureSize size = upright_size({frame.width, frame.height}, shape);
  std::uint8_t* slot = slots_.acquire(size.width, size.height);
  if (slot == nullptr && options_.live) {
    lose(LossKind::kRate, stamp.time);
    return {};
  }
  if (slot == nullptr) return core::error(ErrorCode::kCancelled, options_.name + ": cancelled");
  if (const auto status = convert_.convert(frame, shape, slot); !status) {
    return core::error(status.error().code, options_.name + ": " + status.error().message,
                       "convert it, for example to H.264 in MP4");
  }
  ReadPicture picture;
  picture.slot = slot;
  picture.width = size.width;
  picture.height = size.height;
  picture.time = stamp.time;
  picture.duration = stamp.duration;
  picture.scene_cut = scene_cut;
  picture.interlaced = frame.interlaced_frame != 0;
  picture.wall = wall_of(stamp);
  ready_.emplace_back(picture);
  ++pictures_;
  gave_ = true;
  return {};
}

core::Status StreamReader::on_sound(Track& track) {
  const AVFrame& frame = *frame_;
  std::optional<std::int64_t> ticks;
  if (frame.best_effort_timestamp != AV_NOPTS_VALUE) ticks = frame.best_effort_timestamp;
  const std::int64_t duration_us =
      frame.sample_rate > 0 ? std::int64_t{frame.nb_samples} * 1'000'000 / frame.sample_rate : 0;
  const Stamp stamp = track.stamp.stamp(ticks, duration_us);
  if (stamp.before_start) return {};
  blocks_.clear();
  if (const auto status = sound_.push(frame, stamp.time, blocks_); !status) {
    lose(LossKind::kCorrupt, stamp.time);
    return {};
  }
  const auto wall = wall_of(stamp);
  for (auto& block : blocks_) {
    const auto since = block.time.since(stamp.time);
    if (wall && since) block.wall = core::WallTime{wall->us + since->us()};
    ready_.emplace_back(std::move(block));
    gave_ = true;
  }
  return {};
}

PictureShape StreamReader::shape_of(const AVFrame& frame) const {
  PictureShape shape{.orientation = orientation_};
  if (animation_) return shape;
  const AVFrameSideData* turned = av_frame_get_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX);
  if (turned != nullptr) shape.orientation = orientation_of(turned->data, turned->size);
  const AVRational aspect =
      av_guess_sample_aspect_ratio(format_.get(), &video_->stream, frame_.get());
  if (aspect.num > 0 && aspect.den > 0) {
    shape.aspect_num = aspect.num;
    shape.aspect_den = aspect.den;
  }
  return shape;
}

bool StreamReader::is_corrupt(const AVFrame& frame) const {
  return (frame.flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame.decode_error_flags != 0 ||
         frame.reordered_opaque == 1;
}

std::optional<core::WallTime> StreamReader::wall_of(const Stamp& stamp) const {
  const std::int64_t zero_us = format_->start_time_realtime;
  if (zero_us == AV_NOPTS_VALUE || zero_us <= 0 || stamp.restamped) return std::nullopt;
  return core::WallTime{zero_us + stamp.raw_us};
}

void StreamReader::lose(LossKind kind, core::MediaTime time) {
  ready_.emplace_back(Loss{.kind = kind, .time = time, .count = 1});
}

}  // namespace

core::Result<std::unique_ptr<MediaReader>> open_stream(StreamSource source, ReaderOptions options,
                                                       PictureSlots& slots) {
  auto format = source.bytes
                    ? open_recorded(*source.bytes, source.container, options, *source.deadline)
                    : source.access->open_format(source.body.get(), source.container);
  if (!format) return format.error();
  auto reader = std::make_unique<StreamReader>(std::move(source), std::move(*format),
                                               std::move(options), slots);
  if (auto status = reader->start(); !status) return status.error();
  return std::unique_ptr<MediaReader>(std::move(reader));
}

}  // namespace saccade::ingest
