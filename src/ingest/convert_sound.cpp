#include "ingest/convert_sound.h"

#include <algorithm>
#include <cmath>

#include "core/limits.h"

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libswresample/swresample.h>
}

namespace saccade::ingest {
namespace {

namespace limits = core::limits;

constexpr int kRateMin = 1'000, kRateMax = 768'000;
constexpr int kChannelsMax = 32;

}  // namespace

core::Status ConvertSound::prepare(const AVFrame& frame, std::vector<ReadSound>& out) {
  const AVChannelLayout& layout = frame.ch_layout;
  const bool native = layout.order == AV_CHANNEL_ORDER_NATIVE;
  const unsigned long long mask = native ? layout.u.mask : 0;
  if (resampler_ && rate_ == frame.sample_rate && channels_ == layout.nb_channels &&
      format_ == frame.format && layout_mask_ == mask) {
    return {};
  }
  const auto refused =
      core::error(core::ErrorCode::kUnsupported, "this sound format cannot be converted");
  const bool sane = frame.sample_rate >= kRateMin && frame.sample_rate <= kRateMax &&
                    layout.nb_channels >= 1 && layout.nb_channels <= kChannelsMax;
  if (!sane) return refused;
  drain(out);
  AVChannelLayout from = {}, mono = {};
  av_channel_layout_default(&mono, 1);
  const int copied = native ? av_channel_layout_copy(&from, &layout) : 0;
  if (!native) av_channel_layout_default(&from, layout.nb_channels);
  if (from.order == AV_CHANNEL_ORDER_UNSPEC) {  // no usual layout has that many channels
    av_channel_layout_from_mask(&from, (1ULL << layout.nb_channels) - 1);
  }
  SwrContext* made = nullptr;
  const int set =
      swr_alloc_set_opts2(&made, &mono, AV_SAMPLE_FMT_FLT, limits::kAudioRate, &from,
                          static_cast<AVSampleFormat>(frame.format), frame.sample_rate, 0, nullptr);
  av_channel_layout_uninit(&from);
  resampler_.reset(made);
  if (copied < 0 || set < 0 || swr_init(made) < 0) {
    resampler_.reset();
    return refused;
  }
  rate_ = frame.sample_rate;
  channels_ = layout.nb_channels;
  format_ = frame.format;
  layout_mask_ = mask;
  return {};
}

// Samples got, in samples_. A null frame takes out what the resampler still holds.
int ConvertSound::resample(const AVFrame* frame) {
  const int in = frame != nullptr ? frame->nb_samples : 0;
  const int room = std::max(swr_get_out_samples(resampler_.get(), in), 0);
  samples_.resize(static_cast<std::size_t>(room));
  auto* to = reinterpret_cast<std::uint8_t*>(samples_.data());
  const auto** from =
      frame != nullptr ? const_cast<const std::uint8_t**>(frame->extended_data) : nullptr;
  const int got = std::max(swr_convert(resampler_.get(), &to, room, from, in), 0);
  samples_.resize(static_cast<std::size_t>(got));
  for (float& sample : samples_) {
    sample = std::isfinite(sample) ? std::clamp(sample, -1.0F, 1.0F) : 0.0F;
  }
  return got;
}

core::Status ConvertSound::push(const AVFrame& frame, core::MediaTime time,
                                std::vector<ReadSound>& out) {
  if (const auto status = prepare(frame, out); !status) return status;
  // The first sample that comes out belongs to what went in before this frame.
  const auto held = core::MediaDuration::from_us(swr_get_delay(resampler_.get(), 1'000'000));
  const int got = resample(&frame);
  const auto first = time - held;
  assemble_.push(samples_, first, out);
  next_ = first + core::MediaDuration::from_us(std::int64_t{got} * 1'000'000 / limits::kAudioRate);
  return {};
}

void ConvertSound::drain(std::vector<ReadSound>& out) {
  if (!resampler_) return;
  resample(nullptr);
  assemble_.push(samples_, next_, out);
  resampler_.reset();
}

void ConvertSound::finish(std::vector<ReadSound>& out) {
  drain(out);
  assemble_.finish(out);
}

}  // namespace saccade::ingest
