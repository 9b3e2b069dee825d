#include "engine/llama/guard_template.h"

#include <jinja/lexer.h>
#include <jinja/runtime.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/llama/chat_template.h"

namespace saccade::engine::llama {
namespace {

constexpr std::int64_t kFactorMax = 1024;

bool small_literal(const jinja::token& token) {
  return token.t == jinja::token::numeric_literal && token.value.size() <= 4 &&
         token.value.find('.') == std::string::npos && std::stol(token.value) > 0 &&
         std::stol(token.value) <= kFactorMax;
}

bool opens_block(const std::string& word) {
  return word == "if" || word == "for" || word == "macro" || word == "call" || word == "filter" ||
         word == "set";
}

// Calls that could divide by zero or make a huge text from a number.
std::string refuse_call(const std::vector<jinja::token>& tokens, std::size_t i) {
  const auto& token = tokens[i];
  const auto at = [&](std::size_t k) { return k < tokens.size() ? &tokens[k] : nullptr; };
  if (token.t != jinja::token::identifier) return "";
  if (token.value != "divisibleby" && token.value != "indent") return "";
  const auto* open = at(i + 1);
  if (open == nullptr || open->t != jinja::token::open_paren) {
    return token.value == "indent" ? "" : "uses divisibleby without a number";
  }
  std::size_t value = i + 2;
  if (at(value + 1) != nullptr && at(value + 1)->t == jinja::token::equals) value += 2;
  if (at(value) != nullptr && small_literal(*at(value))) return "";
  return "calls " + token.value + " with something that is no number up to 1024";
}

// Throws when a value holds more than one variable may; stops counting there.
void measure(const jinja::value& value, std::size_t& items, std::size_t& bytes) {
  if (!value) return;
  for (const auto& part : value->val_str.parts) bytes += part.val.size();
  items += 1;
  if (items > kTemplateValueItemsMax || bytes > kTemplateValueBytesMax) {
    throw std::runtime_error("a variable of the template grows too large");
  }
  for (const auto& item : value->val_arr) measure(item, items, bytes);
  for (const auto& [key, item] : value->val_obj) measure(item, items, bytes);
}

struct StepGuard final : jinja::statement {
  explicit StepGuard(std::shared_ptr<TemplateBudget> b) : budget(std::move(b)) {}
  std::string type() const override { return "StepGuard"; }
  jinja::value execute_impl(jinja::context& /*context*/) const override {
    if (++budget->steps > kTemplateStepsMax) throw std::runtime_error("the template runs too long");
    return jinja::mk_val<jinja::value_undefined>();
  }
  std::shared_ptr<TemplateBudget> budget;
};

// One side of a `*`: a text repeated more often than this is refused.
struct FactorGuard final : jinja::expression {
  explicit FactorGuard(jinja::statement_ptr i) : inner(std::move(i)) {}
  std::string type() const override { return "FactorGuard"; }
  jinja::value execute_impl(jinja::context& context) const override {
    jinja::value out = inner->execute(context);
    if (jinja::is_val<jinja::value_int>(out) && out->as_int() > kFactorMax) {
      throw std::runtime_error("the template multiplies by more than 1024");
    }
    return out;
  }
  jinja::statement_ptr inner;
};

struct SizeGuard final : jinja::expression {
  explicit SizeGuard(jinja::statement_ptr i) : inner(std::move(i)) {}
  std::string type() const override { return "SizeGuard"; }
  jinja::value execute_impl(jinja::context& context) const override {
    jinja::value out = inner->execute(context);
    std::size_t items = 0, bytes = 0;
    measure(out, items, bytes);
    return out;
  }
  jinja::statement_ptr inner;
};

// A body as one statement whose output is measured; macros also count how deep they call.
struct BodyGuard final : jinja::statement {
  BodyGuard(jinja::statements s, std::shared_ptr<TemplateBudget> b)
      : body(std::move(s)), budget(std::move(b)) {}
  std::string type() const override { return "BodyGuard"; }
  jinja::value execute_impl(jinja::context& context) const override {
    struct Level {
      explicit Level(std::size_t& d) : depth(d) { ++depth; }
      ~Level() { --depth; }
      std::size_t& depth;
    } level(budget->depth);
    if (budget->depth > kTemplateDepthMax || ++budget->steps > kTemplateStepsMax) {
      throw std::runtime_error("the template's macros call each other too often");
    }
    auto out = jinja::mk_val<jinja::value_array>();
    for (const auto& inner : body) out->push_back(inner->execute(context));
    std::size_t items = 0, bytes = 0;
    measure(out, items, bytes);
    return out;
  }
  jinja::statements body;
  std::shared_ptr<TemplateBudget> budget;
};

// Walks a parsed template once. What may grow (calls, filters, sums) is wrapped where its value is
// used; nodes that their parent looks at by type stay as they are.
class Guard {
 public:
  explicit Guard(std::shared_ptr<TemplateBudget> budget) : budget_(std::move(budget)) {}

  void body(jinja::statements& statements) {
    for (auto& statement : statements) {
      if (!statement) continue;
      if (dynamic_cast<jinja::expression*>(statement.get()) != nullptr) {
        operand(statement);
      } else {
        block(*statement);
      }
    }
  }

