#include "perceive/read/model_picture.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace saccade::perceive {
namespace {

// Short lines are padded to this width. 96 to 320 read single characters and words of 20 to 40 px
// equally well (392 lines), and cost grows with width.
constexpr int kLineWidthMin = 128;
// Laplacian variance at which focus counts as half; blurred video lines are below, rendered text
// is far above.
constexpr double kFocusHalf = 200.0;

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

// OpenCV has no const matrix over borrowed memory; callers only read it.
cv::Mat matrix_over(const core::PixelView& view) {
  return cv::Mat(view.height, view.width, CV_8UC3, const_cast<std::uint8_t*>(view.rgb),
                 static_cast<std::size_t>(view.stride_bytes));
}

// `rgb` into the top left of planes of height x width; the rest is 0, mid grey.
ModelPicture to_planes(const cv::Mat& rgb, int height, int width) {
  ModelPicture out;
  out.height = height, out.width = width;
  const std::size_t plane = static_cast<std::size_t>(height) * width;
  out.planes.assign(plane * 3, 0.0F);
  for (int y = 0; y < rgb.rows; ++y) {
    const std::uint8_t* from = rgb.ptr(y);
    float* blue = out.planes.data() + static_cast<std::size_t>(y) * width;
    float* green = blue + plane;
    float* red = green + plane;
    for (int x = 0; x < rgb.cols; ++x, from += 3) {
      red[x] = static_cast<float>(from[0]) / 127.5F - 1.0F;
      green[x] = static_cast<float>(from[1]) / 127.5F - 1.0F;
      blue[x] = static_cast<float>(from[2]) / 127.5F - 1.0F;
    }
  }
  return out;
}

float focus_of(const cv::Mat& rgb) {
  cv::Mat grey, edges;
  cv::cvtColor(rgb, grey, cv::COLOR_RGB2GRAY);
  cv::Laplacian(grey, edges, CV_16S);
  cv::Scalar mean, deviation;
  cv::meanStdDev(edges, mean, deviation);
  const double variance = deviation[0] * deviation[0];
  return static_cast<float>(variance / (variance + kFocusHalf));
}

}  // namespace

DetectorPicture detector_picture(const core::PixelView& view, std::int64_t pixels_max) {
  const double pixels = static_cast<double>(view.width) * view.height;
  const double scale = std::min(1.0, std::sqrt(static_cast<double>(pixels_max) / pixels));
  cv::Mat picture = matrix_over(view);
  if (scale < 1.0) {
    const cv::Size size(std::max(1, static_cast<int>(std::lround(view.width * scale))),
                        std::max(1, static_cast<int>(std::lround(view.height * scale))));
    cv::Mat smaller;
    cv::resize(picture, smaller, size, 0, 0, cv::INTER_AREA);
    picture = smaller;
  }
  const int height = round_up(picture.rows, kModelMultiple);
  const int width = round_up(picture.cols, kModelMultiple);
  cv::Mat padded;
  cv::copyMakeBorder(picture, padded, 0, height - picture.rows, 0, width - picture.cols,
                     cv::BORDER_REPLICATE);
  return DetectorPicture{to_planes(padded, height, width), static_cast<float>(scale)};
}

LinePixels cut_line(const core::PixelView& view, const Quad& box) {
  const auto side = [&](std::size_t a, std::size_t b) {
    return std::hypot(box[a][0] - box[b][0], box[a][1] - box[b][1]);
  };
  const int width = static_cast<int>(std::lround(std::max(side(0, 1), side(3, 2))));
  const int height = static_cast<int>(std::lround(std::max(side(0, 3), side(1, 2))));
  LinePixels line;
  if (view.empty() || width < 1 || height < 1) return line;
  std::array<cv::Point2f, 4> from;
  for (std::size_t i = 0; i < 4; ++i) from[i] = cv::Point2f(box[i][0], box[i][1]);
  const auto w = static_cast<float>(width), h = static_cast<float>(height);
  const std::array<cv::Point2f, 4> to{{{0, 0}, {w, 0}, {w, h}, {0, h}}};
  line.rgb.resize(static_cast<std::size_t>(width) * height * core::kRgbBytes);
  cv::Mat out(height, width, CV_8UC3, line.rgb.data());
  cv::warpPerspective(matrix_over(view), out, cv::getPerspectiveTransform(from.data(), to.data()),
                      out.size(), cv::INTER_CUBIC, cv::BORDER_REPLICATE);
  line.width = width, line.height = height;
  line.focus = focus_of(out);
  return line;
}

std::vector<LinePiece> line_pieces(const LinePixels& line) {
  std::vector<LinePiece> pieces;
  if (line.width < 1 || line.height < 1) return pieces;
  constexpr int kStride = kPieceWidthMax - kPieceOverlap;
  constexpr int kWidthMax = kPieceOverlap + kLinePiecesMax * kStride;
  const double natural = std::ceil(static_cast<double>(kLineHeight) * line.width / line.height);
  const int width = static_cast<int>(std::clamp(natural, 1.0, static_cast<double>(kWidthMax)));
  const cv::Mat rgb(line.height, line.width, CV_8UC3, const_cast<std::uint8_t*>(line.rgb.data()));
  cv::Mat scaled;
  cv::resize(rgb, scaled, cv::Size(width, kLineHeight), 0, 0,
             line.height > kLineHeight ? cv::INTER_AREA : cv::INTER_LINEAR);
  for (int x = 0;; x += kStride) {
    const int piece = std::min(width - x, kPieceWidthMax);
    const int rounded = std::max(kLineWidthMin, round_up(piece, piece <= 320 ? 32 : 64));
    pieces.push_back(LinePiece{to_planes(scaled.colRange(x, x + piece), kLineHeight, rounded),
                               round_up(piece, kColumnsPerStep) / kColumnsPerStep});
    if (x + piece >= width) return pieces;
  }
}

}  // namespace saccade::perceive
