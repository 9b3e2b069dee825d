#include "engine/native/native_vision.h"

#include <llama.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "engine/llama/llama_vision.h"

namespace saccade::engine::native {
namespace {

// Part of every fingerprint: raise it when pixels are prepared or computed differently.
constexpr const char* kPreparation = "n2";
// Of one graph; more are encoded in turns. A picture above the second bound goes alone.
constexpr int kPicturesMax = 8, kPatchesMax = 16'384;

std::string fingerprint_of(const gguf::Header& header) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.24s-%016llx-%s", header.text("clip.projector_type").c_str(),
                static_cast<unsigned long long>(header.fingerprint), kPreparation);
  return text;
}

// Pictures of picture `first`'s size that are encoded with it: it and those directly behind it.
std::size_t batch_end(const std::vector<ViewFamily::Picture>& pictures, std::size_t first) {
  const auto grid = pictures[first].grid;
  const int most = std::clamp(kPatchesMax / grid.patches(), 1, kPicturesMax);
  std::size_t end = first + 1;
  while (end < pictures.size() && end - first < static_cast<std::size_t>(most) &&
         pictures[end].grid == grid) {
    ++end;
  }
  return end;
}

// Picture `at` of a batch.
VisualSpanPtr span_of(const models::TowerOutput& out, std::ptrdiff_t at, models::PatchGrid grid,
                      const models::TowerShape& shape) {
  auto span = std::make_shared<VisualSpan>();
  span->tokens = span->whole = shape.tokens(grid);
  span->width = shape.out_width;
  span->columns = grid.columns / shape.merge;
  const auto part = [at](const std::vector<float>& all, std::ptrdiff_t size) {
    return std::vector<float>(all.begin() + at * size, all.begin() + (at + 1) * size);
  };
  span->embeddings = part(out.tokens, std::ptrdiff_t{span->tokens} * span->width);
  span->received = part(out.received, span->tokens);
  span->spread = part(out.spread, span->tokens);
  return span;
}

}  // namespace

core::Result<std::unique_ptr<VisionEncoder>> NativeVision::create(Parts parts) {
  const gguf::Header header = parts.mmproj->header();
  auto tower = models::load_tower(std::move(parts.mmproj), *parts.device);
  if (!tower) return tower.error();
  const llama::Tokenizer tokenizer(llama_model_get_vocab(parts.text->model.get()));
  auto family = make_family(header, (*tower)->shape(), tokenizer);
  if (!family) return family.error();
  std::unique_ptr<NativeVision> out(
      new NativeVision(std::move(parts.device), std::move(*tower), std::move(*family)));
  out->traits_.family = header.text("clip.projector_type");
  out->traits_.fingerprint = fingerprint_of(header);
  out->family_->describe(out->traits_);
  return std::unique_ptr<VisionEncoder>(std::move(out));
}

core::Status NativeVision::check(const ViewRequest& request) const {
  const auto& view = request.view;
  if (view.empty() || view.width > llama::kViewSideMax || view.height > llama::kViewSideMax) {
    return core::error(core::ErrorCode::kMediaUnusable,
                       "a view of " + std::to_string(view.width) + "x" +
                           std::to_string(view.height) + " pixels (allowed 1.." +
                           std::to_string(llama::kViewSideMax) + " a side)");
  }
  const auto& place = request.place;
  const int grid = traits_.view_side > 0 ? traits_.tile_grid_max : 0;
  if (place.global() ||
      (place.row >= 1 && place.column >= 1 && place.row <= grid && place.column <= grid)) {
    return {};
  }
  return core::error(core::ErrorCode::kUnsupported,
                     "tile row " + std::to_string(place.row) + " column " +
                         std::to_string(place.column) + " (this model has a grid of " +
                         std::to_string(grid) + ")",
                     "send the global view only");
}

core::Result<EncodedViewPtr> NativeVision::encode(const core::PixelView& view, ViewPlace place) {
  auto all = encode_all({{view, place}});
  if (!all) return all.error();
  return std::move(all->front());
}

core::Result<std::vector<VisualSpanPtr>> NativeVision::encode_pictures(
    const std::vector<ViewFamily::Picture>& pictures) {
  const auto& shape = tower_->shape();
  std::vector<VisualSpanPtr> out;
  for (std::size_t first = 0; first < pictures.size();) {
    const std::size_t end = batch_end(pictures, first);
    const auto grid = pictures[first].grid;
    std::vector<core::PixelView> batch;
    for (std::size_t i = first; i < end; ++i) {
      const int width = grid.columns * shape.patch;
      batch.push_back({pictures[i].rgb.data(), width, grid.rows * shape.patch,
                       std::ptrdiff_t{core::kRgbBytes} * width});
    }
    const auto encoded = tower_->encode(batch, grid);
    if (!encoded) return encoded.error();
    if (!std::all_of(encoded->tokens.begin(), encoded->tokens.end(),
                     [](float x) { return std::isfinite(x); })) {
      return core::error(core::ErrorCode::kNumeric, "the vision encoder produced NaN or infinity");
    }
    for (std::size_t i = first; i < end; ++i) {
      out.push_back(span_of(*encoded, static_cast<std::ptrdiff_t>(i - first), grid, shape));
    }
    first = end;
  }
  return out;
}

core::Result<std::vector<EncodedViewPtr>> NativeVision::encode_all(
    const std::vector<ViewRequest>& requests) {
  std::vector<ViewFamily::Picture> pictures;
  std::vector<std::size_t> ends;  // of each view's pictures
  for (const auto& request : requests) {
    if (auto status = check(request); !status) return status.error();
    for (auto& picture : family_->cut(request.view)) pictures.push_back(std::move(picture));
    ends.push_back(pictures.size());
  }
  auto spans = encode_pictures(pictures);
  if (!spans) return spans.error();
  std::vector<EncodedViewPtr> out;
  auto next = spans->begin();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto end = spans->begin() + static_cast<std::ptrdiff_t>(ends[i]);
    out.push_back(
        std::make_shared<const EncodedView>(family_->wrap({next, end}, requests[i].place)));
    next = end;
  }
  return out;
}

}  // namespace saccade::engine::native
