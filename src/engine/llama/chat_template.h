#pragma once
// The chat template of a model file, run by llama.cpp's Jinja interpreter on stand-ins: the
// template never sees a user's text, only a private mark per part, so no text can look like
// template and no text search decides where media go (T12). What comes back is template text and
// part numbers.
//
// A template is hostile until proven otherwise (T13): its size, nesting, loop steps, macro depth,
// variable sizes and output are bounded; beyond a bound it is refused, never run on.
// Threads: one at a time per object.
#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"
#include "engine/language_model.h"

namespace saccade::engine::llama {

inline constexpr std::size_t kTemplateBytesMax = 65'536;
inline constexpr std::size_t kTemplateTagTokensMax = 1024;     // between one {% and its %}
inline constexpr std::size_t kTemplateNestingMax = 64;         // blocks inside blocks
inline constexpr std::size_t kTemplateStepsMax = 20'000;       // loop rounds per rendering
inline constexpr std::size_t kTemplateDepthMax = 16;           // macros inside macros
inline constexpr std::size_t kTemplateValueItemsMax = 4096;    // list items in one value
inline constexpr std::size_t kTemplateValueBytesMax = 16'384;  // text in one value
inline constexpr std::size_t kTemplateRangeMax = 1024;         // numbers of one range()
inline constexpr std::size_t kTemplateOutputBytesMax = 1U << 20;

// Either text of the template itself or a part of the conversation, in the order they are read.
struct TemplateText {
  std::string text;
};
using RenderedPiece = std::variant<TemplateText, ChatPart>;

struct TemplateSource {
  std::string text;  // empty = ChatML
  std::string bos, eos;
};

class ChatTemplate {
 public:
  // Errors: kModelUnusable with the reason (syntax, bound, loses content).
  static core::Result<std::unique_ptr<ChatTemplate>> compile(const TemplateSource& source);
  struct Program;
  explicit ChatTemplate(std::unique_ptr<Program> program);
  ~ChatTemplate();

  // Ends with the opening of the assistant's turn. A system turn that the template refuses is put
  // in front of the first user turn instead. Errors: kModelUnusable.
  core::Result<std::vector<RenderedPiece>> render(const std::vector<ChatTurn>& turns);

 private:
  std::unique_ptr<Program> program_;
};

}  // namespace saccade::engine::llama
