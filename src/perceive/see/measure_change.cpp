#include "perceive/see/measure_change.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace saccade::perceive {
namespace {

constexpr int kBlocksPerCell = 4;
constexpr int kBlocksPerSide = 256;  // along the longer side, at most
constexpr int kBlockPixelsMin = 4;   // smaller blocks would not average noise away
constexpr int kChannels = core::kRgbBytes;
constexpr int kLevelUnits = 16;  // stored units per level
// Measured on H.264 at 0.4..6 Mbit/s and grain of 2..12 levels: the most moved of all blocks stays
// within 2.9 times the grain. Uncompressed normal noise stays within 1.5 times.
constexpr double kGrainFactor = 3.0;
constexpr double kGrainDecay = 0.99;    // per picture: half is gone after 70
constexpr double kGrainShareMax = 0.1;  // a picture that changed more teaches nothing
constexpr int kContrastParts = 8;
constexpr int kThresholdFactorMax = 3;
// Median of |a - b| of two normal values with deviation s is 0.6745 * sqrt(2) * s.
constexpr double kMedianToSigma = 1.0 / (0.6745 * 1.41421356);

int ceil_div(int a, int b) { return (a + b - 1) / b; }

int block_side(int width, int height) {
  return std::max(kBlockPixelsMin, ceil_div(std::max(width, height), kBlocksPerSide));
}

struct CellGrid {
  int rows = 0, columns = 0, pixels = 0;  // side of a cell
};

CellGrid cells_of(const BlockMeans& m) {
  return {ceil_div(m.rows, kBlocksPerCell), ceil_div(m.columns, kBlocksPerCell),
          m.block * kBlocksPerCell};
}

// How two pictures differ, per cell, in level units: [rows][columns].
struct Differences {
  std::vector<std::uint16_t> most;   // of one block
  std::vector<std::uint16_t> grain;  // between the movements of two blocks side by side
};

Differences compare(const BlockMeans& a, const BlockMeans& b) {
  const CellGrid grid = cells_of(a);
  Differences out;
  out.most.assign(static_cast<std::size_t>(grid.rows) * grid.columns, 0);
  out.grain = out.most;
  const int line = a.columns * kChannels, cell_line = kBlocksPerCell * kChannels;
  for (int row = 0; row < a.rows; ++row) {
    const std::uint16_t* pa = a.level.data() + static_cast<std::size_t>(row) * line;
    const std::uint16_t* pb = b.level.data() + static_cast<std::size_t>(row) * line;
    std::size_t cell = static_cast<std::size_t>(row / kBlocksPerCell) * grid.columns;
    for (int x = 0; x < line; x += cell_line, ++cell) {
      const int end = std::min(x + cell_line, line);
      int most = out.most[cell], grain = out.grain[cell];
      for (int i = x; i < end; ++i) most = std::max(most, std::abs(pa[i] - pb[i]));
      for (int i = x + kChannels; i < end; ++i) {
        const int here = pa[i] - pb[i], left = pa[i - kChannels] - pb[i - kChannels];
        grain = std::max(grain, std::abs(here - left));
      }
      out.most[cell] = static_cast<std::uint16_t>(most);
      out.grain[cell] = static_cast<std::uint16_t>(grain);
    }
  }
  return out;
}

int upper_quartile(std::vector<std::uint16_t> values) {
  const auto quartile = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 3 / 4);
  std::nth_element(values.begin(), quartile, values.end());
  return *quartile;
}

core::Rect cell_rect(const CellGrid& grid, core::Rect cells, const BlockMeans& m) {
  const core::Rect r{cells.x * grid.pixels, cells.y * grid.pixels, cells.width * grid.pixels,
                     cells.height * grid.pixels};
  return core::clip(r, m.width, m.height);
}

core::Rect join(core::Rect a, core::Rect b) {
  const int x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x,
          std::max(a.y + a.height, b.y + b.height) - y};
}

