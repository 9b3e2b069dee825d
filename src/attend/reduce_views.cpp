#include "attend/reduce_views.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/prune/keep_tokens.h"

namespace saccade::attend {
namespace {

// The view's grid, if its tokens are one.
const engine::VisualSpan* grid_of(const perceive::SeenView& view) {
  if (!view.encoded) return nullptr;
  for (const auto& segment : view.encoded->segments) {
    const auto* span = std::get_if<engine::VisualSpanPtr>(&segment);
    if (span != nullptr && (*span)->columns > 0 && (*span)->kept.empty()) return span->get();
  }
  return nullptr;
}

struct Box {
  float left, top, right, bottom;
};

Box bounds(const perceive::Quad& quad) {
  Box box{quad[0][0], quad[0][1], quad[0][0], quad[0][1]};
  for (const auto& corner : quad) {
    box = {std::min(box.left, corner[0]), std::min(box.top, corner[1]),
           std::max(box.right, corner[0]), std::max(box.bottom, corner[1])};
  }
  return box;
}

// Tokens of the grid that a box of source pixels touches.
void add_under(const Box& box, const core::Rect& source, const engine::VisualSpan& span,
               std::vector<int>& out) {
  const int columns = span.columns, rows = span.tokens / span.columns;
  const auto cell = [](float at, int from, int size, int count) {
    return static_cast<int>(std::floor((at - static_cast<float>(from)) * static_cast<float>(count) /
                                       static_cast<float>(size)));
  };
  const int left = std::max(cell(box.left, source.x, source.width, columns), 0);
  const int right = std::min(cell(box.right, source.x, source.width, columns), columns - 1);
  const int top = std::max(cell(box.top, source.y, source.height, rows), 0);
  const int bottom = std::min(cell(box.bottom, source.y, source.height, rows), rows - 1);
  for (int row = top; row <= bottom; ++row) {
    for (int column = left; column <= right; ++column) out.push_back(row * columns + column);
  }
}

}  // namespace

std::vector<perceive::SeenView> reduce_views(const std::vector<perceive::SeenView>& views,
                                             const std::vector<perceive::TextTrack>& text,
                                             const core::Knobs& knobs) {
  if (knobs.keep_share >= 1) return views;
  std::vector<perceive::SeenView> out = views;
  for (perceive::SeenView& view : out) {
    const engine::VisualSpan* span = grid_of(view);
    if (span == nullptr || view.source.empty()) continue;
    engine::prune::KeepOptions options;
    options.share = static_cast<float>(knobs.keep_share);
    for (const perceive::TextTrack& track : text) {
      add_under(bounds(track.line.box), view.source, *span, options.always);
    }
    auto reduced = engine::prune::reduce_view(view.encoded, options);
    // The share was checked with the knobs and the tokens lie inside the grid: only a share out of
    // range could fail, and then the whole view is right.
    if (reduced) view.encoded = std::move(*reduced);
  }
  return out;
}

int whole_tokens(const std::vector<perceive::SeenView>& views) {
  int tokens = 0;
  for (const perceive::SeenView& view : views) {
    if (view.encoded) tokens += view.encoded->tokens;
  }
  return tokens;
}

}  // namespace saccade::attend
