#pragma once
// Opens a container for reading under the rules of allow_list.h: what it is, its header, which
// streams are used, and their decoders. Addresses: see open_network.h.
#include <string>

#include "core/result.h"
#include "ingest/av_handles.h"
#include "ingest/av_options.h"
#include "ingest/media_reader.h"
#include "ingest/read_bytes.h"
#include "ingest/read_deadline.h"

struct AVInputFormat;
struct AVStream;

namespace saccade::ingest {

// Finds the format by content: a container, or a still (still_allowed). Never null in a good
// result. Errors: kMediaUnusable (nothing we know or allow for this source); what an address may
// fail with.
core::Result<const AVInputFormat*> probe_container(AVIOContext& bytes, const ReaderOptions& options,
                                                   const ReadDeadline& deadline);

// Reads the header of recorded bytes. `bytes` and `deadline` must outlive the result.
core::Result<FormatHandle> open_recorded(ReadBytes& bytes, const AVInputFormat* container,
                                         const ReaderOptions& options, ReadDeadline& deadline);

// Takes `format` over, reads the header under `settings`, finds the streams and checks their number
// and picture sizes.
core::Result<FormatHandle> read_header(AVFormatContext* format, const AVInputFormat* container,
                                       const ReaderOptions& options, ReadDeadline& deadline,
                                       AvOptions& settings);

enum class StreamKind { kVideo, kAudio };
// The stream to use: the default or best one, never a cover picture. Null when there is none.
AVStream* choose_stream(AVFormatContext& format, StreamKind kind);

// Errors: kUnsupported naming the codec.
core::Result<CodecHandle> open_decoder(const AVStream& stream, const std::string& name);

}  // namespace saccade::ingest
