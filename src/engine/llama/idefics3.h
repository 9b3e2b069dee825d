#pragma once
// The wrappers of the Idefics3 and SmolVLM family around one view. Reference form of a picture:
//   <fake><row_1_col_1>[span] ... "\n" <fake><row_2_col_1>[span] ... "\n\n"
//   <fake><global-img>[span]<fake>
// A view carries what stands before its own span, the global view also the closing <fake>. What
// stands between two views depends on both, so the prompt asks `between` when it joins them: tiles
// in reading order and then the global view give exactly the reference form, the global view alone
// gives the single-image form.
#include <vector>

#include "engine/llama/tokenizer.h"
#include "engine/vision_encoder.h"

namespace saccade::engine::llama {

class Idefics3 {
 public:
  explicit Idefics3(const Tokenizer& tokenizer);

  // The vocabulary holds the family's tokens.
  bool valid() const { return fake_ >= 0 && global_ >= 0; }
  // Greatest n with a token for every place of an n x n grid.
  int grid_max() const { return grid_max_; }

  // `place` must be global or inside the grid.
  EncodedView wrap(VisualSpanPtr span, ViewPlace place) const;
  // Tokens between two views that follow each other; none for views of other families.
  std::vector<TokenId> between(const EncodedView& before, const EncodedView& after) const;

 private:
  // The place a view was wrapped for; row -1 when it is not of this family.
  ViewPlace place_of(const EncodedView& view) const;

  TokenId fake_ = -1, global_ = -1;
  int grid_max_ = 0;
  std::vector<std::vector<TokenId>> tiles_;  // [row-1][column-1]
  std::vector<TokenId> line_, paragraph_;    // "\n", "\n\n"
};

}  // namespace saccade::engine::llama
