#include "core/pixels.h"

#include <algorithm>

namespace saccade::core {

Rect clip(Rect r, int width, int height) {
  width = std::max(0, width);
  height = std::max(0, height);
  const int left = std::clamp(r.x, 0, width);
  const int top = std::clamp(r.y, 0, height);
  const auto end = [](int start, int size, int limit) {
    return static_cast<int>(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(start) + size, 0, limit));
  };
  const int right = end(r.x, r.width, width);
  const int bottom = end(r.y, r.height, height);
  return Rect{left, top, std::max(0, right - left), std::max(0, bottom - top)};
}

double overlap(Rect a, Rect b) {
  if (a.empty() || b.empty()) return 0.0;
  // In double, because areas of hostile rectangles do not fit 64-bit sums.
  const auto span = [](std::int64_t p, int pn, std::int64_t q, int qn) {
    return static_cast<double>(
        std::max<std::int64_t>(0, std::min(p + pn, q + qn) - std::max(p, q)));
  };
  const auto area = [](Rect r) { return static_cast<double>(r.width) * r.height; };
  const double both = span(a.x, a.width, b.x, b.width) * span(a.y, a.height, b.y, b.height);
  return both / (area(a) + area(b) - both);
}

}  // namespace saccade::core