// Bounding box, in cells, of the changed cells connected with `start` (corners count as
// neighbours). Takes them out of `changed`.
core::Rect take_region(std::vector<std::uint8_t>& changed, const CellGrid& grid, int start) {
  std::vector<int> open{start};
  changed[start] = 0;
  core::Rect box{start % grid.columns, start / grid.columns, 1, 1};
  while (!open.empty()) {
    const int at = open.back(), x = at % grid.columns, y = at / grid.columns;
    open.pop_back();
    box = join(box, {x, y, 1, 1});
    for (int ny = std::max(0, y - 1); ny <= std::min(grid.rows - 1, y + 1); ++ny) {
      for (int nx = std::max(0, x - 1); nx <= std::min(grid.columns - 1, x + 1); ++nx) {
        const int next = ny * grid.columns + nx;
        if (changed[next] == 0) continue;
        changed[next] = 0;
        open.push_back(next);
      }
    }
  }
  return box;
}

std::vector<core::Rect> find_regions(std::vector<std::uint8_t> changed, const CellGrid& grid,
                                     const BlockMeans& means) {
  std::vector<core::Rect> regions;
  for (int i = 0; i < static_cast<int>(changed.size()); ++i) {
    if (changed[i] == 0) continue;
    const core::Rect box = cell_rect(grid, take_region(changed, grid, i), means);
    if (regions.size() < kChangeRegionsMax) {
      regions.push_back(box);
    } else {
      regions.back() = join(regions.back(), box);
    }
  }
  return regions;
}

// Range of the block levels of each cell, in level units, the widest channel.
std::vector<std::uint16_t> cell_contrast(const BlockMeans& m) {
  const CellGrid grid = cells_of(m);
  std::vector<std::uint16_t> out(static_cast<std::size_t>(grid.rows) * grid.columns, 0);
  const auto channel_range = [&](int row, int column, int channel) {
    int low = kLevelUnits * 255, high = 0;
    for (int y = row; y < std::min(row + kBlocksPerCell, m.rows); ++y) {
      for (int x = column; x < std::min(column + kBlocksPerCell, m.columns); ++x) {
        const int level =
            m.level[(static_cast<std::size_t>(y) * m.columns + x) * kChannels + channel];
        low = std::min(low, level);
        high = std::max(high, level);
      }
    }
    return high - low;
  };
  std::size_t cell = 0;
  for (int row = 0; row < m.rows; row += kBlocksPerCell) {
    for (int column = 0; column < m.columns; column += kBlocksPerCell, ++cell) {
      int widest = 0;
      for (int c = 0; c < kChannels; ++c) widest = std::max(widest, channel_range(row, column, c));
      out[cell] = static_cast<std::uint16_t>(widest);
    }
  }
  return out;
}

// Each cell takes the greatest value of itself and its eight neighbours.
std::vector<std::uint16_t> spread(const std::vector<std::uint16_t>& cells, const CellGrid& grid) {
  std::vector<std::uint16_t> out(cells.size());
  for (int y = 0; y < grid.rows; ++y) {
    for (int x = 0; x < grid.columns; ++x) {
      std::uint16_t most = 0;
      for (int ny = std::max(0, y - 1); ny <= std::min(grid.rows - 1, y + 1); ++ny) {
        for (int nx = std::max(0, x - 1); nx <= std::min(grid.columns - 1, x + 1); ++nx) {
          most = std::max(most, cells[static_cast<std::size_t>(ny) * grid.columns + nx]);
        }
      }
      out[static_cast<std::size_t>(y) * grid.columns + x] = most;
    }
  }
  return out;
}

double share_of(const std::vector<std::uint8_t>& changed) {
  const auto count = std::count(changed.begin(), changed.end(), std::uint8_t{1});
  return static_cast<double>(count) / static_cast<double>(changed.size());
}

double share_above(const std::vector<std::uint16_t>& differences, int units) {
  const auto above = std::count_if(differences.begin(), differences.end(),
                                   [units](std::uint16_t d) { return d > units; });
  return static_cast<double>(above) / static_cast<double>(differences.size());
}

ChangeMeter::Outcome everything_changed(const BlockMeans& means) {
  const CellGrid grid = cells_of(means);
  const std::size_t cells = static_cast<std::size_t>(grid.rows) * grid.columns;
  ChangeMeter::Outcome out;
  out.map.rows = grid.rows;
  out.map.columns = grid.columns;
  out.map.level.assign(cells, 255);
  out.changed.assign(cells, 1);
  out.map.changed_share = 1.0;
  out.map.regions = {{0, 0, means.width, means.height}};
  return out;
}

}  // namespace

