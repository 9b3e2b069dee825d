#pragma once
// What a failed call of FFmpeg means to the user. Some reasons FFmpeg tells only in its log (a
// certificate that is not trusted), so the log is listened to; it is printed nowhere.
#include "core/result.h"
#include "ingest/media_reader.h"
#include "ingest/read_deadline.h"

namespace saccade::ingest {

// Call before the first call of FFmpeg for a source: what was heard about another one is forgotten.
// Thread-safe; what is heard belongs to the thread that called FFmpeg.
void listen_to_ffmpeg();

// `code` is FFmpeg's. Never tells what a decoder or a server said.
core::Error describe_failure(int code, const ReaderOptions& options, const ReadDeadline& deadline);

}  // namespace saccade::ingest
