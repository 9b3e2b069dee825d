#pragma once
// Where the bytes of a medium in a request come from: a data URL in any of its forms, bare base64,
// or a file below the folder the operator opened. Anything with a host is refused: this server
// fetches nothing. Pure but for nothing: files are only named here.
#include <string>

#include "core/result.h"

namespace saccade::transport {

struct MediaData {
  std::string bytes;      // of data URLs and base64
  std::string file_path;  // of file:// URLs, relative to the media folder; empty = `bytes` hold it
};

// "data:[type][;name=value]*[;base64],DATA" (also with spaces and line ends inside base64, both
// alphabets, with or without padding; percent-encoded without ;base64), bare base64, or
// "file:///a/b". `text` is emptied. Errors: kUsage (remote, unknown scheme), kMediaUnusable (broken
// encoding, empty).
core::Result<MediaData> read_media(std::string& text);

// Decodes in place. False when it is no base64.
bool decode_base64(std::string& text);

std::string encode_base64(const std::string& bytes);

}  // namespace saccade::transport
