#pragma once
// multipart/form-data, as uploads of files come. Refused: more than kFormPartsMax parts, part heads
// of more than kFormHeadBytesMax, a body that does not end with its closing boundary. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace saccade::transport {

inline constexpr std::size_t kFormPartsMax = 64;
inline constexpr std::size_t kFormHeadBytesMax = 4096;
inline constexpr std::size_t kFormBoundaryBytesMax = 70;  // RFC 2046

struct FormPart {
  std::string name;
  bool file = false;      // it came with a file name
  std::string_view data;  // inside the body
};

// The parts of `body`, which must outlive them. Errors: kUsage.
core::Result<std::vector<FormPart>> read_multipart(std::string_view content_type,
                                                   std::string_view body);

}  // namespace saccade::transport
