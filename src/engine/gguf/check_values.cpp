// The entries that the pinned loaders use without a check of their own. Ranges are far beyond any
// published model: they keep divisions by zero, overflows and endless loops away, nothing more.
#include <array>
#include <string>

#include "engine/gguf/parse_gguf.h"

namespace saccade::engine::gguf {
namespace {

struct Range {
  const char* suffix;  // of the key, after the architecture
  double low, high;
};

// Language side: "<architecture>.<suffix>", any whole-number type.
constexpr std::array kLanguageRanges{
    Range{".context_length", 1, 1e9},
    Range{".embedding_length", 1, 262'144},
    Range{".block_count", 1, 1024},
    Range{".attention.head_count", 1, 4096},
    Range{".attention.head_count_kv", 0, 4096},
    Range{".attention.key_length", 1, 65'536},
    Range{".attention.value_length", 1, 65'536},
    Range{".feed_forward_length", 0, 4'194'304},
    Range{".rope.dimension_count", 0, 65'536},
    Range{".vocab_size", 1, 16'777'216},
    Range{".expert_count", 0, 4096},
};

// Vision side: the loader asserts that these are u32.
constexpr std::array kVisionRanges{
    Range{"clip.vision.image_size", 1, 16'384},
    Range{"clip.vision.patch_size", 1, 4096},
    Range{"clip.vision.embedding_length", 1, 65'536},
    Range{"clip.vision.feed_forward_length", 1, 1'048'576},
    Range{"clip.vision.projection_dim", 0, 262'144},
    Range{"clip.vision.block_count", 0, 1024},
    Range{"clip.vision.attention.head_count", 1, 1024},
    Range{"clip.vision.attention.head_count_kv", 1, 1024},
    Range{"clip.vision.attention.head_dim", 1, 4096},
    Range{"clip.vision.projector.scale_factor", 1, 64},
    Range{"clip.vision.spatial_merge_size", 1, 64},
    Range{"clip.vision.preproc_image_size", 1, 16'384},
    Range{"clip.vision.preproc_min_tiles", 1, 64},
    Range{"clip.vision.preproc_max_tiles", 1, 64},
    Range{"clip.vision.image_min_pixels", 1, 268'435'456},
    Range{"clip.vision.image_max_pixels", 1, 268'435'456},
    Range{"clip.vision.n_wa_pattern", 0, 1024},
    Range{"clip.vision.window_size", 1, 65'536},
};

struct Typed {
  const char* key;
  ValueType type;
  ValueType item = ValueType::kU8;  // arrays
};

constexpr std::array kTypes{
    Typed{"general.architecture", ValueType::kString},
    Typed{"general.name", ValueType::kString},
    Typed{"general.description", ValueType::kString},
    Typed{"clip.projector_type", ValueType::kString},
    Typed{"clip.vision.projector_type", ValueType::kString},
    Typed{"clip.audio.projector_type", ValueType::kString},
    Typed{"clip.vision.mm_patch_merge_type", ValueType::kString},
    Typed{"clip.has_vision_encoder", ValueType::kBool},
    Typed{"clip.has_audio_encoder", ValueType::kBool},
    Typed{"clip.has_gen_audio_encoder", ValueType::kBool},
    Typed{"clip.use_gelu", ValueType::kBool},
    Typed{"clip.use_silu", ValueType::kBool},
    Typed{"clip.vision.attention.layer_norm_epsilon", ValueType::kF32},
    Typed{"clip.vision.image_mean", ValueType::kArray, ValueType::kF32},
    Typed{"clip.vision.image_std", ValueType::kArray, ValueType::kF32},
    Typed{"tokenizer.ggml.model", ValueType::kString},
    Typed{"tokenizer.ggml.pre", ValueType::kString},
    Typed{"tokenizer.chat_template", ValueType::kString},
    Typed{"tokenizer.ggml.tokens", ValueType::kArray, ValueType::kString},
    Typed{"tokenizer.ggml.merges", ValueType::kArray, ValueType::kString},
    Typed{"tokenizer.ggml.token_type", ValueType::kArray, ValueType::kI32},
};

core::Error bad(const std::string& key, const std::string& why) {
  return core::error(core::ErrorCode::kModelUnusable, "entry '" + key + "' " + why);
}

bool whole(ValueType type) {
  return type != ValueType::kF32 && type != ValueType::kF64 && type != ValueType::kBool &&
         type != ValueType::kString && type != ValueType::kArray;
}

std::string show(double number) { return std::to_string(static_cast<long long>(number)); }

core::Status check_range(const Header& header, const std::string& key, const Range& range) {
  const auto number = header.number(key);
  if (!number) return {};
  if (!whole(header.find(key)->type)) return bad(key, "is no whole number");
  if (!(*number >= range.low && *number <= range.high)) {
    return bad(key, "is " + show(*number) + " (allowed " + show(range.low) + ".." +
                        show(range.high) + ")");
  }
  return {};
}

core::Status check_types(const Header& header) {
  for (const auto& typed : kTypes) {
    const Value* value = header.find(typed.key);
    if (value == nullptr) continue;
    if (value->type != typed.type) {
      return bad(typed.key, "is " + name_of(value->type) + ", not " + name_of(typed.type));
    }
    if (typed.type == ValueType::kArray && value->item_type != typed.item) {
      return bad(typed.key, "holds " + name_of(value->item_type) + ", not " + name_of(typed.item));
    }
  }
  for (const char* key : {"clip.vision.image_mean", "clip.vision.image_std"}) {
    const Value* value = header.find(key);
    if (value != nullptr && value->items != 3) return bad(key, "has not 3 items");
  }
  return {};
}

// Side arrays of the vocabulary are indexed by token without a look at their own length.
core::Status check_vocabulary(const Header& header) {
  const Value* tokens = header.find("tokenizer.ggml.tokens");
  for (const char* key : {"tokenizer.ggml.token_type", "tokenizer.ggml.scores"}) {
    const Value* side = header.find(key);
    if (side == nullptr) continue;
    if (side->type != ValueType::kArray || tokens == nullptr || side->items < tokens->items) {
      return bad(key, "is shorter than the vocabulary");
    }
  }
  return {};
}

// libmtmd ends the process when the least number of tiles is above the greatest, whether the file
// says both or one of them is its own.
core::Status check_tiles(const Header& header) {
  const char* const least_key = "clip.vision.preproc_min_tiles";
  const auto least = header.number(least_key);
  const auto most = header.number("clip.vision.preproc_max_tiles");
  const bool intern = header.text("clip.projector_type") == "internvl";
  const double low = least.value_or(intern ? 1 : 2), high = most.value_or(intern ? 12 : 6);
  if ((!least && !most) || low <= high) return {};
  return bad(least_key, "is " + show(low) + " (allowed 1.." + show(high) + ")");
}

}  // namespace

core::Status check_values(const Header& header) {
  const std::string architecture = header.text("general.architecture");
  if (architecture.empty()) {
    return core::error(core::ErrorCode::kModelUnusable, "entry 'general.architecture' is missing");
  }
  if (auto status = check_types(header); !status) return status;
  if (architecture == "clip") {
    for (const auto& range : kVisionRanges) {
      const Value* value = header.find(range.suffix);
      if (value == nullptr) continue;
      if (value->type != ValueType::kU32) {
        return bad(range.suffix, "is " + name_of(value->type) + ", not u32");
      }
      if (auto status = check_range(header, range.suffix, range); !status) return status;
    }
    return check_tiles(header);
  }
  for (const auto& range : kLanguageRanges) {
    if (auto status = check_range(header, architecture + range.suffix, range); !status) {
      return status;
    }
  }
  // The last layer drops tokens, so nothing can be added behind it for all of them.
  const auto deep = header.number(architecture + ".n_deepstack_layers");
  const auto layers = header.number(architecture + ".block_count");
  if (deep && layers && !(*deep >= 0 && *deep < *layers)) {
    return bad(architecture + ".n_deepstack_layers",
               "is " + show(*deep) + " (allowed 0.." + show(*layers - 1) + ")");
  }
  return check_vocabulary(header);
}

}  // namespace saccade::engine::gguf
