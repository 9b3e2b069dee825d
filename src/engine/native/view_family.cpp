#include "engine/native/view_family.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "engine/llama/idefics3.h"
#include "engine/llama/llama_vision.h"
#include "engine/llama/resize_view.h"
#include "engine/models/qwen_tower.h"
#include "engine/native/fit_view.h"

namespace saccade::engine::native {
namespace {

// One square of the tower's own size; tiles are chosen elsewhere.
class Idefics3Family final : public ViewFamily {
 public:
  Idefics3Family(const gguf::Header& mmproj, const models::TowerShape& tower,
                 const llama::Tokenizer& tokenizer)
      : wrappers_(tokenizer), side_(tower.picture_side), grid_side_(tower.grid_side()) {
    const auto whole = mmproj.number("clip.vision.preproc_image_size").value_or(side_);
    grid_max_ = std::max(1, std::min(static_cast<int>(whole) / side_, wrappers_.grid_max()));
  }
  bool valid() const { return wrappers_.valid(); }

  void describe(VisionTraits& traits) const override {
    traits.view_side = side_;
    traits.tile_grid_max = grid_max_;
    traits.tiles = grid_max_ > 1;
  }
  std::vector<Picture> cut(const core::PixelView& view) const override {
    std::vector<Picture> out;
    out.push_back({llama::resize_view(view, side_, side_), {grid_side_, grid_side_}});
    return out;
  }
  EncodedView wrap(std::vector<VisualSpanPtr> spans, ViewPlace place) const override {
    return wrappers_.wrap(std::move(spans.front()), place);
  }

 private:
  const llama::Idefics3 wrappers_;
  const int side_, grid_side_;
  int grid_max_ = 1;
};

// Spans one after the other, each between the same two texts.
EncodedView between(const std::vector<TokenId>& begin, std::vector<VisualSpanPtr> spans,
                    const std::vector<TokenId>& end) {
  EncodedView out;
  const auto add = [&](const std::vector<TokenId>& text) {
    out.tokens += static_cast<int>(text.size());
    if (!text.empty()) out.segments.emplace_back(text);
  };
  for (auto& span : spans) {
    add(begin);
    out.tokens += span->tokens;
    out.segments.emplace_back(std::move(span));
    add(end);
  }
  return out;
}

// A control token of the vocabulary, or the same letters where it has none.
std::vector<TokenId> wrapper(const llama::Tokenizer& tokenizer, const char* text) {
  llama::Tokenizer::Run run(tokenizer);
  run.add_template(text);
  return run.finish();
}

// A view in the bounds in which families of free size are sent views.
class Bounded {
 public:
  explicit Bounded(const core::PixelView& view) : view_(view) {
    const auto [width, height] = llama::foreign_size(view.width, view.height);
    if (width == view.width && height == view.height) return;
    pixels_ = llama::resize_view(view, width, height);
    view_ = {pixels_.data(), width, height, std::ptrdiff_t{core::kRgbBytes} * width};
  }
  const core::PixelView& view() const { return view_; }

 private:
  core::PixelView view_;
  std::vector<std::uint8_t> pixels_;
};

// The view at its own size, rounded to whole tokens and brought into the family's bounds.
class QwenFamily final : public ViewFamily {
 public:
  QwenFamily(const models::TowerShape& tower, const llama::Tokenizer& tokenizer)
      : patch_(tower.patch),
        unit_(tower.patch * tower.merge),
        begin_(wrapper(tokenizer, "<|vision_start|>")),
        end_(wrapper(tokenizer, "<|vision_end|>")) {}

  void describe(VisionTraits&) const override {}
  std::vector<Picture> cut(const core::PixelView& view) const override {
    constexpr int kMin = models::QwenTower::kTokensMin, kMax = models::QwenTower::kTokensMax;
    const Bounded bounded(view);
    const auto& own = bounded.view();
    const PictureSize size = whole_tokens({own.width, own.height}, unit_, kMin, kMax);
    std::vector<Picture> out;
    out.push_back({fit_view(own, size, {}), {size.width / patch_, size.height / patch_}});
    return out;
  }
  EncodedView wrap(std::vector<VisualSpanPtr> spans, ViewPlace) const override {
    return between(begin_, std::move(spans), end_);
  }

 private:
  const int patch_, unit_;
  const std::vector<TokenId> begin_, end_;
};

}  // namespace

core::Result<std::unique_ptr<ViewFamily>> make_family(const gguf::Header& mmproj,
                                                      const models::TowerShape& tower,
                                                      const llama::Tokenizer& tokenizer) {
  using Made = core::Result<std::unique_ptr<ViewFamily>>;
  if (mmproj.text("clip.projector_type") != "idefics3") {
    return Made(std::make_unique<QwenFamily>(tower, tokenizer));
  }
  auto family = std::make_unique<Idefics3Family>(mmproj, tower, tokenizer);
  if (!family->valid()) {
    return core::error(core::ErrorCode::kModelUnusable,
                       "the text model has no <fake_token_around_image> and <global-img> tokens",
                       "use the text model that was published with this mmproj");
  }
  return Made(std::move(family));
}

}  // namespace saccade::engine::native
