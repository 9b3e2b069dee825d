#pragma once
// Where a picture moved since the content last kept. Comparing with kept content and not with the
// picture before makes a slow fade visible: its steps are small, their sum is not.
//
// Method. The picture is cut into square blocks (5 px at 720p) and each block is reduced to the
// mean of each colour channel. A cell of 4 x 4 blocks has the level of its most changed block and
// channel, so a digit or a lamp is not averaged away by a still surrounding, and a lamp that
// changes colour but not brightness is seen too.
//
// Noise. Averaging a block divides the noise of single pixels by the root of its pixel count. Two
// kinds are left, and each raises the threshold of a cell above the knob:
//   grain  of sensors, blotched by codecs. It differs between neighbouring blocks; motion and fades
//          mostly do not. So each cell gives the greatest difference between the movements of two
//          neighbouring blocks, the upper quartile of all cells is the picture's grain, and a block
//          must move by kGrainFactor of it. Grain is remembered for a while (kGrainDecay), because
//          codecs let it through in bursts, at key frames above all.
//   edges  ringing moves hard edges a little: a cell must move by one part in kContrastParts of
//          the kept contrast in and around it.
// Neither raises it above kThresholdFactorMax times the knob: a picture that moves everywhere must
// never pass as noise. Knob 0 turns both off.
//
// Cost: every byte of a 720p picture is read once, 0.7 ms on one core; larger pictures are read
// in every second row or less. Memory: under 1.5 MB whatever the picture's size.
#include <cstdint>
#include <vector>

#include "core/pixels.h"
#include "perceive/perceive_types.h"

namespace saccade::perceive {

inline constexpr std::size_t kChangeRegionsMax = 64;  // the rest is joined into the last one
inline constexpr double kSceneCutShare = 0.4;         // of the cells, from one picture to the next

// A picture reduced to the mean levels of its blocks.
struct BlockMeans {
  int width = 0, height = 0;         // of the picture
  int block = 0;                     // side of a block in pixels; the last ones may be cut
  int rows = 0, columns = 0;         // of blocks
  std::vector<std::uint16_t> level;  // [rows][columns][3], sixteenths of a level, 0..4080

  bool same_shape(const BlockMeans& o) const { return width == o.width && height == o.height; }
};

// `out` is overwritten; its memory is used again. `sums` is scratch.
void measure_blocks(const core::PixelView& picture, BlockMeans& out,
                    std::vector<std::uint16_t>& sums);

// Side of a ChangeMap's cell in pixels for a picture of this size; the last ones may be cut.
int cell_side(int width, int height);

// Compares pictures of one stream. Not thread-safe.
class ChangeMeter {
 public:
  struct Outcome {
    ChangeMap map;
    std::vector<std::uint8_t> changed;  // [rows][columns] 1 = the cell changed
  };

  // Compares `picture` (not empty) with the kept content. Without kept content, or when the size is
  // another, everything has changed and it is no scene cut. `threshold` 0..255 as in Knobs.
  Outcome measure(const core::PixelView& picture, int threshold);

  // The picture measured last becomes the kept content.
  void keep();
  // Forgets kept content and the picture before.
  void reset();

 private:
  BlockMeans current_, before_, kept_;
  std::vector<std::uint16_t> kept_contrast_;  // [rows][columns] of cells, level units
  double grain_ = 0;                          // level units, remembered
  bool kept_is_before_ = false;               // then one comparison answers both questions
  std::vector<std::uint16_t> sums_;
};

}  // namespace saccade::perceive
