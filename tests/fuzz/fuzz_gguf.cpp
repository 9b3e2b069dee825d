// GGUF headers: any bytes, seen whole and as the head of a longer file, must end in an answer.
#include <cstddef>
#include <cstdint>

#include "engine/gguf/parse_gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade::engine::gguf;
  const std::span<const std::uint8_t> bytes(data, size);
  for (const std::uint64_t file_bytes : {std::uint64_t{size}, std::uint64_t{size} + (1U << 20)}) {
    const Parsed parsed = parse_gguf(bytes, file_bytes);
    const auto* header = std::get_if<Header>(&parsed);
    if (header == nullptr) continue;
    if (header->header_bytes > size) __builtin_trap();
    (void)check_values(*header).ok();
  }
  return 0;
}
