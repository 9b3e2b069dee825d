#include "perceive/read/order_lines.h"

#include <algorithm>
#include <numeric>

#include "perceive/read/detect_text.h"

namespace saccade::perceive {
namespace {

double middle(const core::Rect& r) { return r.y + r.height / 2.0; }

bool holds(const core::Rect& r, double y) { return y >= r.y && y < r.y + r.height; }

}  // namespace

std::vector<std::size_t> reading_order(std::span<const Quad> boxes) {
  std::vector<core::Rect> rects;
  for (const Quad& box : boxes) rects.push_back(bounds(box));
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return middle(rects[a]) < middle(rects[b]);
  });
  // A row is measured against its first, topmost line, so that slanted columns of text cannot chain
  // into one endless row.
  for (std::size_t start = 0; start < order.size();) {
    const core::Rect& first = rects[order[start]];
    std::size_t end = start + 1;
    while (end < order.size() &&
           (holds(first, middle(rects[order[end]])) && holds(rects[order[end]], middle(first)))) {
      ++end;
    }
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(start),
                     order.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](std::size_t a, std::size_t b) { return rects[a].x < rects[b].x; });
    start = end;
  }
  return order;
}

}  // namespace saccade::perceive
