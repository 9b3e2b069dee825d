#include "perceive/read/detect_text.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "core/limits.h"
#include "perceive/read/join_boxes.h"
#include "perceive/read/model_picture.h"

namespace saccade::perceive {
namespace {

// Contours looked at per map; noise can make tens of thousands, text does not.
constexpr std::size_t kContoursMax = 4096;
// Boxes before pieces of lines are joined; the best scores win.
constexpr std::size_t kPiecesMax = 4 * core::limits::kTextLinesMax;

void keep_best(std::vector<FoundText>& found, std::size_t count) {
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundText& a, const FoundText& b) { return a.score > b.score; });
  if (found.size() > count) found.resize(count);
}

float length(const std::array<float, 2>& a, const std::array<float, 2>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1]);
}

// Corners of a rectangle clockwise from its top left. Of the two left corners the upper one is
// first, as the recogniser's training did it; a line turned further than 45 degrees is tall then.
Quad ordered_corners(const cv::RotatedRect& rect) {
  std::array<cv::Point2f, 4> corners;
  rect.points(corners.data());
  std::sort(corners.begin(), corners.end(),
            [](const cv::Point2f& a, const cv::Point2f& b) { return a.x < b.x; });
  if (corners[0].y > corners[1].y) std::swap(corners[0], corners[1]);  // left: top, bottom
  if (corners[2].y > corners[3].y) std::swap(corners[2], corners[3]);  // right: top, bottom
  return Quad{{{corners[0].x, corners[0].y},
               {corners[2].x, corners[2].y},
               {corners[3].x, corners[3].y},
               {corners[1].x, corners[1].y}}};
}

// Mean probability inside `box`.
float mean_inside(const cv::Mat& map, const Quad& box) {
  const core::Rect area = core::clip(bounds(box), map.cols, map.rows);
  if (area.empty()) return 0;
  cv::Mat mask = cv::Mat::zeros(area.height, area.width, CV_8U);
  std::array<cv::Point, 4> corners;
  for (std::size_t i = 0; i < 4; ++i) {
    corners[i] = cv::Point(static_cast<int>(std::lround(box[i][0])) - area.x,
                           static_cast<int>(std::lround(box[i][1])) - area.y);
  }
  cv::fillConvexPoly(mask, corners.data(), 4, cv::Scalar(255));
  return static_cast<float>(
      cv::mean(map(cv::Rect(area.x, area.y, area.width, area.height)), mask)[0]);
}

}  // namespace

core::Rect bounds(const Quad& box) {
  constexpr float kFar = 1e6F;
  float x0 = kFar, y0 = kFar, x1 = -kFar, y1 = -kFar;
  for (const auto& corner : box) {
    x0 = std::min(x0, corner[0]), x1 = std::max(x1, corner[0]);
    y0 = std::min(y0, corner[1]), y1 = std::max(y1, corner[1]);
  }
  const auto low = [&](float v) {
    return static_cast<int>(std::floor(std::clamp(v, -kFar, kFar)));
  };
  const auto high = [&](float v) {
    return static_cast<int>(std::ceil(std::clamp(v, -kFar, kFar)));
  };
  return core::Rect{low(x0), low(y0), high(x1) - low(x0), high(y1) - low(y0)};
}

Quad unclip(const Quad& box, float ratio) {
  const float width = length(box[0], box[1]), height = length(box[1], box[2]);
  if (width <= 0 || height <= 0) return box;
  const float grow = width * height * ratio / (2 * (width + height));
  // Unit vectors along the text and down from it.
  const float ax = (box[1][0] - box[0][0]) / width, ay = (box[1][1] - box[0][1]) / width;
  const float dx = (box[2][0] - box[1][0]) / height, dy = (box[2][1] - box[1][1]) / height;
  constexpr float kAlong[] = {-1, 1, 1, -1}, kDown[] = {-1, -1, 1, 1};
  Quad grown = box;
  for (std::size_t i = 0; i < 4; ++i) {
    grown[i][0] += grow * (kAlong[i] * ax + kDown[i] * dx);
    grown[i][1] += grow * (kAlong[i] * ay + kDown[i] * dy);
  }
  return grown;
}

std::vector<FoundText> boxes_from_map(const TextMap& map, const DetectOptions& options) {
  std::vector<FoundText> found;
  if (map.height <= 0 || map.width <= 0) return found;
  // OpenCV has no const matrix over borrowed memory; it is only read here.
  const cv::Mat values(map.height, map.width, CV_32F, const_cast<float*>(map.probability.data()));
  cv::Mat text;
  cv::compare(values, options.pixel_min, text, cv::CMP_GT);
  cv::dilate(text, text, cv::Mat::ones(2, 2, CV_8U));
  std::vector<std::vector<cv::Point>> contours;
  cv::findContours(text, contours, cv::RETR_LIST, cv::CHAIN_APPROX_SIMPLE);
  if (contours.size() > kContoursMax) contours.resize(kContoursMax);
  for (const auto& contour : contours) {
    const cv::RotatedRect rect = cv::minAreaRect(contour);
    if (std::min(rect.size.width, rect.size.height) < options.side_min) continue;
    const Quad box = ordered_corners(rect);
    const float score = mean_inside(values, box);
    if (score < options.weak_min) continue;
    found.push_back(FoundText{unclip(box, options.unclip), std::min(score, 1.0F)});
  }
  keep_best(found, kPiecesMax);
  found = join_boxes(std::move(found), options.score_min);
  keep_best(found, core::limits::kTextLinesMax);
  return found;
}

core::Result<std::vector<FoundText>> detect_text(TextModels& models, const core::PixelView& view,
                                                 const DetectOptions& options) {
  if (view.empty()) return std::vector<FoundText>{};
  const auto [picture, scale] = detector_picture(view, options.pixels_max);
  const auto map = models.detect(picture);
  if (!map) return map.error();
  std::vector<FoundText> found = boxes_from_map(*map, options);
  for (FoundText& text : found) {
    for (auto& corner : text.box) {
      corner[0] = std::clamp(corner[0] / scale, 0.0F, static_cast<float>(view.width));
      corner[1] = std::clamp(corner[1] / scale, 0.0F, static_cast<float>(view.height));
    }
  }
  return found;
}

}  // namespace saccade::perceive
