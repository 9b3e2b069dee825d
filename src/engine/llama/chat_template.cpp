// Method: each part becomes a mark of two private-use characters around its number. At compile time
// the template is tried on a small conversation to learn whether it takes a list of typed parts and
// what it writes for an image; both follow from structure, not from the model's name.
#include "engine/llama/chat_template.h"

#include <jinja/lexer.h>
#include <jinja/parser.h>
#include <jinja/runtime.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/llama/guard_template.h"

namespace saccade::engine::llama {
namespace {

// U+F0000 and U+F0001: no vocabulary and no published template holds them.
constexpr std::string_view kOpen = "\xF3\xB0\x80\x80";
constexpr std::string_view kClose = "\xF3\xB0\x80\x81";
// What templates write where an image goes when they are handed one.
constexpr std::string_view kImageWord = "<image>";
// strftime_now() in a template always says this day, so that prompts do not change between runs.
constexpr std::time_t kTemplateTime = 1'767'225'600;  // 2026-01-01

constexpr const char* kChatMl =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% endif %}";

std::string mark(std::size_t part) {
  return std::string(kOpen) + std::to_string(part) + std::string(kClose);
}

core::Error unusable(const std::string& why) {
  return core::error(core::ErrorCode::kModelUnusable, "chat template: " + why,
                     "use a model file with another template");
}

// The interpreter's messages quote the source; the last line says what happened.
std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "failed";
  const auto start = text.find_last_of('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1,
                     end - (start == std::string::npos ? 0 : start + 1) + 1);
}

std::string role_of(ChatTurn::Role role) {
  switch (role) {
    case ChatTurn::Role::kSystem:
      return "system";
    case ChatTurn::Role::kAssistant:
      return "assistant";
    case ChatTurn::Role::kUser:
      break;
  }
  return "user";
}

bool is_image(const ChatPart& part) { return std::holds_alternative<EncodedViewPtr>(part.content); }

struct Form {
  bool typed = false;       // content is a list of {type, text}
  bool image_word = false;  // an image part makes the template write kImageWord
};

jinja::value object(std::initializer_list<std::pair<const char*, jinja::value>> fields) {
  auto out = jinja::mk_val<jinja::value_object>();
  for (const auto& [key, value] : fields) out->insert(key, value);
  return out;
}

jinja::value text_value(const std::string& text) {
  return jinja::mk_val<jinja::value_string>(text);
}

jinja::value content_of(const ChatTurn& turn, std::size_t& part, const Form& form) {
  if (!form.typed) {
    std::string all;
    for (std::size_t i = 0; i < turn.parts.size(); ++i) all += mark(part++);
    return text_value(all);
  }
  auto list = jinja::mk_val<jinja::value_array>();
  for (const auto& p : turn.parts) {
    const std::size_t number = part++;
    list->push_back(is_image(p) && form.image_word ? object({{"type", text_value("image")}})
                                                   : object({{"type", text_value("text")},
                                                             {"text", text_value(mark(number))}}));
  }
  return list;
}

