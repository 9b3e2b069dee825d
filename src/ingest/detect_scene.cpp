#include "ingest/detect_scene.h"

#include <algorithm>
#include <cstdlib>

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

namespace saccade::ingest {
namespace {

constexpr int kBins = 32;
// Levels (0..255) by which the mean change must exceed the change before it ...
constexpr double kChangeSure = 24.0;       // ... whatever the histogram says,
constexpr double kChangeLikely = 9.0;      // ... when the histogram moved too,
constexpr double kHistogramLikely = 0.25;  // by this part of all pixels.

double mean_change(const LumaThumb& a, const LumaThumb& b) {
  int sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(int{a[i]} - int{b[i]});
  return static_cast<double>(sum) / static_cast<double>(a.size());
}

// Part of the pixels that are in another bin than before, 0..1.
double histogram_change(const LumaThumb& a, const LumaThumb& b) {
  std::array<int, kBins> difference{};
  for (const auto level : a) ++difference[level * kBins / 256];
  for (const auto level : b) --difference[level * kBins / 256];
  int moved = 0;
  for (const int count : difference) moved += std::abs(count);
  return static_cast<double>(moved) / 2 / static_cast<double>(a.size());
}

}  // namespace

std::optional<LumaThumb> luma_thumb(const AVFrame& frame) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  constexpr std::uint64_t kUnreadable = AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM |
                                        AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_FLOAT;
  if (format == nullptr || (format->flags & kUnreadable) != 0) return std::nullopt;
  const bool rgb = (format->flags & AV_PIX_FMT_FLAG_RGB) != 0;
  const AVComponentDescriptor& luma = format->comp[rgb ? 1 : 0];
  const std::uint8_t* plane = frame.data[luma.plane];
  if (plane == nullptr || luma.depth < 8 || luma.depth > 16) return std::nullopt;
  // The byte with the top eight bits when samples are wider; exact for 16 bit.
  const bool wide = luma.depth > 8;
  const bool big = (format->flags & AV_PIX_FMT_FLAG_BE) != 0;
  const int drop = luma.depth - 8 + luma.shift;
  LumaThumb thumb;
  std::size_t i = 0;
  for (int ty = 0; ty < kThumbHeight; ++ty) {
    const int y = (2 * ty + 1) * frame.height / (2 * kThumbHeight);
    const std::uint8_t* row = plane + std::ptrdiff_t{y} * frame.linesize[luma.plane] + luma.offset;
    for (int tx = 0; tx < kThumbWidth; ++tx) {
      const int x = (2 * tx + 1) * frame.width / (2 * kThumbWidth);
      const std::uint8_t* sample = row + std::ptrdiff_t{x} * luma.step;
      const int low = wide ? sample[big ? 1 : 0] : sample[0];
      const int high = wide ? sample[big ? 0 : 1] : 0;
      thumb[i++] = static_cast<std::uint8_t>(wide ? (high << 8 | low) >> drop : low);
    }
  }
  return thumb;
}

bool DetectScene::is_cut(const LumaThumb& thumb, core::MediaTime time) {
  if (!begun_) {
    begun_ = true;
    last_ = thumb;
    return false;
  }
  const double change = mean_change(last_, thumb);
  const double jump = change - last_change_;
  const bool likely = jump > kChangeLikely && histogram_change(last_, thumb) > kHistogramLikely;
  last_change_ = change;
  last_ = thumb;
  if (jump <= kChangeSure && !likely) return false;
  if (last_cut_ && time.us() - last_cut_->us() < kSceneGapUs) return false;
  last_cut_ = time;
  return true;
}

}  // namespace saccade::ingest
