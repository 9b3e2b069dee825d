#include "engine/native/view_family.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/llama/idefics3.h"
#include "engine/llama/llama_vision.h"
#include "engine/llama/resize_view.h"
#include "engine/models/qwen_tower.h"
#include "engine/native/fit_view.h"
#include "engine/native/tile_view.h"

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

// Spans one after the other between two texts.
EncodedView between(const std::vector<TokenId>& begin, std::vector<VisualSpanPtr> spans,
                    const std::vector<TokenId>& end) {
  EncodedView out;
  out.tokens = static_cast<int>(begin.size() + end.size());
  if (!begin.empty()) out.segments.emplace_back(begin);
  for (auto& span : spans) {
    out.tokens += span->tokens;
    out.segments.emplace_back(std::move(span));
  }
  if (!end.empty()) out.segments.emplace_back(end);
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

// The whole view in one square, on the ground that LLaVA was trained with; no text around it.
class LlavaFamily final : public ViewFamily {
 public:
  explicit LlavaFamily(const models::TowerShape& tower)
      : side_(tower.picture_side), grid_side_(tower.grid_side()) {}

  void describe(VisionTraits&) const override {}
  std::vector<Picture> cut(const core::PixelView& view) const override {
    constexpr std::array<std::uint8_t, core::kRgbBytes> kGround{122, 116, 104};
    const Bounded bounded(view);
    std::vector<Picture> out;
    out.push_back({fit_view(bounded.view(), {side_, side_}, kGround), {grid_side_, grid_side_}});
    return out;
  }
  EncodedView wrap(std::vector<VisualSpanPtr> spans, ViewPlace) const override {
    return between({}, std::move(spans), {});
  }

 private:
  const int side_, grid_side_;
};

class InternFamily final : public ViewFamily {
 public:
  InternFamily(const gguf::Header& mmproj, const models::TowerShape& tower,
               const llama::Tokenizer& tokenizer)
      : grid_side_(tower.grid_side()),
        begin_(wrapper(tokenizer, "<img>")),
        end_(wrapper(tokenizer, "</img>")) {
    const auto number = [&](const char* key, int otherwise) {
      return static_cast<int>(mmproj.number(key).value_or(otherwise));
    };
    limits_.side = tower.picture_side;
    limits_.tiles_min = number("clip.vision.preproc_min_tiles", limits_.tiles_min);
    limits_.tiles_max = number("clip.vision.preproc_max_tiles", limits_.tiles_max);
  }

  void describe(VisionTraits&) const override {}
  std::vector<Picture> cut(const core::PixelView& view) const override {
    const Bounded bounded(view);
    std::vector<Picture> out;
    for (auto& pixels : tile_view(bounded.view(), limits_)) {
      out.push_back({std::move(pixels), {grid_side_, grid_side_}});
    }
    return out;
  }
  EncodedView wrap(std::vector<VisualSpanPtr> spans, ViewPlace) const override {
    return between(begin_, std::move(spans), end_);
  }

 private:
  const int grid_side_;
  const std::vector<TokenId> begin_, end_;
  TileLimits limits_;
};

}  // namespace

core::Result<std::unique_ptr<ViewFamily>> make_family(const gguf::Header& mmproj,
                                                      const models::TowerShape& tower,
                                                      const llama::Tokenizer& tokenizer) {
  using Made = core::Result<std::unique_ptr<ViewFamily>>;
  const std::string projector = mmproj.text("clip.projector_type");
  if (projector == "mlp") return Made(std::make_unique<LlavaFamily>(tower));
  if (projector == "internvl") {
    return Made(std::make_unique<InternFamily>(mmproj, tower, tokenizer));
  }
  if (projector != "idefics3") return Made(std::make_unique<QwenFamily>(tower, tokenizer));
  auto family = std::make_unique<Idefics3Family>(mmproj, tower, tokenizer);
  if (!family->valid()) {
    return core::error(core::ErrorCode::kModelUnusable,
                       "the text model has no <fake_token_around_image> and <global-img> tokens",
                       "use the text model that was published with this mmproj");
  }
  return Made(std::move(family));
}

}  // namespace saccade::engine::native
