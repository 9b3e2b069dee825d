#pragma once
// Containers and live sources: demux, decode, stamp, choose, convert.
#include <memory>

#include "core/clock.h"
#include "core/result.h"
#include "ingest/media_reader.h"
#include "ingest/open_input.h"
#include "ingest/open_network.h"

struct AVInputFormat;

namespace saccade::ingest {

// Demuxer errors in a row after which a recorded source counts as ended.
inline constexpr int kDemuxErrorsMax = 32;

// What the reader takes over, in the order in which it must outlive each other.
struct StreamSource {
  std::unique_ptr<ReadDeadline> deadline;    // ends blocking calls
  std::unique_ptr<ReadBytes> bytes;          // recorded only
  std::unique_ptr<NetworkAccess> access;     // addresses and devices only
  IoHandle body;                             // http(s) only
  const AVInputFormat* container = nullptr;  // null: FFmpeg finds it
};

core::Result<std::unique_ptr<MediaReader>> open_stream(StreamSource source, ReaderOptions options,
                                                       PictureSlots& slots);

}  // namespace saccade::ingest
