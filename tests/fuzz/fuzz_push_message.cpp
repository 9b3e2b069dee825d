// Any bytes as a binary message of a client: refused with one line, or values inside their ranges
// whose payload holds every row.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "transport/push_message.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade::transport;  // NOLINT: a fuzzer is one file
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::uint64_t seq = 0;
  const auto message = parse_push_message(bytes, seq);
  if (!message) {
    require(!message.error().message.empty());
    return 0;
  }
  require(message->seq >= 1 && message->seq == seq && message->capture_us >= 0);
  require(message->payload.size() + kPushHeaderBytes == size);
  if (message->type == PushType::kRaw) {
    const auto rows = static_cast<std::size_t>(message->height);
    const auto stride = static_cast<std::size_t>(message->stride);
    const std::size_t chroma = (stride + 1) / 2 * ((rows + 1) / 2);
    require(message->payload.size() == stride * rows + (message->planar ? 2 * chroma : 0));
    require(message->stride >= message->width * (message->planar ? 1 : 3));
  }
  if (message->type == PushType::kSound) {
    require(message->payload.size() % 2 == 0 && message->rate > 0);
  }
  return 0;
}
