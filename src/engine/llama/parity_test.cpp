// Our pipeline against llama.cpp's own helpers on the bundled model: same tokens, same answers.
#include <gtest/gtest.h>
#include <llama.h>
#include <mtmd-helper.h>
#include <mtmd.h>

#include <algorithm>

#include "engine/llama/handles.h"
#include "engine/llama/mini_model.h"

namespace saccade::engine::llama {
namespace {

constexpr int kTokensMax = 48;
const char* const kQuestions[] = {"What is shown?", "How many shapes are there?",
                                  "Which lamps are on?", "What does the gauge read?"};

// llama.cpp as its own command line tools use it.
class Reference {
 public:
  Reference() {
    auto model = llama_model_default_params();
    weights_.model.reset(llama_model_load_from_file(test::kMiniText, model));
    auto vision = mtmd_context_params_default();
    vision.print_timings = false;
    vision.n_threads = 2;
    vision.warmup = false;
    weights_.mtmd.reset(mtmd_init_from_file(test::kMiniVision, weights_.model.get(), vision));
    auto params = llama_context_default_params();
    params.n_ctx = 2048;
    params.n_threads = params.n_threads_batch = 2;
    context_.reset(llama_init_from_model(weights_.model.get(), params));
  }

  // Tokens of the prompt (-1 = one visual token) and the greedy answer.
  std::pair<std::vector<TokenId>, std::string> ask(const std::vector<test::Picture>& pictures,
                                                   const std::string& question) {
    std::string text = "<|im_start|>User:";
    mtmd::bitmaps bitmaps;
    for (const auto& p : pictures) {
      text += mtmd_default_marker();
      bitmaps.entries.emplace_back(p.width, p.height, p.rgb.data());
    }
    text += question + "<end_of_utterance>\nAssistant:";
    const mtmd_input_text input{text.c_str(), text.size(), true, true};
    mtmd::input_chunks chunks(mtmd_input_chunks_init());
    auto pointers = bitmaps.c_ptr();
    EXPECT_EQ(mtmd_tokenize(weights_.mtmd.get(), chunks.ptr.get(), &input, pointers.data(),
                            pointers.size()),
              0);
    llama_memory_clear(llama_get_memory(context_.get()), true);
    llama_pos position = 0;
    EXPECT_EQ(mtmd_helper_eval_chunks(weights_.mtmd.get(), context_.get(), chunks.ptr.get(), 0, 0,
                                      512, true, &position),
              0);
    return {tokens_of(chunks), generate(position)};
  }

 private:
  static std::vector<TokenId> tokens_of(const mtmd::input_chunks& chunks) {
    std::vector<TokenId> out;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      std::size_t count = 0;
      if (mtmd_input_chunk_get_type(chunks[i]) == MTMD_INPUT_CHUNK_TYPE_TEXT) {
        const auto* ids = mtmd_input_chunk_get_tokens_text(chunks[i], &count);
        out.insert(out.end(), ids, ids + count);
      } else {
        out.insert(out.end(), mtmd_input_chunk_get_n_tokens(chunks[i]), -1);
      }
    }
    return out;
  }

  std::string generate(llama_pos position) {
    const auto* vocab = llama_model_get_vocab(weights_.model.get());
    llama_sampler* greedy = llama_sampler_init_greedy();
    std::string out;
    for (int i = 0; i < kTokensMax; ++i) {
      llama_token id = llama_sampler_sample(greedy, context_.get(), -1);
      if (llama_vocab_is_eog(vocab, id)) break;
      char piece[64];
      const auto bytes = llama_token_to_piece(vocab, id, piece, sizeof(piece), 0, false);
      out.append(piece, static_cast<std::size_t>(std::max(bytes, 0)));
      llama_batch batch = llama_batch_get_one(&id, 1);
      batch.pos = &position;
      if (llama_decode(context_.get(), batch) != 0) break;
      ++position;
    }
    llama_sampler_free(greedy);
    return out;
  }

  Weights weights_;
  ContextPtr context_;
};

class ParityTest : public ::testing::Test {
 protected:
  EncodedViewPtr encode(const test::Picture& picture, ViewPlace place = {}) {
    auto view = pair_.vision->encode(picture.view(), place);
    EXPECT_TRUE(view.ok());
    return std::move(view).value();
  }
  VisionLanguage pair_ = test::load_mini();
};

// The 1x1 grid and the overview: what llama.cpp always sends ("form A").
TEST_F(ParityTest, SameTokensAndAnswersAsLlamaCppOnTwentyPictures) {
  Reference reference;
  int different = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto picture = test::draw(seed);
    const std::string question = kQuestions[seed % 4];
    const auto [tokens, text] = reference.ask({picture}, question);
    const auto prompt = pair_.language->render(
        {test::user_turn({encode(picture, {1, 1}), encode(picture)}, question)});
    ASSERT_TRUE(prompt.ok()) << prompt.error().message;
    ASSERT_EQ(test::flatten(*prompt), tokens);
    ASSERT_TRUE(pair_.language->start(*prompt, {}).ok());
    const std::string ours = test::answer(*pair_.language, kTokensMax);
    EXPECT_EQ(ours, text) << "seed " << seed;
    different += ours != text;
  }
  EXPECT_EQ(different, 0);
}

TEST_F(ParityTest, TwoPicturesStayInOrder) {
  Reference reference;
  const auto a = test::draw(31), b = test::draw(32);
  const auto views = [&](const test::Picture& p) {
    return std::vector<EncodedViewPtr>{encode(p, {1, 1}), encode(p)};
  };
  auto both = views(a);
  const auto second = views(b);
  both.insert(both.end(), second.begin(), second.end());
  const auto [tokens, text] = reference.ask({a, b}, "What moved?");
  const auto prompt = pair_.language->render({test::user_turn(both, "What moved?")});
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(test::flatten(*prompt), tokens);
  ASSERT_TRUE(pair_.language->start(*prompt, {}).ok());
  EXPECT_EQ(test::answer(*pair_.language, kTokensMax), text);
}

}  // namespace
}  // namespace saccade::engine::llama
