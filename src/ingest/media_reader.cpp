// Checks the options and decides by content which reader takes the source.
#include "ingest/media_reader.h"

#include <cmath>

#include "ingest/allow_list.h"
#include "ingest/describe_failure.h"
#include "ingest/open_input.h"
#include "ingest/read_push.h"
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

// Opens what can be looked into before a demuxer is chosen. The others stay null.
core::Status open_bytes(const ReaderOptions& options, StreamSource& source) {
  if (options.fd >= 0) {
    source.bytes = std::make_unique<ReadBytes>(options.fd, source.deadline->interrupted());
    if (source.bytes->context() == nullptr) {
      return core::error(core::ErrorCode::kExhausted, "out of memory");
    }
    if (source.bytes->size() != 0) return {};
    return core::error(core::ErrorCode::kMediaUnusable, options.name + ": is empty (0 bytes)",
                       "check how it was made");
  }
  source.deadline->set(options.open_timeout);
  source.access = std::make_unique<NetworkAccess>(options, *source.deadline);
  if (scheme_of(options.url) != Scheme::kHttp) return {};
  auto body = source.access->open_body();
  if (!body) return body.error();
  source.body = std::move(*body);
  return {};
}

}  // namespace

core::Result<std::unique_ptr<MediaReader>> MediaReader::open(ReaderOptions options,
                                                             PictureSlots& slots,
                                                             const core::Clock& clock) {
  if (auto status = check_options(options); !status) return status.error();
  listen_to_ffmpeg();
  if (options.push) return open_push(std::move(options), slots);
  StreamSource source;
  source.deadline = std::make_unique<ReadDeadline>(clock);
  if (auto status = open_bytes(options, source); !status) return status.error();
  AVIOContext* bytes = source.bytes ? source.bytes->context() : source.body.get();
  if (bytes != nullptr) {
    auto container = probe_container(*bytes, options, *source.deadline);
    if (!container) return container.error();
    if (still_allowed((*container)->name)) return open_still(*bytes, std::move(options), slots);
    source.container = *container;
  }
  return open_stream(std::move(source), std::move(options), slots);
}

}  // namespace saccade::ingest
