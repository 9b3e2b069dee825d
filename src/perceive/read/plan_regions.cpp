#include "perceive/read/plan_regions.h"

#include <algorithm>
#include <cstdint>

namespace saccade::perceive {
namespace {

constexpr int kMarginX = 48,
              kMarginY = 32;         // px around a change; text up to ~60 px sees its height
constexpr int kSideMultiple = 64;    // px; sides of crops
constexpr double kWholeShare = 0.8;  // of the picture; above it everything is looked at
constexpr std::int64_t kRunPixels = 10'000;  // what starting one more detector run costs
constexpr int kBorder = 3;                   // px; a line this close to a crop's border may be cut
constexpr int kGrowX = 192, kGrowY = 64;     // px a crop grows towards a line that reaches out

core::Rect around(const core::Rect& a, const core::Rect& b) {
  const int x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return core::Rect{x, y, std::max(a.x + a.width, b.x + b.width) - x,
                    std::max(a.y + a.height, b.y + b.height) - y};
}

bool contains(const core::Rect& outer, const core::Rect& inner) {
  return around(outer, inner) == outer;
}

// [start, start + length) made a multiple of kSideMultiple long inside [0, limit).
void round_span(int& start, int& length, int limit) {
  const int rounded = (length + kSideMultiple - 1) / kSideMultiple * kSideMultiple;
  length = std::min(rounded, limit);
  start = std::clamp(start, 0, limit - length);
}

core::Rect rounded(core::Rect r, PictureSize picture) {
  r = core::clip(r, picture.width, picture.height);
  if (r.empty()) return r;
  round_span(r.x, r.width, picture.width);
  round_span(r.y, r.height, picture.height);
  return r;
}

std::int64_t pixels(const core::Rect& r) { return static_cast<std::int64_t>(r.width) * r.height; }

// Joins rectangles while one detector run over both costs no more than two.
void merge(std::vector<core::Rect>& rects, PictureSize picture) {
  for (std::size_t i = 0; i < rects.size();) {
    const auto other = std::find_if(
        rects.begin() + static_cast<std::ptrdiff_t>(i) + 1, rects.end(), [&](const core::Rect& r) {
          return pixels(around(r, rects[i])) <= pixels(r) + pixels(rects[i]) + kRunPixels;
        });
    if (other == rects.end()) {
      ++i;
      continue;
    }
    rects[i] = rounded(around(rects[i], *other), picture);
    rects.erase(other);
    i = 0;  // the grown one may take in earlier ones
  }
}

}  // namespace

void add_area(std::vector<DatedArea>& areas, const DatedArea& added) {
  if (added.area.empty()) return;
  std::erase_if(areas, [&](const DatedArea& old) {
    return contains(added.area, old.area) && old.since <= added.since;
  });
  areas.push_back(added);
  if (areas.size() <= kAreasMax) return;
  DatedArea all = areas.front();
  for (const DatedArea& area : areas) {
    all.area = around(all.area, area.area);
    all.since = std::max(all.since, area.since);
  }
  areas.assign(1, all);
}

std::vector<DatedArea> with_touched_lines(std::vector<DatedArea> areas,
                                          std::span<const core::Rect> lines) {
  const std::size_t changed = areas.size();
  for (const core::Rect& line : lines) {
    core::MediaTime since = core::MediaTime::unset();
    for (std::size_t i = 0; i < changed; ++i) {
      if (touches(areas[i].area, line)) since = std::max(since, areas[i].since);
    }
    if (since.is_set()) areas.push_back(DatedArea{line, since});
  }
  return areas;
}

std::vector<core::Rect> plan_crops(std::span<const DatedArea> areas, PictureSize picture) {
  std::vector<core::Rect> crops;
  for (const DatedArea& changed : areas) {
    const core::Rect area = core::clip(changed.area, picture.width, picture.height);
    if (area.empty()) continue;
    crops.push_back(rounded(core::Rect{area.x - kMarginX, area.y - kMarginY,
                                       area.width + 2 * kMarginX, area.height + 2 * kMarginY},
                            picture));
  }
  merge(crops, picture);
  std::int64_t all = 0;
  for (const core::Rect& crop : crops) all += pixels(crop) + kRunPixels;
  if (static_cast<double>(all) > kWholeShare * picture.width * picture.height) {
    crops.assign(1, core::Rect{0, 0, picture.width, picture.height});
  }
  return crops;
}

core::Rect grown_around(const core::Rect& crop, const core::Rect& line, PictureSize picture) {
  int x0 = crop.x, y0 = crop.y, x1 = crop.x + crop.width, y1 = crop.y + crop.height;
  if (line.x < x0 + kBorder) x0 -= kGrowX;
  if (line.y < y0 + kBorder) y0 -= kGrowY;
  if (line.x + line.width > crop.x + crop.width - kBorder) x1 += kGrowX;
  if (line.y + line.height > crop.y + crop.height - kBorder) y1 += kGrowY;
  const core::Rect wider =
      core::clip(core::Rect{x0, y0, x1 - x0, y1 - y0}, picture.width, picture.height);
  return wider == crop ? crop : rounded(wider, picture);
}

}  // namespace saccade::perceive
