#pragma once
// What a client pushed, inside the decode worker: one packet at a time from a SOCK_SEQPACKET pair,
// its bytes in a file that comes along. Each packet gives its picture, or the blocks of sound that
// it completes, or a Loss, and then PushTaken. Encoded pictures take the way of stills
// (read_still.h), sound that of every sound. The pair's end is the end of the source.
// Time: that of the client. Its first packet lies at kPushLeadUs, so that sound which was captured
// a little before the first picture, but comes after it, has a place too.
#include <memory>

#include "core/result.h"
#include "ingest/media_reader.h"

namespace saccade::ingest {

inline constexpr std::int64_t kPushLeadUs = 1'000'000;

core::Result<std::unique_ptr<MediaReader>> open_push(ReaderOptions options, PictureSlots& slots);

}  // namespace saccade::ingest
