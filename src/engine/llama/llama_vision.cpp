#include "engine/llama/llama_vision.h"

#include <llama.h>
#include <mtmd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "engine/llama/backend.h"
#include "engine/llama/resize_view.h"

namespace saccade::engine::llama {
namespace {

// Part of every fingerprint: raise it when pixels are prepared differently.
constexpr const char* kPreparation = "p1";

core::Error failed(const std::string& what) {
  const std::string complaint = take_last_complaint();
  return core::error(core::ErrorCode::kInternal,
                     what + (complaint.empty() ? "" : ": " + complaint));
}

std::string hex(std::uint64_t x) {
  std::string out(16, '0');
  for (auto it = out.rbegin(); it != out.rend(); ++it, x >>= 4) *it = "0123456789abcdef"[x & 15];
  return out;
}

bool all_finite(const std::vector<float>& x) {
  return std::all_of(x.begin(), x.end(), [](float f) { return std::isfinite(f); });
}

// What mtmd makes of one picture alone: its chunks in order.
core::Result<mtmd::input_chunks_ptr> prepare(const mtmd_context* context,
                                             const std::vector<std::uint8_t>& rgb, int width,
                                             int height) {
  const mtmd::bitmap_ptr bitmap(mtmd_bitmap_init(static_cast<std::uint32_t>(width),
                                                 static_cast<std::uint32_t>(height), rgb.data()));
  mtmd::input_chunks_ptr chunks(mtmd_input_chunks_init());
  const mtmd_input_part part{nullptr, bitmap.get()};
  const mtmd_input_part* parts[] = {&part};
  if (mtmd_tokenize_from_parts(context, chunks.get(), parts, 1, false) != 0) {
    return failed("the picture could not be prepared");
  }
  return core::Result<mtmd::input_chunks_ptr>(std::move(chunks));
}

}  // namespace

std::pair<int, int> foreign_size(int width, int height) {
  width = std::max(width, kForeignSideMin);
  height = std::max(height, kForeignSideMin);
  width = std::max(width, (height + kForeignRatioMax - 1) / kForeignRatioMax);
  height = std::max(height, (width + kForeignRatioMax - 1) / kForeignRatioMax);
  return {width, height};
}

core::Result<std::unique_ptr<VisionEncoder>> LlamaVision::create(WeightsPtr weights,
                                                                 const gguf::OpenedHeader& mmproj) {
  const auto& header = mmproj.header;
  VisionTraits traits;
  traits.family = header.text("clip.projector_type");
  if (traits.family.empty()) traits.family = header.text("clip.vision.projector_type");
  traits.fingerprint = traits.family + "-" + hex(header.fingerprint) + "-" + kPreparation;
  const Tokenizer tokenizer(llama_model_get_vocab(weights->model.get()));
  const Idefics3 family(tokenizer);
  const bool own_tiling = traits.family == "idefics3";
  if (own_tiling) {
    if (!family.valid()) {
      return core::error(core::ErrorCode::kModelUnusable,
                         "the text model has no <fake_token_around_image> and <global-img> tokens",
                         "use the text model that was published with this mmproj");
    }
    const int side = static_cast<int>(header.number("clip.vision.image_size").value_or(0));
    const int whole =
        static_cast<int>(header.number("clip.vision.preproc_image_size").value_or(side));
    traits.view_side = side;
    traits.tile_grid_max = std::max(1, side > 0 ? std::min(whole / side, family.grid_max()) : 1);
    traits.tiles = traits.tile_grid_max > 1;
  }
  return std::unique_ptr<VisionEncoder>(
      std::make_unique<LlamaVision>(std::move(weights), std::move(traits), own_tiling));
}

LlamaVision::LlamaVision(WeightsPtr weights, VisionTraits traits, bool own_tiling)
    : weights_(std::move(weights)),
      traits_(std::move(traits)),
      tokenizer_(llama_model_get_vocab(weights_->model.get())),
      idefics3_(tokenizer_),
      own_tiling_(own_tiling) {}

core::Result<VisualSpanPtr> LlamaVision::encode_chunk(const mtmd_input_chunk* chunk) {
  mtmd_context* context = weights_->mtmd.get();
  if (mtmd_encode_chunk(context, chunk) != 0) return failed("the picture could not be encoded");
  const float* out = mtmd_get_output_embd(context);
  if (out == nullptr) return failed("the encoder gave nothing");
  auto span = std::make_shared<VisualSpan>();
  span->tokens = static_cast<int>(mtmd_input_chunk_get_n_tokens(chunk));
  span->width = llama_model_n_embd_inp(weights_->model.get());
  const auto count = static_cast<std::size_t>(span->tokens) * static_cast<std::size_t>(span->width);
  span->embeddings.assign(out, out + count);
  if (!all_finite(span->embeddings)) {
    return core::error(core::ErrorCode::kNumeric, "the vision encoder produced NaN or infinity");
  }
  mtmd_input_chunk* shape = mtmd_input_chunk_get_placeholder(chunk);
  if (shape == nullptr) return failed("the picture's shape could not be kept");
  span->native = std::shared_ptr<const void>(shape, [](const void* p) {
    mtmd_input_chunk_free(static_cast<mtmd_input_chunk*>(const_cast<void*>(p)));
  });
  return VisualSpanPtr(std::move(span));
}

core::Result<EncodedViewPtr> LlamaVision::encode(const core::PixelView& view, ViewPlace place) {
  if (view.empty() || view.width > kViewSideMax || view.height > kViewSideMax) {
    return core::error(core::ErrorCode::kMediaUnusable, "a view of " + std::to_string(view.width) +
                                                            "x" + std::to_string(view.height) +
                                                            " pixels (allowed 1..16384 a side)");
  }
  const int grid = own_tiling_ ? traits_.tile_grid_max : 0;
  if (!place.global() &&
      (place.row < 1 || place.column < 1 || place.row > grid || place.column > grid)) {
    return core::error(core::ErrorCode::kUnsupported,
                       "tile row " + std::to_string(place.row) + " column " +
                           std::to_string(place.column) + " (this model has a grid of " +
                           std::to_string(grid) + ")",
                       "send the global view only");
  }
  const auto [width, height] = own_tiling_ ? std::pair{traits_.view_side, traits_.view_side}
                                           : foreign_size(view.width, view.height);
  try {
    auto chunks = prepare(weights_->mtmd.get(), resize_view(view, width, height), width, height);
    if (!chunks) return chunks.error();
    const std::size_t count = mtmd_input_chunks_size(chunks->get());
    auto out = std::make_shared<EncodedView>();
    if (own_tiling_) {
      // mtmd adds the same picture once more as a 1x1 grid; the overview comes last.
      for (std::size_t i = count; i-- > 0;) {
        const mtmd_input_chunk* chunk = mtmd_input_chunks_get(chunks->get(), i);
        if (mtmd_input_chunk_get_type(chunk) != MTMD_INPUT_CHUNK_TYPE_IMAGE) continue;
        auto span = encode_chunk(chunk);
        if (!span) return span.error();
        *out = idefics3_.wrap(std::move(*span), place);
        break;
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        const mtmd_input_chunk* chunk = mtmd_input_chunks_get(chunks->get(), i);
        out->tokens += static_cast<int>(mtmd_input_chunk_get_n_tokens(chunk));
        if (mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_TEXT) {
          std::size_t length = 0;
          const llama_token* tokens = mtmd_input_chunk_get_tokens_text(chunk, &length);
          out->segments.emplace_back(std::vector<TokenId>(tokens, tokens + length));
          continue;
        }
        auto span = encode_chunk(chunk);
        if (!span) return span.error();
        out->segments.emplace_back(std::move(*span));
      }
    }
    if (out->segments.empty()) return failed("the picture gave no visual tokens");
    return EncodedViewPtr(std::move(out));
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

}  // namespace saccade::engine::llama
