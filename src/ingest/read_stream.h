#pragma once
// Containers and live sources: demux, decode, stamp, choose, convert.
#include <memory>

#include "core/clock.h"
#include "core/result.h"
#include "ingest/media_reader.h"
#include "ingest/open_input.h"

struct AVInputFormat;

namespace saccade::ingest {

// Demuxer errors in a row after which a recorded source counts as ended.
inline constexpr int kDemuxErrorsMax = 32;

// What the reader takes over: the source's bytes (null for network and devices) and the deadline
// that ends its blocking calls.
struct StreamSource {
  std::unique_ptr<ReadDeadline> deadline;
  std::unique_ptr<ReadBytes> bytes;
  const AVInputFormat* container = nullptr;
};

core::Result<std::unique_ptr<MediaReader>> open_stream(StreamSource source, ReaderOptions options,
                                                       PictureSlots& slots);

}  // namespace saccade::ingest
