// Checks the options and decides by content which reader takes the source.
#include "ingest/media_reader.h"

#include <cmath>

#include "ingest/allow_list.h"
#include "ingest/open_input.h"
#include "ingest/read_still.h"
#include "ingest/read_stream.h"

extern "C" {
#include <libavformat/avformat.h>
}

namespace saccade::ingest {
namespace {

core::Status check_options(const ReaderOptions& options) {
  const auto refuse = [](const std::string& message) {
    return core::error(core::ErrorCode::kUsage, message);
  };
  if (!(options.fps >= 0) || !std::isfinite(options.fps)) {
    return refuse("fps is " + std::to_string(options.fps) + "; allowed are 0 (all) and more");
  }
  if (options.animation_frames_max < 0) {
    return refuse("animation_frames_max is " + std::to_string(options.animation_frames_max) +
                  "; allowed are 0 (all) and more");
  }
  if (!options.want_video && !options.want_audio) return refuse("neither picture nor sound wanted");
  if (options.start.is_special()) return refuse("start has no time");
  return {};
}

}  // namespace

core::Result<std::unique_ptr<MediaReader>> MediaReader::open(ReaderOptions options,
                                                             PictureSlots& slots,
                                                             const core::Clock& clock) {
  if (auto status = check_options(options); !status) return status.error();
  silence_ffmpeg();
  StreamSource source;
  source.deadline = std::make_unique<ReadDeadline>(clock);
  if (options.fd >= 0) {
    source.bytes = std::make_unique<ReadBytes>(options.fd, source.deadline->interrupted());
    auto container = probe_container(*source.bytes, options);
    if (!container) return container.error();
    if (still_allowed((*container)->name)) {
      return open_still(*source.bytes, std::move(options), slots);
    }
    source.container = *container;
  }
  return open_stream(std::move(source), std::move(options), slots);
}

}  // namespace saccade::ingest