 private:
  void block(jinja::statement& statement) {
    if (auto* loop = dynamic_cast<jinja::for_statement*>(&statement)) {
      inside(*loop->iterable);
      body(loop->body);
      body(loop->default_block);
      loop->body.insert(loop->body.begin(), std::make_unique<StepGuard>(budget_));
    } else if (auto* branch = dynamic_cast<jinja::if_statement*>(&statement)) {
      operand(branch->test);
      body(branch->body);
      body(branch->alternate);
    } else if (auto* set = dynamic_cast<jinja::set_statement*>(&statement)) {
      if (set->val) operand(set->val);
      contain(set->body);
    } else if (auto* macro = dynamic_cast<jinja::macro_statement*>(&statement)) {
      contain(macro->body);
    } else if (auto* filter = dynamic_cast<jinja::filter_statement*>(&statement)) {
      inside(*filter->filter);
      contain(filter->body);
    } else if (auto* call = dynamic_cast<jinja::call_statement*>(&statement)) {
      inside(*call->call);
      contain(call->body);
    }
  }

  void contain(jinja::statements& statements) {
    if (statements.empty()) return;
    body(statements);
    auto guarded = std::make_unique<BodyGuard>(std::move(statements), budget_);
    statements.clear();
    statements.push_back(std::move(guarded));
  }

  void operand(jinja::statement_ptr& node) {
    if (!node) return;
    inside(*node);
    const bool grows = dynamic_cast<jinja::filter_expression*>(node.get()) != nullptr ||
                       dynamic_cast<jinja::call_expression*>(node.get()) != nullptr ||
                       dynamic_cast<jinja::binary_expression*>(node.get()) != nullptr ||
                       dynamic_cast<jinja::array_literal*>(node.get()) != nullptr;
    if (grows) node = std::make_unique<SizeGuard>(std::move(node));
  }

  void inside(jinja::statement& node) {
    if (auto* member = dynamic_cast<jinja::member_expression*>(&node)) {
      operand(member->object);
      inside(*member->property);
    } else if (auto* call = dynamic_cast<jinja::call_expression*>(&node)) {
      inside(*call->callee);
      for (auto& argument : call->args) operand(argument);
    } else if (auto* binary = dynamic_cast<jinja::binary_expression*>(&node)) {
      operand(binary->left);
      operand(binary->right);
      if (binary->op.value == "*") {
        binary->left = std::make_unique<FactorGuard>(std::move(binary->left));
        binary->right = std::make_unique<FactorGuard>(std::move(binary->right));
      }
    } else if (auto* filter = dynamic_cast<jinja::filter_expression*>(&node)) {
      operand(filter->operand);
      inside(*filter->filter);
    } else if (auto* select = dynamic_cast<jinja::select_expression*>(&node)) {
      inside(*select->lhs);
      operand(select->test);
    } else if (auto* test = dynamic_cast<jinja::test_expression*>(&node)) {
      operand(test->operand);
      inside(*test->test);
    } else if (auto* unary = dynamic_cast<jinja::unary_expression*>(&node)) {
      operand(unary->argument);
    } else if (auto* choice = dynamic_cast<jinja::ternary_expression*>(&node)) {
      operand(choice->condition);
      operand(choice->true_expr);
      operand(choice->false_expr);
    } else if (auto* keyword = dynamic_cast<jinja::keyword_argument_expression*>(&node)) {
      operand(keyword->val);
    } else if (auto* list = dynamic_cast<jinja::array_literal*>(&node)) {
      for (auto& item : list->val) operand(item);
    } else if (auto* tuple = dynamic_cast<jinja::tuple_literal*>(&node)) {
      for (auto& item : tuple->val) operand(item);
    } else if (auto* object = dynamic_cast<jinja::object_literal*>(&node)) {
      for (auto& [key, value] : object->val) operand(value);
    }
  }

  const std::shared_ptr<TemplateBudget> budget_;
};

// How deep blocks nest. `elif` arms nest in the parser, and a `set` without `=` is a block.
class Nesting {
 public:
  // `word` is the first of a {% tag; `assigns` = the tag holds an `=`. False beyond the limit.
  bool enter(const std::string& word, bool assigns) {
    if (word == "elif" && !levels_.empty()) {
      ++levels_.back();
      ++depth_;
    } else if (opens_block(word) && !(word == "set" && assigns)) {
      levels_.push_back(1);
      ++depth_;
    } else if (word.starts_with("end") && !levels_.empty()) {
      depth_ -= levels_.back();
      levels_.pop_back();
    }
    return depth_ <= kTemplateNestingMax;
  }

 private:
  std::vector<std::size_t> levels_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string refuse_tokens(const jinja::lexer_result& lexed) {
  const auto& tokens = lexed.tokens;
  Nesting nesting;
  std::size_t in_tag = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto type = tokens[i].t;
    in_tag = type == jinja::token::text || type == jinja::token::open_statement ||
                     type == jinja::token::open_expression
                 ? 0
                 : in_tag + 1;
    if (in_tag > kTemplateTagTokensMax) return "has a tag of more than 1024 tokens";
    if (type == jinja::token::open_statement && i + 1 < tokens.size()) {
      bool assigns = false;
      for (std::size_t k = i; k < tokens.size() && tokens[k].t != jinja::token::close_statement;
           ++k) {
        assigns = assigns || tokens[k].t == jinja::token::equals;
      }
      if (!nesting.enter(tokens[i + 1].value, assigns)) return "nests more than 64 blocks";
    }
    if (std::string why = refuse_call(tokens, i); !why.empty()) return why;
  }
  return "";
}

void guard_program(jinja::program& program, const std::shared_ptr<TemplateBudget>& budget) {
  Guard(budget).body(program.body);
}

}  // namespace saccade::engine::llama
