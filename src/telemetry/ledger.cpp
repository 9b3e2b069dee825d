#include "telemetry/ledger.h"

namespace saccade::telemetry {

std::string_view name_of(Stage stage) {
  static constexpr std::array<std::string_view, kStages> kNames = {
      "capture", "align", "see", "read", "hear", "attend", "decode", "emit"};
  return kNames[static_cast<std::size_t>(stage)];
}

}  // namespace saccade::telemetry
