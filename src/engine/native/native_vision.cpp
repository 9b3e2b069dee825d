#include "engine/native/native_vision.h"

#include <llama.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "engine/llama/resize_view.h"

namespace saccade::engine::native {
namespace {

// Part of every fingerprint: raise it when pixels are prepared or computed differently.
constexpr const char* kPreparation = "n1";
constexpr int kViewSideMax = 16'384;
constexpr int kBatchMax = 8;  // views in one graph; more are encoded in turns

std::string fingerprint_of(const gguf::Header& header) {
  char text[64];
  std::snprintf(text, sizeof(text), "idefics3-%016llx-%s",
                static_cast<unsigned long long>(header.fingerprint), kPreparation);
  return text;
}

core::Status check(const ViewRequest& request, int grid_max) {
  const auto& view = request.view;
  if (view.empty() || view.width > kViewSideMax || view.height > kViewSideMax) {
    return core::error(core::ErrorCode::kMediaUnusable,
                       "a view of " + std::to_string(view.width) + "x" +
                           std::to_string(view.height) + " pixels (allowed 1.." +
                           std::to_string(kViewSideMax) + " a side)");
  }
  const auto& place = request.place;
  if (place.global() ||
      (place.row >= 1 && place.column >= 1 && place.row <= grid_max && place.column <= grid_max)) {
    return {};
  }
  return core::error(core::ErrorCode::kUnsupported,
                     "tile row " + std::to_string(place.row) + " column " +
                         std::to_string(place.column) + " (this model has a grid of " +
                         std::to_string(grid_max) + ")",
                     "send the global view only");
}

}  // namespace

bool NativeVision::serves(const gguf::WeightFile& mmproj) {
  return mmproj.header().text("clip.projector_type") == "idefics3" &&
         mmproj.is_float("v.patch_embd.weight") && mmproj.is_float("v.blk.0.attn_q.weight");
}

NativeVision::NativeVision(Parts parts, std::unique_ptr<models::Siglip> tower)
    : text_(std::move(parts.text)),
      device_(std::move(parts.device)),
      tower_(std::move(tower)),
      tokenizer_(llama_model_get_vocab(text_->model.get())),
      family_(tokenizer_) {}

core::Result<std::unique_ptr<VisionEncoder>> NativeVision::create(Parts parts) {
  const gguf::Header header = parts.mmproj->header();
  auto tower = models::Siglip::load(std::move(parts.mmproj), *parts.device);
  if (!tower) return tower.error();
  std::unique_ptr<NativeVision> out(new NativeVision(std::move(parts), std::move(*tower)));
  if (!out->family_.valid()) {
    return core::error(core::ErrorCode::kModelUnusable,
                       "the text model has no <fake_token_around_image> and <global-img> tokens",
                       "use the text model that was published with this mmproj");
  }
  const int side = out->tower_->shape().picture_side;
  const int whole =
      static_cast<int>(header.number("clip.vision.preproc_image_size").value_or(side));
  out->traits_.family = "idefics3";
  out->traits_.fingerprint = fingerprint_of(header);
  out->traits_.view_side = side;
  out->traits_.tile_grid_max = std::max(1, std::min(whole / side, out->family_.grid_max()));
  out->traits_.tiles = out->traits_.tile_grid_max > 1;
  return std::unique_ptr<VisionEncoder>(std::move(out));
}

core::Result<EncodedViewPtr> NativeVision::encode(const core::PixelView& view, ViewPlace place) {
  auto all = encode_all({{view, place}});
  if (!all) return all.error();
  return std::move(all->front());
}

core::Result<std::vector<EncodedViewPtr>> NativeVision::encode_all(
    const std::vector<ViewRequest>& requests) {
  const auto& shape = tower_->shape();
  const int side = shape.picture_side;
  const models::PatchGrid grid{shape.grid_side(), shape.grid_side()};
  std::vector<EncodedViewPtr> out;
  for (std::size_t first = 0; first < requests.size(); first += kBatchMax) {
    const std::size_t last = std::min(requests.size(), first + kBatchMax);
    std::vector<std::vector<std::uint8_t>> pixels;
    std::vector<core::PixelView> views;
    for (std::size_t i = first; i < last; ++i) {
      if (auto status = check(requests[i], traits_.tile_grid_max); !status) return status.error();
      pixels.push_back(llama::resize_view(requests[i].view, side, side));
      views.push_back({pixels.back().data(), side, side, std::ptrdiff_t{core::kRgbBytes} * side});
    }
    const auto encoded = tower_->encode(views, grid);
    if (!encoded) return encoded.error();
    const auto& tokens = encoded->tokens;
    if (!std::all_of(tokens.begin(), tokens.end(), [](float x) { return std::isfinite(x); })) {
      return core::error(core::ErrorCode::kNumeric, "the vision encoder produced NaN or infinity");
    }
    const std::ptrdiff_t per_view = shape.tokens(grid);
    const std::ptrdiff_t count = per_view * shape.out_width;
    for (std::size_t i = first; i < last; ++i) {
      auto span = std::make_shared<VisualSpan>();
      span->tokens = shape.tokens(grid);
      span->width = shape.out_width;
      span->columns = grid.columns / shape.merge;
      span->whole = span->tokens;
      const auto at = static_cast<std::ptrdiff_t>(i - first);
      const auto part = [at](const std::vector<float>& all, std::ptrdiff_t size) {
        return std::vector<float>(all.begin() + at * size, all.begin() + (at + 1) * size);
      };
      span->embeddings = part(tokens, count);
      span->received = part(encoded->received, per_view);
      span->spread = part(encoded->spread, per_view);
      out.push_back(
          std::make_shared<const EncodedView>(family_.wrap(std::move(span), requests[i].place)));
    }
  }
  return out;
}

}  // namespace saccade::engine::native
