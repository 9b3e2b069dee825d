#include "transport/read_multipart.h"

#include <algorithm>
#include <utility>

#include "transport/ascii_text.h"

namespace saccade::transport {
namespace {

core::Error broken(const std::string& what) {
  return core::error(core::ErrorCode::kUsage, "the form " + what,
                     "send multipart/form-data as curl -F does");
}

// The value of `key=value` or `key="value"` among the parameters of a header.
std::string parameter(std::string_view header, std::string_view key) {
  std::size_t at = header.find(';');
  while (at != header.npos) {
    std::size_t begin = header.find_first_not_of(" \t;", at);
    if (begin == header.npos) return {};
    const std::size_t equals = header.find('=', begin);
    if (equals == header.npos) return {};
    const bool wanted = lower(header.substr(begin, equals - begin)) == key;
    std::string value;
    std::size_t i = equals + 1;
    if (i < header.size() && header[i] == '"') {
      for (++i; i < header.size() && header[i] != '"'; ++i) {
        if (header[i] == '\\' && i + 1 < header.size()) ++i;
        value += header[i];
      }
    } else {
      for (; i < header.size() && header[i] != ';' && header[i] != ' '; ++i) value += header[i];
    }
    if (wanted) return value;
    at = header.find(';', std::min(i, header.size()));
  }
  return {};
}

// Reads the head lines of one part.
FormPart part_of(std::string_view head, std::string_view data) {
  FormPart part{.name = {}, .file = false, .data = data};
  while (!head.empty()) {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    if (lower(line.substr(0, 20)) == "content-disposition:") {
      part.name = parameter(line, "name");
      part.file = lower(line).find("filename") != std::string::npos;
    }
    head.remove_prefix(std::min(head.size(), end + 2));
  }
  return part;
}

}  // namespace

core::Result<std::vector<FormPart>> read_multipart(std::string_view content_type,
                                                   std::string_view body) {
  if (lower(content_type.substr(0, 19)) != "multipart/form-data") {
    return broken("is not multipart/form-data");
  }
  const std::string boundary = parameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kFormBoundaryBytesMax) {
    return broken("names no boundary of 1.." + std::to_string(kFormBoundaryBytesMax) + " bytes");
  }
  const std::string first = "--" + boundary, next = "\r\n" + first;
  std::size_t at = body.starts_with(first) ? 0 : body.find(next);
  if (at == body.npos) return broken("does not hold its boundary");
  at += body.starts_with(first) ? first.size() : next.size();
  std::vector<FormPart> parts;
  while (body.substr(at, 2) != "--") {
    if (body.substr(at, 2) != "\r\n") return broken("has something behind a boundary");
    at += 2;
    if (parts.size() == kFormPartsMax) {
      return broken("has more than " + std::to_string(kFormPartsMax) + " parts");
    }
    const std::size_t blank = body.substr(at, kFormHeadBytesMax).find("\r\n\r\n");
    if (blank == body.npos) return broken("has a part without an end of its head");
    const std::size_t begin = at + blank + 4;
    // An empty part's boundary shares its line end with the head.
    const std::size_t end = body.find(next, begin - 2);
    if (end == body.npos) return broken("breaks off in a part");
    const std::size_t size = end < begin ? 0 : end - begin;
    parts.push_back(part_of(body.substr(at, blank), body.substr(begin, size)));
    at = end + next.size();
  }
  return parts;
}

}  // namespace saccade::transport
