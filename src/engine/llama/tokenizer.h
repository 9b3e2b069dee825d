#pragma once
// Text to tokens and back, with control tokens only where the template wrote them.
// Method: control strings are cut out of template text first and become ids at once; what is left
// between two of them, template text and content alike, is tokenised together with control tokens
// off. So a prompt without hostile text has exactly the tokens that llama.cpp gives for the whole
// string, and content can never become a control id (T12).
// Threads: any, after construction.
#include <string>
#include <string_view>
#include <vector>

#include "engine/language_model.h"

struct llama_vocab;

namespace saccade::engine::llama {

class Tokenizer {
 public:
  // `vocab` must outlive the tokenizer.
  explicit Tokenizer(const llama_vocab* vocab);

  // Content: control strings in `text` stay text.
  std::vector<TokenId> plain(std::string_view text) const;
  // The id of a control token written exactly so, or -1.
  TokenId control(std::string_view text) const;
  // Bytes of a token as an answer shows it; empty for control tokens and unknown ids.
  std::string bytes(TokenId id) const;
  bool is_control(TokenId id) const;
  bool ends_answer(TokenId id) const;
  TokenId bos() const;                    // -1 when there is none
  bool adds_bos() const;                  // a prompt starts with bos()
  std::string text_of(TokenId id) const;  // as the vocabulary writes it; "" for -1
  int size() const;
  const std::vector<TokenId>& control_ids() const { return control_ids_; }

  // Builds one run of tokens from template text and content in order.
  class Run {
   public:
    explicit Run(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
    void add_template(std::string_view text);
    void add_content(std::string_view text) { buffer_ += text; }
    // The tokens so far; the run is empty afterwards.
    std::vector<TokenId> finish();

   private:
    void flush();
    const Tokenizer& tokenizer_;
    std::string buffer_;  // text since the last control token
    bool strip_left_ = false;
    std::vector<TokenId> tokens_;
  };

 private:
  struct Control {
    std::string text;
    TokenId id = -1;
    bool strips_left = false, strips_right = false;  // white space beside it belongs to it
  };
  const Control* match(std::string_view text) const;
  std::vector<TokenId> raw(std::string_view text) const;

  const llama_vocab* const vocab_;
  std::vector<Control> controls_;  // sorted by first byte, then longest first
  std::vector<TokenId> control_ids_;
};

}  // namespace saccade::engine::llama
