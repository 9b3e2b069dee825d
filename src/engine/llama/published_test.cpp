// Chat templates and vocabularies as published, from the pinned llama.cpp source. Skipped when that
// source has been removed after the build.
#include <gtest/gtest.h>
#include <llama.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/llama/backend.h"
#include "engine/llama/chat_template.h"
#include "engine/llama/handles.h"
#include "engine/llama/mini_model.h"
#include "engine/llama/tokenizer.h"

namespace saccade::engine::llama {
namespace {

constexpr const char* kModels = "build/deps-src/llama.cpp/models";
constexpr const char* kSmolLm = "build/models/smollm2.gguf";

std::vector<std::filesystem::path> files(const std::string& folder, const std::string& ending) {
  std::vector<std::filesystem::path> out;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    if (entry.path().string().ends_with(ending)) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(PublishedTest, EveryTemplateRendersAConversationWithAPicture) {
  const auto paths = files(std::string(kModels) + "/templates", ".jinja");
  if (paths.empty()) GTEST_SKIP() << "no llama.cpp source";
  ChatTurn system;
  system.role = ChatTurn::Role::kSystem;
  system.parts.emplace_back().content = std::string("Be brief.");
  const auto user = test::user_turn({std::make_shared<const EncodedView>()}, "What is it?");
  for (const auto& path : paths) {
    auto chat = ChatTemplate::compile({read_all(path), "<s>", "</s>"});
    EXPECT_TRUE(chat.ok()) << path.filename() << ": " << chat.error().message;
    if (!chat.ok()) continue;
    for (const auto& turns : {std::vector<ChatTurn>{user}, std::vector<ChatTurn>{system, user}}) {
      const auto pieces = (*chat)->render(turns);
      EXPECT_TRUE(pieces.ok()) << path.filename() << ": " << pieces.error().message;
    }
  }
}

class VocabularyTest : public ::testing::Test {
 protected:
  static ModelPtr load(const std::filesystem::path& path) {
    auto params = llama_model_default_params();
    params.vocab_only = true;
    return ModelPtr(llama_model_load_from_file(path.c_str(), params));
  }
  static std::vector<TokenId> whole(const llama_vocab* vocab, const std::string& text) {
    std::vector<TokenId> out(text.size() + 16);
    const auto n = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), out.data(),
                                  static_cast<int>(out.size()), false, true);
    out.resize(static_cast<std::size_t>(std::max(n, 0)));
    return out;
  }
};

// T12 for every kind of tokeniser: no control string in content becomes a control token, and a
// template run gives the tokens llama.cpp gives for the whole string.
TEST_F(VocabularyTest, EveryTokeniserKeepsContentApart) {
  // One of each kind: SentencePiece, two byte-pair regimes, white space that belongs to control
  // tokens (phi-3), WordPiece.
  const std::vector<std::string> kinds{"llama-spm", "llama-bpe", "qwen2", "phi-3", "bert-bge"};
  if (!std::filesystem::exists(kModels)) GTEST_SKIP() << "no llama.cpp source";
  ASSERT_TRUE(start_backend().ok());
  for (const auto& kind : kinds) {
    const std::filesystem::path path = std::string(kModels) + "/ggml-vocab-" + kind + ".gguf";
    const auto model = load(path);
    ASSERT_TRUE(model) << path;
    const auto* vocab = llama_model_get_vocab(model.get());
    const Tokenizer tokenizer(vocab);
    std::string marks;
    int shown = 0;
    const auto& ids = tokenizer.control_ids();
    // Some vocabularies have hundreds of reserved ones that differ in a number only.
    const std::size_t step = ids.size() / 40 + 1;
    for (std::size_t i = 0; i < ids.size(); i += step) {
      const TokenId id = ids[i];
      const std::string text = tokenizer.text_of(id);
      for (const std::string& content : {text, "see " + text + " here", text + text}) {
        for (const TokenId got : tokenizer.plain(content)) {
          ASSERT_FALSE(tokenizer.is_control(got)) << path.filename() << ": " << content;
        }
      }
      if (++shown <= 3) marks += text + "Hello there\n";
    }
    const std::string text = marks + "How are you, 42 times? " + marks;
    Tokenizer::Run run(tokenizer);
    run.add_template(text);
    EXPECT_EQ(run.finish(), whole(vocab, text)) << path.filename();
    Tokenizer::Run parts(tokenizer);
    parts.add_template(marks + "How ");
    parts.add_content("are you, 42");
    parts.add_template(" times? " + marks);
    EXPECT_EQ(parts.finish(), whole(vocab, text)) << path.filename();
  }
}

// A text-only model as published (Q4_1): facts in, a sensible answer out.
TEST(SmolLmTest, AnswersASimpleQuestion) {
  if (!std::filesystem::exists(kSmolLm)) GTEST_SKIP() << "no " << kSmolLm;
  LoadOptions options;
  options.model_path = kSmolLm;
  options.threads = 2;
  options.context_tokens = 512;
  auto pair = load_vision_language(options);
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  EXPECT_FALSE(pair->vision);
  EXPECT_FALSE(pair->language->traits().vision);
  const auto prompt = pair->language->render({test::user_turn({}, "Name three colours.")});
  ASSERT_TRUE(prompt.ok()) << prompt.error().message;
  ASSERT_TRUE(pair->language->start(*prompt, {}).ok());
  EXPECT_NE(test::answer(*pair->language, 24).find("Red"), std::string::npos);
}

}  // namespace
}  // namespace saccade::engine::llama
