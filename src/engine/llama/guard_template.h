#pragma once
// The bounds of chat_template.h, put around and into a parsed template. Only chat_template.cpp
// includes the interpreter's own types; here they stay names.
#include <cstddef>
#include <memory>
#include <string>

namespace jinja {
struct lexer_result;
struct program;
}  // namespace jinja

namespace saccade::engine::llama {

// Counted over one rendering; reset before the next.
struct TemplateBudget {
  std::size_t steps = 0;
  std::size_t depth = 0;
};

// "" when the token list is within bounds, else the reason: too many tokens in a tag, blocks nested
// too deep, or a call whose result size or divisor is not a harmless literal.
std::string refuse_tokens(const jinja::lexer_result& tokens);

// Inserts counters into every loop and macro and size checks into every assignment. A counter that
// runs out throws std::runtime_error inside the rendering.
void guard_program(jinja::program& program, const std::shared_ptr<TemplateBudget>& budget);

}  // namespace saccade::engine::llama
