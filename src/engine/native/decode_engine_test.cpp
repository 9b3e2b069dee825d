// The batching engine under many callers: cancels, failures and branches leave nothing behind.
#include "engine/native/decode_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "core/rng.h"
#include "engine/llama/mini_model.h"

namespace saccade::engine::native {
namespace {

std::unique_ptr<DecodeEngine> make(int cells) {
  auto device = Device::cpu(1);
  auto file = gguf::WeightFile::open(test::kMiniText);
  auto decoder = models::Decoder::load(std::move(file).value(), **device, cells);
  return std::make_unique<DecodeEngine>(std::move(device).value(), std::move(decoder).value());
}

Wish wish_of(kv::Sequence sequence, int tokens, int position, TokenId id = 300) {
  Wish wish;
  wish.sequence = sequence;
  for (int i = 0; i < tokens; ++i)
    wish.tokens.push_back({id + i % 50, nullptr, 0, Position::at(position + i)});
  return wish;
}

TEST(DecodeEngineTest, AChunkedPromptGivesTheLogitsOfOneReadInPieces) {
  const auto engine = make(2048);
  const auto a = engine->open(), b = engine->open();
  const auto whole = engine->read(wish_of(*a, 600, 0));
  ASSERT_TRUE(whole.ok());
  Wish all = wish_of(*b, 600, 0);
  std::vector<float> last;
  for (int at = 0; at < 600; at += 75) {
    Wish piece;
    piece.sequence = *b;
    piece.tokens.assign(all.tokens.begin() + at, all.tokens.begin() + at + 75);
    auto logits = engine->read(piece);
    ASSERT_TRUE(logits.ok());
    last = std::move(logits).value();
  }
  ASSERT_EQ(whole->size(), last.size());
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_NEAR(last[i], (*whole)[i], 0.03);
}

TEST(DecodeEngineTest, EveryOutputEndsWithTheLastOne) {
  const auto engine = make(256);
  const auto a = engine->open(), b = engine->open();
  const auto last = engine->read(wish_of(*a, 20, 0));
  Wish wish = wish_of(*b, 20, 0);
  wish.every_output = true;
  const auto all = engine->read(wish);
  ASSERT_TRUE(last.ok() && all.ok());
  ASSERT_EQ(all->size(), 20 * last->size());
  for (std::size_t i = 0; i < last->size(); ++i) {
    EXPECT_NEAR((*all)[19 * last->size() + i], (*last)[i], 0.03);
  }
}

TEST(DecodeEngineTest, ACancelledWishLeavesItsSequenceAsItWas) {
  const auto engine = make(2048);
  const auto s = engine->open();
  ASSERT_TRUE(engine->read(wish_of(*s, 10, 0)).ok());
  const auto flag = std::make_shared<std::atomic<bool>>(true);
  Wish wish = wish_of(*s, 1500, 10);
  wish.cancelled = flag;
  const auto stopped = engine->read(wish);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, core::ErrorCode::kCancelled);
  EXPECT_EQ(engine->counts().cells_used, 10);
  EXPECT_EQ(engine->counts().cancelled, 1U);
}

TEST(DecodeEngineTest, AWishThatRunsOutOfRoomMidwayGivesItsCellsBack) {
  const auto engine = make(512);
  const auto s = engine->open();
  const auto full = engine->read(wish_of(*s, 600, 0));
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, core::ErrorCode::kExhausted);
  EXPECT_EQ(engine->counts().cells_used, 0);
  EXPECT_TRUE(engine->read(wish_of(*s, 100, 0)).ok());
}

// Many threads append, branch, forget and cancel at once; at the end every cell is free again and
// every answered wish had finite logits.
TEST(DecodeEngineTest, RandomCallersLeaveNothingBehind) {
  constexpr int kCallers = 6, kRounds = 25;
  const auto engine = make(1024);
  std::atomic<int> answered{0};
  std::vector<std::thread> callers;
  callers.reserve(kCallers);
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      core::Rng rng(static_cast<std::uint64_t>(caller) + 1);
      const auto s = engine->open();
      ASSERT_TRUE(s.ok());
      int held = 0;
      for (int i = 0; i < kRounds; ++i) {
        if (held > 120 || rng.between(0, 5) == 0) {
          held = static_cast<int>(rng.between(0, held));
          engine->keep_first(*s, held);
        }
        const int count = static_cast<int>(rng.between(1, 40));
        Wish wish = wish_of(*s, count, held);
        const auto flag = std::make_shared<std::atomic<bool>>(rng.between(0, 6) == 0);
        wish.cancelled = flag;
        const auto logits = engine->read(wish);
        if (!logits.ok()) continue;
        ++answered;
        held += count;
        for (const float x : *logits) ASSERT_TRUE(std::isfinite(x));
        if (rng.between(0, 3) == 0) {
          const auto branch = engine->branch(*s);
          ASSERT_TRUE(branch.ok());
          (void)engine->read(wish_of(*branch, 3, held));
          engine->close(*branch);
        }
      }
      engine->close(*s);
    });
  }
  for (auto& t : callers) t.join();
  EXPECT_GT(answered.load(), kCallers * kRounds / 2);
  EXPECT_EQ(engine->counts().cells_used, 0);
  EXPECT_EQ(engine->counts().sequences, 0);
}

}  // namespace
}  // namespace saccade::engine::native
