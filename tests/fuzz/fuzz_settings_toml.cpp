// Any bytes as a settings file: an error with a message, or settings that can be shown and loaded
// again to the same values.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade::app;  // NOLINT: a fuzzer is one file
  LoadedSettings loaded;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto status = apply_toml(text, "fuzz.toml", loaded); !status.ok()) {
    if (status.error().message.empty()) std::abort();
    return 0;
  }
  const std::string shown = show_config(loaded, true);
  LoadedSettings again;
  if (!apply_toml(shown, "shown.toml", again).ok()) std::abort();
  if (show_config(again, false) != show_config(loaded, false)) std::abort();
  return 0;
}
