#include "engine/native/place_span.h"

#include <algorithm>

namespace saccade::engine::native {

PlacedSpan place_span(const VisualSpan& span, std::int32_t first, bool axes) {
  const int whole = std::max(span.whole, span.tokens);
  const int columns = axes ? span.columns : 0;  // 0: no grid, so there is one axis only
  PlacedSpan out;
  for (int i = 0; i < span.tokens; ++i) {
    const int at = span.kept.empty() ? i : span.kept[static_cast<std::size_t>(i)];
    out.tokens.push_back(columns == 0
                             ? Position::at(first + at)
                             : Position{first, first + at / columns, first + at % columns});
  }
  out.next = first + (columns == 0 ? whole : std::max(columns, whole / columns));
  return out;
}

}  // namespace saccade::engine::native
