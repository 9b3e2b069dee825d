#include "engine/llama/tokenizer.h"

#include <llama.h>

#include <algorithm>
#include <cctype>

namespace saccade::engine::llama {
namespace {

constexpr int kControl = LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

}  // namespace

Tokenizer::Tokenizer(const llama_vocab* vocab) : vocab_(vocab) {
  for (TokenId id = 0; id < size(); ++id) {
    const auto attributes = llama_vocab_get_attr(vocab_, id);
    if ((attributes & kControl) == 0) continue;
    control_ids_.push_back(id);
    std::string text = text_of(id);
    if (text.empty()) continue;
    controls_.push_back({std::move(text), id, (attributes & LLAMA_TOKEN_ATTR_LSTRIP) != 0,
                         (attributes & LLAMA_TOKEN_ATTR_RSTRIP) != 0});
  }
  std::sort(controls_.begin(), controls_.end(), [](const Control& a, const Control& b) {
    if (a.text[0] != b.text[0]) return a.text[0] < b.text[0];
    if (a.text.size() != b.text.size()) return a.text.size() > b.text.size();
    return a.text < b.text;
  });
}

const Tokenizer::Control* Tokenizer::match(std::string_view text) const {
  if (text.empty()) return nullptr;
  auto it = std::lower_bound(controls_.begin(), controls_.end(), text[0],
                             [](const Control& c, char first) { return c.text[0] < first; });
  for (; it != controls_.end() && it->text[0] == text[0]; ++it) {
    if (text.starts_with(it->text)) return &*it;
  }
  return nullptr;
}

std::vector<TokenId> Tokenizer::raw(std::string_view text) const {
  std::vector<TokenId> out(text.size() + 8);
  const auto bytes = static_cast<std::int32_t>(text.size());
  auto count = llama_tokenize(vocab_, text.data(), bytes, out.data(),
                              static_cast<std::int32_t>(out.size()), false, false);
  if (count < 0) {
    out.resize(static_cast<std::size_t>(-static_cast<std::int64_t>(count)));
    count = llama_tokenize(vocab_, text.data(), bytes, out.data(),
                           static_cast<std::int32_t>(out.size()), false, false);
  }
  out.resize(static_cast<std::size_t>(std::max(count, 0)));
  return out;
}

// Some tokenisers build a control token out of ordinary merges. Then every control string is broken
// after its first byte, and whatever is still control is dropped.
std::vector<TokenId> Tokenizer::plain(std::string_view text) const {
  if (text.empty()) return {};
  auto out = raw(text);
  const auto control_in = [this](TokenId id) { return is_control(id); };
  if (std::none_of(out.begin(), out.end(), control_in)) return out;
  out.clear();
  std::size_t start = 0;
  const auto cut = [&](std::size_t end) {
    const auto tokens = raw(text.substr(start, end - start));
    out.insert(out.end(), tokens.begin(), tokens.end());
    start = end;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (match(text.substr(i)) != nullptr) cut(i + 1);
  }
  cut(text.size());
  std::erase_if(out, control_in);
  return out;
}

TokenId Tokenizer::control(std::string_view text) const {
  const Control* found = match(text);
  return found != nullptr && found->text == text ? found->id : -1;
}

std::string Tokenizer::bytes(TokenId id) const {
  if (id < 0 || id >= size()) return {};
  std::string out(64, '\0');
  auto count =
      llama_token_to_piece(vocab_, id, out.data(), static_cast<std::int32_t>(out.size()), 0, false);
  if (count < 0) {
    out.resize(static_cast<std::size_t>(-count));
    count = llama_token_to_piece(vocab_, id, out.data(), static_cast<std::int32_t>(out.size()), 0,
                                 false);
  }
  out.resize(static_cast<std::size_t>(std::max(count, 0)));
  return out;
}

bool Tokenizer::is_control(TokenId id) const {
  return id >= 0 && id < size() && (llama_vocab_get_attr(vocab_, id) & kControl) != 0;
}

bool Tokenizer::ends_answer(TokenId id) const { return llama_vocab_is_eog(vocab_, id); }
TokenId Tokenizer::bos() const { return llama_vocab_bos(vocab_); }
bool Tokenizer::adds_bos() const { return llama_vocab_get_add_bos(vocab_) && bos() >= 0; }
int Tokenizer::size() const { return llama_vocab_n_tokens(vocab_); }

std::string Tokenizer::text_of(TokenId id) const {
  if (id < 0 || id >= size()) return {};
  const char* text = llama_vocab_get_text(vocab_, id);
  return text != nullptr ? text : "";
}

void Tokenizer::Run::flush() {
  if (strip_left_) {
    const auto first = std::find_if_not(buffer_.begin(), buffer_.end(), is_space);
    buffer_.erase(buffer_.begin(), first);
    strip_left_ = false;
  }
  const auto tokens = tokenizer_.plain(buffer_);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  buffer_.clear();
}

void Tokenizer::Run::add_template(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Control* control = tokenizer_.match(text.substr(i));
    if (control == nullptr) {
      buffer_ += text[i++];
      continue;
    }
    if (control->strips_left) {
      while (!buffer_.empty() && is_space(buffer_.back())) buffer_.pop_back();
    }
    flush();
    tokens_.push_back(control->id);
    strip_left_ = control->strips_right;
    i += control->text.size();
  }
}

std::vector<TokenId> Tokenizer::Run::finish() {
  flush();
  std::vector<TokenId> out;
  out.swap(tokens_);
  return out;
}

}  // namespace saccade::engine::llama
