#include "perceive/read/join_boxes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace saccade::perceive {
namespace {

// All in heights of the line that is continued. Boxes are already grown by the detector's unclip,
// so a space of a monospaced font leaves almost nothing between them.
constexpr float kGapStrong = 0.35F;   // between two sure boxes
constexpr float kGapWeak = 0.7F;      // to a weak one, of which the map shows only the core
constexpr float kWeakMargin = 0.25F;  // added behind a weak box for the same reason
constexpr float kOffAxis = 0.35F;     // middles apart across the line
constexpr float kHeightRatio = 1.6F;  // of two sure boxes
constexpr float kWeakHeight = 1.3F;   // a weak box taller than this is something else
constexpr float kSquare = 1.5F;  // less long than this: no direction of its own, taken as level

struct Span {
  float low = 0, high = 0;
  float length() const { return high - low; }
  float middle() const { return (low + high) / 2; }
};

// A box in its own directions: along the line and across it.
struct Frame {
  std::array<float, 2> along{1, 0}, across{0, 1};
  bool upright = false;  // the line runs from corner 1 to 2, not from 0 to 1
};

Frame frame_of(const Quad& box) {
  const float ex = box[1][0] - box[0][0], ey = box[1][1] - box[0][1];
  const float fx = box[2][0] - box[1][0], fy = box[2][1] - box[1][1];
  const float e = std::hypot(ex, ey), f = std::hypot(fx, fy);
  if (e <= 0 || f <= 0) return Frame{};
  Frame frame{{ex / e, ey / e}, {fx / f, fy / f}, false};
  if (f >= kSquare * e) {
    std::swap(frame.along, frame.across);
    frame.upright = true;
  }
  return frame;
}

Span span_on(const Quad& box, const std::array<float, 2>& axis) {
  Span span{1e9F, -1e9F};
  for (const auto& corner : box) {
    const float at = corner[0] * axis[0] + corner[1] * axis[1];
    span.low = std::min(span.low, at);
    span.high = std::max(span.high, at);
  }
  return span;
}

Quad box_from(const Frame& frame, const Span& along, const Span& across) {
  const auto corner = [&](float a, float c) {
    return std::array<float, 2>{a * frame.along[0] + c * frame.across[0],
                                a * frame.along[1] + c * frame.across[1]};
  };
  Quad box{{corner(along.low, across.low), corner(along.high, across.low),
            corner(along.high, across.high), corner(along.low, across.high)}};
  if (frame.upright) std::swap(box[1], box[3]);  // keeps the corners clockwise
  return box;
}

// `line` with `piece` joined to it, when they are parts of one line.
std::optional<Quad> joined(const Quad& line, const FoundText& piece, float score_min) {
  const Frame frame = frame_of(line);
  Span along = span_on(line, frame.along), across = span_on(line, frame.across);
  const Span other_along = span_on(piece.box, frame.along);
  const Span other_across = span_on(piece.box, frame.across);
  const float height = across.length(), other = other_across.length();
  const bool weak = piece.score < score_min;
  const float gap = std::max(other_along.low - along.high, along.low - other_along.high);
  if (gap > (weak ? kGapWeak : kGapStrong) * height) return std::nullopt;
  if (gap < -height) return std::nullopt;  // side by side it is another line
  if (std::abs(across.middle() - other_across.middle()) > kOffAxis * height) return std::nullopt;
  if (weak ? other > kWeakHeight * height
           : other > kHeightRatio * height || height > kHeightRatio * other) {
    return std::nullopt;
  }
  const float margin = weak ? kWeakMargin * height : 0;
  along.low = std::min(along.low, other_along.low - margin);
  along.high = std::max(along.high, other_along.high + margin);
  if (!weak) {
    across.low = std::min(across.low, other_across.low);
    across.high = std::max(across.high, other_across.high);
  }
  return box_from(frame, along, across);
}

float longer_side(const Quad& box) {
  return std::max(std::hypot(box[1][0] - box[0][0], box[1][1] - box[0][1]),
                  std::hypot(box[2][0] - box[1][0], box[2][1] - box[1][1]));
}

}  // namespace

std::vector<FoundText> join_boxes(std::vector<FoundText> found, float score_min) {
  // Long boxes know their direction best, so they collect the others.
  std::stable_sort(found.begin(), found.end(), [](const FoundText& a, const FoundText& b) {
    return longer_side(a.box) > longer_side(b.box);
  });
  std::vector<bool> gone(found.size(), false);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (gone[i] || found[i].score < score_min) continue;
    for (std::size_t j = 0; j < found.size(); ++j) {
      if (j == i || gone[j]) continue;
      const auto longer = joined(found[i].box, found[j], score_min);
      if (!longer) continue;
      found[i].box = *longer;
      gone[j] = true;
      j = static_cast<std::size_t>(-1);  // the longer line may reach others now
    }
  }
  std::vector<FoundText> lines;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!gone[i] && found[i].score >= score_min) lines.push_back(found[i]);
  }
  return lines;
}

}  // namespace saccade::perceive
