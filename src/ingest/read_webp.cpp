#include "ingest/read_webp.h"

#include <webp/demux.h>

namespace saccade::ingest {
namespace {

struct Delete {
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
};

class Webp final : public ReadWebp {
 public:
  Webp(std::unique_ptr<WebPAnimDecoder, Delete> decoder, const WebPAnimInfo& info)
      : decoder_(std::move(decoder)), info_(info) {}

  int width() const override { return static_cast<int>(info_.canvas_width); }
  int height() const override { return static_cast<int>(info_.canvas_height); }

  std::optional<Canvas> next() override {
    Canvas canvas;
    std::uint8_t* rgba = nullptr;
    canvas.start_ms = end_ms_;
    if (!WebPAnimDecoderHasMoreFrames(decoder_.get()) ||
        !WebPAnimDecoderGetNext(decoder_.get(), &rgba, &canvas.end_ms)) {
      return std::nullopt;
    }
    end_ms_ = canvas.end_ms;
    canvas.rgba = rgba;
    return canvas;
  }

 private:
  std::unique_ptr<WebPAnimDecoder, Delete> decoder_;
  const WebPAnimInfo info_;
  int end_ms_ = 0;
};

}  // namespace

std::unique_ptr<ReadWebp> ReadWebp::open(std::span<const std::uint8_t> bytes) {
  WebPAnimDecoderOptions options;
  if (!WebPAnimDecoderOptionsInit(&options)) return nullptr;
  options.color_mode = MODE_RGBA;
  options.use_threads = 0;
  const WebPData data{bytes.data(), bytes.size()};
  std::unique_ptr<WebPAnimDecoder, Delete> decoder(WebPAnimDecoderNew(&data, &options));
  WebPAnimInfo info;
  if (!decoder || !WebPAnimDecoderGetInfo(decoder.get(), &info)) return nullptr;
  return std::make_unique<Webp>(std::move(decoder), info);
}

}  // namespace saccade::ingest
