#pragma once
// The eye's interface: pixels of one view in, visual tokens out. One owner thread per encoder.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/pixels.h"
#include "core/result.h"

namespace saccade::engine {

using TokenId = std::int32_t;

// Visual tokens of one view after the projector, immutable, shared by cache and prompts.
struct VisualSpan {
  std::vector<float> embeddings;  // F32 [tokens][width]
  int tokens = 0, width = 0;
  int columns = 0;        // of the whole view's token grid, in reading order; 0 = not a grid
  std::vector<int> kept;  // a reduced span: which tokens of the whole one; empty = all
  int whole = 0;          // tokens before reduction
  // From the encoder's probe, per token; empty when it has none. `received`: mean attention that a
  // token gets, times the number of tokens (1 = average). `spread`: entropy over who gives it,
  // 0..1; near 1 = looked at by all alike, as attention sinks are.
  std::vector<float> received, spread;
  std::shared_ptr<const void> native;  // what the paired LanguageModel needs for positions
};
using VisualSpanPtr = std::shared_ptr<const VisualSpan>;

// A view as a prompt holds it: the family's own wrapper tokens and the spans between them.
using ViewSegment = std::variant<std::vector<TokenId>, VisualSpanPtr>;
struct EncodedView {
  std::vector<ViewSegment> segments;
  int tokens = 0;  // of all segments together
};
using EncodedViewPtr = std::shared_ptr<const EncodedView>;

// Which part of a picture a view shows: row = column = 0 is the global view, 1-based otherwise.
struct ViewPlace {
  int row = 0, column = 0;
  bool global() const { return row == 0; }
  bool operator==(const ViewPlace&) const = default;
};

struct VisionTraits {
  std::string family;       // "idefics3", "qwen2.5vl", ... as the GGUF names it
  std::string fingerprint;  // model + preprocessing, for cache keys
  int view_side = 0;        // pixels of a square view; 0 = any size, the family decides
  bool tiles = false;       // fovea tiles may be sent beside the global view
  int tile_grid_max = 1;    // rows and columns at most when `tiles`
};

// One view to encode and where it stands in its picture.
struct ViewRequest {
  core::PixelView view;
  ViewPlace place;
};

class VisionEncoder {
 public:
  virtual ~VisionEncoder() = default;
  virtual const VisionTraits& traits() const = 0;
  // Encodes one view of any size >= 1x1 (it is resized as the family demands).
  // Errors: kMediaUnusable (size), kNumeric (NaN or infinity came out), kInternal.
  virtual core::Result<EncodedViewPtr> encode(const core::PixelView& view, ViewPlace place) = 0;
  // Several views, of any pictures, in their order; together where the encoder can. Same errors;
  // one bad view fails the call.
  virtual core::Result<std::vector<EncodedViewPtr>> encode_all(
      const std::vector<ViewRequest>& requests) {
    std::vector<EncodedViewPtr> out;
    for (const auto& request : requests) {
      auto view = encode(request.view, request.place);
      if (!view) return view.error();
      out.push_back(std::move(*view));
    }
    return out;
  }
};

}  // namespace saccade::engine
