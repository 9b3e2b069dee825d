#pragma once
// An Event as one line of JSON: design.md section 6, docs/events.md. Absent values are left out.
#include <string>
#include <string_view>

#include "emit/emit_types.h"

namespace saccade::transport {

// Stable lower-case name of a kind, as in the schema.
std::string_view name_of(emit::EventKind kind);

// Without a line end.
std::string to_json(const emit::Event& event);

}  // namespace saccade::transport
