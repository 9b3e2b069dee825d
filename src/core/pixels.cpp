#include "core/pixels.h"

#include <algorithm>

namespace saccade::core {

Rect clip(Rect r, int width, int height) {
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
  const auto span = [](int p, int pn, int q, int qn) {
    return std::max<std::int64_t>(0, std::min<std::int64_t>(p + pn, q + qn) - std::max(p, q));
  };
  const std::int64_t both = span(a.x, a.width, b.x, b.width) * span(a.y, a.height, b.y, b.height);
  const std::int64_t all = static_cast<std::int64_t>(a.width) * a.height +
                           static_cast<std::int64_t>(b.width) * b.height - both;
  return all <= 0 ? 0.0 : static_cast<double>(both) / static_cast<double>(all);
}

}  // namespace saccade::core