// A bounded range(): the interpreter's own would fill memory.
jinja::value bounded_range(const jinja::func_args& args) {
  args.ensure_count(1, 3);
  const std::int64_t first = args.count() > 1 ? args.get_pos(0)->as_int() : 0;
  const std::int64_t last = args.get_pos(args.count() > 1 ? 1 : 0)->as_int();
  const std::int64_t step = args.count() > 2 ? args.get_pos(2)->as_int() : 1;
  if (step == 0) throw std::runtime_error("range() with step 0");
  auto out = jinja::mk_val<jinja::value_array>();
  std::size_t items = 0;
  for (std::int64_t i = first; step > 0 ? i < last : i > last;) {
    if (++items > kTemplateRangeMax) throw std::runtime_error("range() too long");
    out->push_back(jinja::mk_val<jinja::value_int>(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return out;
}

ChatTurn text_turn(ChatTurn::Role role, bool image) {
  ChatTurn turn;
  turn.role = role;
  turn.parts.resize(image ? 2 : 1);
  if (image) turn.parts.front().content = EncodedViewPtr();
  return turn;
}

std::size_t count_of(const std::string& text, std::string_view word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) {
    ++n;
  }
  return n;
}

// Moves the parts of system turns to the front of the first user turn.
std::vector<ChatTurn> fold_system(const std::vector<ChatTurn>& turns) {
  std::vector<ChatTurn> out;
  std::vector<ChatPart> front;
  for (const auto& turn : turns) {
    if (turn.role != ChatTurn::Role::kSystem) {
      out.push_back(turn);
      continue;
    }
    front.insert(front.end(), turn.parts.begin(), turn.parts.end());
    front.emplace_back().content = std::string("\n");
  }
  const auto user = std::find_if(out.begin(), out.end(), [](const ChatTurn& turn) {
    return turn.role == ChatTurn::Role::kUser;
  });
  if (user != out.end()) user->parts.insert(user->parts.begin(), front.begin(), front.end());
  return out;
}

}  // namespace

struct ChatTemplate::Program {
  TemplateSource source;
  jinja::program program;
  std::shared_ptr<TemplateBudget> budget = std::make_shared<TemplateBudget>();
  Form form;

  core::Result<std::string> run(const std::vector<ChatTurn>& turns, const Form& how);
  core::Status learn_form();
  core::Result<std::vector<RenderedPiece>> split(const std::string& text,
                                                 const std::vector<ChatTurn>& turns) const;
};

core::Result<std::string> ChatTemplate::Program::run(const std::vector<ChatTurn>& turns,
                                                     const Form& how) {
  *budget = TemplateBudget{};
  try {
    jinja::context context(source.text);
    context.current_time = kTemplateTime;
    auto messages = jinja::mk_val<jinja::value_array>();
    std::size_t part = 0;
    for (const auto& turn : turns) {
      messages->push_back(object(
          {{"role", text_value(role_of(turn.role))}, {"content", content_of(turn, part, how)}}));
    }
    context.set_val("messages", messages);
    context.set_val("add_generation_prompt", jinja::mk_val<jinja::value_bool>(true));
    context.set_val("enable_thinking", jinja::mk_val<jinja::value_bool>(false));
    context.set_val("bos_token", text_value(source.bos));
    context.set_val("eos_token", text_value(source.eos));
    context.set_val("range", jinja::mk_val<jinja::value_func>("range", bounded_range));
    jinja::runtime runtime(context);
    const auto parts = jinja::runtime::gather_string_parts(runtime.execute(program));
    std::string out;
    for (const auto& piece : parts->val_str.parts) {
      if (out.size() + piece.val.size() > kTemplateOutputBytesMax) {
        return unusable("writes more than " + std::to_string(kTemplateOutputBytesMax) + " bytes");
      }
      out += piece.val;
    }
    return out;
  } catch (const std::exception& e) {
    return unusable(last_line(e.what()));
  }
}

// Tries the typed form first. A template that knows only text either fails on a list or writes the
// list out, quoting its keys.
core::Status ChatTemplate::Program::learn_form() {
  const std::vector<ChatTurn> plain{text_turn(ChatTurn::Role::kUser, false)};
  const std::vector<ChatTurn> picture{text_turn(ChatTurn::Role::kUser, true)};
  const auto quoted = [](const std::string& text) {
    return text.find("'type'") != std::string::npos || text.find("\"type\"") != std::string::npos;
  };
  const auto typed = run(plain, Form{true, false});
  form.typed = typed.ok() && count_of(*typed, mark(0)) == 1 && !quoted(*typed);
  if (form.typed) {
    const auto image = run(picture, Form{true, true});
    form.image_word = image.ok() && count_of(*image, kImageWord) == 1 &&
                      count_of(*typed, kImageWord) == 0 && count_of(*image, mark(1)) == 1;
    return {};
  }
  const auto text = run(plain, Form{});
  if (!text) return text.error();
  if (count_of(*text, mark(0)) == 0) return unusable("does not write the user's text");
  return {};
}

core::Result<std::vector<RenderedPiece>> ChatTemplate::Program::split(
    const std::string& text, const std::vector<ChatTurn>& turns) const {
  std::vector<const ChatPart*> parts;
  std::vector<std::size_t> images;
  for (const auto& turn : turns) {
    for (const auto& part : turn.parts) {
      if (is_image(part)) images.push_back(parts.size());
      parts.push_back(&part);
    }
  }
  std::vector<bool> seen(parts.size(), false);
  std::vector<RenderedPiece> out;
  std::size_t next_image = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto open = text.find(kOpen, at);
    const auto word = form.image_word ? text.find(kImageWord, at) : std::string::npos;
    const auto stop = std::min({open, word, text.size()});
    if (stop > at) out.emplace_back(TemplateText{text.substr(at, stop - at)});
    if (stop == text.size()) break;
    std::size_t part = parts.size();
    if (stop == word && next_image < images.size()) {
      part = images[next_image++];
      at = stop + kImageWord.size();
    } else if (const auto close = text.find(kClose, stop); stop == open && close != text.npos) {
      const std::string digits = text.substr(stop + kOpen.size(), close - stop - kOpen.size());
      if (!digits.empty() && digits.size() <= 9 &&
          digits.find_first_not_of("0123456789") == std::string::npos) {
        part = std::stoul(digits);
      }
      at = close + kClose.size();
    }
    if (part >= parts.size()) return unusable("changes or moves what it is given");
    seen[part] = true;
    out.emplace_back(*parts[part]);
  }
  if (std::find(seen.begin(), seen.end(), false) != seen.end()) {
    return unusable("leaves out a part of the conversation");
  }
  return out;
}