int cell_side(int width, int height) { return block_side(width, height) * kBlocksPerCell; }

void measure_blocks(const core::PixelView& picture, BlockMeans& out,
                    std::vector<std::uint16_t>& sums) {
  out.width = picture.width;
  out.height = picture.height;
  out.block = block_side(picture.width, picture.height);
  out.rows = ceil_div(picture.height, out.block);
  out.columns = ceil_div(picture.width, out.block);
  out.level.resize(static_cast<std::size_t>(out.rows) * out.columns * kChannels);
  const int row_step = std::max(1, out.block / 4);  // 4..7 rows of a block: sums fit 16 bits
  const int line = picture.width * kChannels;
  std::uint16_t* level = out.level.data();
  for (int block_row = 0; block_row < out.rows; ++block_row) {
    const int top = block_row * out.block, bottom = std::min(top + out.block, picture.height);
    sums.assign(line, 0);
    for (int y = top; y < bottom; y += row_step) {
      const std::uint8_t* row = picture.row(y);
      for (int i = 0; i < line; ++i) sums[i] = static_cast<std::uint16_t>(sums[i] + row[i]);
    }
    const int rows_read = ceil_div(bottom - top, row_step);
    for (int x = 0; x < picture.width; x += out.block) {
      const int width = std::min(out.block, picture.width - x);
      const std::uint16_t* sum = sums.data() + static_cast<std::size_t>(x) * kChannels;
      std::uint32_t r = 0, g = 0, b = 0;
      for (int i = 0; i < width * kChannels; i += kChannels) {
        r += sum[i];
        g += sum[i + 1];
        b += sum[i + 2];
      }
      // A 16.16 factor instead of three divisions; 255 * 16 * 65536 fits 32 bits.
      const std::uint32_t factor = (kLevelUnits << 16) / (rows_read * width);
      for (const std::uint32_t total : {r, g, b}) {
        *level++ = static_cast<std::uint16_t>((total * factor + 0x8000U) >> 16);
      }
    }
  }
}

ChangeMeter::Outcome ChangeMeter::measure(const core::PixelView& picture, int threshold) {
  std::swap(before_, current_);
  measure_blocks(picture, current_, sums_);
  const bool kept_is_before = std::exchange(kept_is_before_, false);
  if (!kept_.same_shape(current_)) return everything_changed(current_);

  const CellGrid grid = cells_of(current_);
  const Differences moved = compare(current_, kept_);
  const int knob_units = threshold * kLevelUnits, most_units = knob_units * kThresholdFactorMax;
  const double grain = std::max<double>(upper_quartile(moved.grain), grain_ * kGrainDecay);
  const int grain_units =
      static_cast<int>(std::clamp<double>(kGrainFactor * grain, knob_units, most_units));

  Outcome out;
  out.map.rows = grid.rows;
  out.map.columns = grid.columns;
  out.map.level.reserve(moved.most.size());
  out.changed.reserve(moved.most.size());
  for (std::size_t i = 0; i < moved.most.size(); ++i) {
    const int edge_units = std::min(kept_contrast_[i] / kContrastParts, most_units);
    out.changed.push_back(moved.most[i] > std::max(grain_units, edge_units) ? 1 : 0);
    const int level = std::min(255, ceil_div(moved.most[i], kLevelUnits));
    out.map.level.push_back(static_cast<std::uint8_t>(level));
  }
  out.map.changed_share = share_of(out.changed);
  grain_ = out.map.changed_share <= kGrainShareMax ? grain : grain_ * kGrainDecay;
  if (out.map.changed_share > 0) out.map.regions = find_regions(out.changed, grid, current_);
  if (out.map.changed_share >= kSceneCutShare && before_.same_shape(current_)) {
    out.map.scene_cut = kept_is_before ||
                        share_above(compare(current_, before_).most, grain_units) >= kSceneCutShare;
  }
  return out;
}

void ChangeMeter::keep() {
  kept_ = current_;
  kept_contrast_ = spread(cell_contrast(kept_), cells_of(kept_));
  kept_is_before_ = true;
}

void ChangeMeter::reset() {
  kept_ = BlockMeans{};
  before_ = BlockMeans{};
  current_ = BlockMeans{};
  grain_ = 0;
  kept_is_before_ = false;
}

}  // namespace saccade::perceive
