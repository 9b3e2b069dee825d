#pragma once
// For tests: an encoder without weights. Counts what it is asked for; a view's only token tells the
// call's number.
#include <memory>
#include <utility>
#include <vector>

#include "engine/vision_encoder.h"

namespace saccade::perceive {

class FakeEncoder : public engine::VisionEncoder {
 public:
  explicit FakeEncoder(bool tiles = false) {
    traits_.fingerprint = "fake";
    traits_.view_side = 320;
    traits_.tiles = tiles;
    traits_.tile_grid_max = 4;
  }
  const engine::VisionTraits& traits() const override { return traits_; }
  core::Result<engine::EncodedViewPtr> encode(const core::PixelView&,
                                              engine::ViewPlace place) override {
    places.push_back(place);
    if (std::exchange(fail_next, false) || fail) {
      return core::error(core::ErrorCode::kNumeric, "NaN in the view's tokens");
    }
    auto view = std::make_shared<engine::EncodedView>();
    view->segments.emplace_back(std::vector<engine::TokenId>{calls()});
    view->tokens = 1;
    return engine::EncodedViewPtr(view);
  }
  int calls() const { return static_cast<int>(places.size()); }

  std::vector<engine::ViewPlace> places;  // one per call
  bool fail_next = false, fail = false;   // gives NaN once, or always

 private:
  engine::VisionTraits traits_;
};

}  // namespace saccade::perceive