core::Result<std::unique_ptr<ChatTemplate>> ChatTemplate::compile(const TemplateSource& source) {
  auto program = std::make_unique<Program>();
  program->source = source;
  if (program->source.text.empty()) program->source.text = kChatMl;
  const std::string& text = program->source.text;
  if (text.size() > kTemplateBytesMax) {
    return unusable("has " + std::to_string(text.size()) + " bytes (at most " +
                    std::to_string(kTemplateBytesMax) + ")");
  }
  if (text.find(kOpen) != text.npos || text.find(kClose) != text.npos) {
    return unusable("holds the private characters U+F0000 or U+F0001");
  }
  try {
    jinja::lexer lexer;
    const auto tokens = lexer.tokenize(text);
    if (const std::string why = refuse_tokens(tokens); !why.empty()) return unusable(why);
    program->program = jinja::parse_from_tokens(tokens);
  } catch (const std::exception& e) {
    return unusable(last_line(e.what()));
  }
  guard_program(program->program, program->budget);
  if (const auto status = program->learn_form(); !status) return status.error();
  return std::make_unique<ChatTemplate>(std::move(program));
}

ChatTemplate::ChatTemplate(std::unique_ptr<Program> program) : program_(std::move(program)) {}
ChatTemplate::~ChatTemplate() = default;

core::Result<std::vector<RenderedPiece>> ChatTemplate::render(const std::vector<ChatTurn>& turns) {
  const auto attempt = [this](const std::vector<ChatTurn>& t) {
    const auto text = program_->run(t, program_->form);
    return text ? program_->split(*text, t)
                : core::Result<std::vector<RenderedPiece>>(text.error());
  };
  auto out = attempt(turns);
  const bool system = std::any_of(turns.begin(), turns.end(), [](const ChatTurn& turn) {
    return turn.role == ChatTurn::Role::kSystem;
  });
  return out.ok() || !system ? out : attempt(fold_system(turns));
}

}  // namespace saccade::engine::llama
