#include "ingest/from_push.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/limits.h"
#include "core/rng.h"

namespace saccade::ingest {
namespace {

namespace limits = core::limits;
using core::ErrorCode;

class HandClock final : public core::Clock {
 public:
  core::SteadyTime now() const override { return {us}; }
  core::WallTime wall_now() const override { return {us}; }
  void sleep_us(std::int64_t more) const override { us += more; }
  mutable std::int64_t us = 0;
};

struct Kept final : PushPort::Listener {
  void on_outcome(const PushOutcome& outcome) override { all.push_back(outcome); }
  void on_change() override { ++changes; }
  std::map<std::uint64_t, int> count() const {
    std::map<std::uint64_t, int> out;
    for (const PushOutcome& outcome : all) ++out[outcome.seq];
    return out;
  }
  std::vector<PushOutcome> all;
  int changes = 0;
};

PushPacket picture(std::uint64_t seq, std::int64_t capture_us = 0) {
  return {.kind = PushKind::kEncoded, .seq = seq, .capture_us = capture_us, .bytes = "x"};
}

PushPacket sound(std::uint64_t seq, int ms) {
  return {.kind = PushKind::kSound,
          .seq = seq,
          .rate = 16'000,
          .bytes = std::string(static_cast<std::size_t>(ms) * 32, '\0')};
}

struct Port {
  explicit Port(double fps = 0) : port(std::make_shared<PushPort>(fps, kept, clock)) {}
  HandClock clock;
  std::shared_ptr<Kept> kept = std::make_shared<Kept>();
  std::shared_ptr<PushPort> port;
  std::uint64_t sender = port->attach();
};

TEST(PushPort, TheNewestPictureWinsAndTheOlderOneIsToldAsBusy) {
  Port p;
  EXPECT_TRUE(p.port->offer(p.sender, picture(1)));
  EXPECT_TRUE(p.port->offer(p.sender, picture(2)));
  auto taken = p.port->take();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->packet.seq, 2U);
  EXPECT_FALSE(p.port->take());
  taken->receipt->settle(PushEnd::kSeen, core::MediaTime::from_us(5));
  taken->receipt->settle(PushEnd::kBusy);  // too late to change anything
  ASSERT_EQ(p.kept->all.size(), 2U);
  EXPECT_EQ(p.kept->all[0].end, PushEnd::kBusy);
  EXPECT_EQ(p.kept->all[1].end, PushEnd::kSeen);
  EXPECT_EQ(p.kept->all[1].time, core::MediaTime::from_us(5));
  const auto losses = p.port->take_losses();
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].kind, LossKind::kBusy);
}

TEST(PushPort, APictureWithoutCreditIsNeverAccepted) {
  Port p;
  std::vector<std::shared_ptr<PushReceipt>> held;
  for (std::uint64_t seq = 1; seq <= limits::kPushPicturesOpen; ++seq) {
    EXPECT_TRUE(p.port->offer(p.sender, picture(seq)));
    held.push_back(p.port->take()->receipt);
  }
  EXPECT_EQ(p.port->granted().pictures, p.port->accepted().pictures);
  EXPECT_TRUE(p.port->offer(p.sender, picture(100)));
  ASSERT_EQ(p.kept->all.size(), 1U);
  EXPECT_EQ(p.kept->all[0].end, PushEnd::kCredit);
  EXPECT_EQ(p.port->accepted().pictures, limits::kPushPicturesOpen);
  held.clear();  // nobody looked: late, and the credit is back
  EXPECT_EQ(p.port->granted().pictures, 2 * limits::kPushPicturesOpen);
}

TEST(PushPort, SoundIsNeverDroppedAndMoreThanTheCreditIsAnError) {
  Port p;
  std::uint64_t seq = 0;
  for (int ms = 0; ms < 4000; ms += 500) EXPECT_TRUE(p.port->offer(p.sender, sound(++seq, 500)));
  EXPECT_EQ(p.port->offer(p.sender, sound(++seq, 20)).error().code, ErrorCode::kExhausted);
  EXPECT_TRUE(p.port->offer(p.sender, picture(seq)));
  EXPECT_EQ(p.port->take()->packet.seq, 1U);  // sound first, in order
  EXPECT_EQ(p.port->granted().sound_us, limits::kPushSoundUsMax + 500'000);
  EXPECT_TRUE(p.port->offer(p.sender, sound(++seq, 500)));
}

TEST(PushPort, NumbersRiseAndTheNewestClientSends) {
  Port p;
  EXPECT_TRUE(p.port->offer(p.sender, picture(7)));
  EXPECT_EQ(p.port->offer(p.sender, picture(7)).error().code, ErrorCode::kUsage);
  const auto second = p.port->attach();
  EXPECT_EQ(p.port->offer(p.sender, picture(8)).error().code, ErrorCode::kClosed);
  EXPECT_TRUE(p.port->offer(second, picture(8)));
  p.port->detach(p.sender);  // the old one leaves: nothing changes
  EXPECT_TRUE(p.port->sends(second));
}

TEST(PushPort, AStreamWithoutAClientIsAbandonedAfterTheGrace) {
  Port p;
  p.clock.us = 10 * limits::kPushGraceUs;
  EXPECT_FALSE(p.port->abandoned());
  p.port->detach(p.sender);
  p.clock.us += limits::kPushGraceUs - 1;
  EXPECT_FALSE(p.port->abandoned());
  p.clock.us += 1;
  EXPECT_TRUE(p.port->abandoned());
  p.port->attach();
  EXPECT_FALSE(p.port->abandoned());
}

TEST(PushPort, TheRateIsThatOfTheClientsClock) {
  Port p(5);
  int taken = 0;
  for (std::uint64_t seq = 1; seq <= 300; ++seq) {  // 30 a second for ten seconds
    EXPECT_TRUE(p.port->offer(p.sender, picture(seq, static_cast<std::int64_t>(seq) * 33'333)));
    if (p.port->take()) ++taken;
  }
  EXPECT_NEAR(taken, 50, 1);
  EXPECT_TRUE(p.port->offer(p.sender, picture(301, 0)));  // a clock set back does not end it
  EXPECT_TRUE(p.port->take());
}

TEST(PushPort, AfterTheEndWhatWaitsIsStillServed) {
  Port p;
  EXPECT_TRUE(p.port->offer(p.sender, picture(1)));
  p.port->finish();
  EXPECT_EQ(p.port->offer(p.sender, picture(2)).error().code, ErrorCode::kClosed);
  EXPECT_FALSE(p.port->finished());
  EXPECT_TRUE(p.port->take());
  EXPECT_TRUE(p.port->finished());
}

// Clients that obey and clients that do not, that leave and come back, rooms that look, drop and
// forget, a stream that ends anywhere: every accepted picture has exactly one outcome, every
// refused one exactly the refusal, and no client that obeys is ever refused.
TEST(PushPort, ExactlyOneOutcomeWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    core::Rng rng(seed);
    Port p(rng.next() % 2 == 0 ? 0 : 5);
    const bool obeys = rng.next() % 2 == 0;
    std::vector<std::shared_ptr<PushReceipt>> held;
    std::uint64_t seq = 0, sent = 0;
    std::int64_t capture_us = 0;
    for (int step = 0; step < 300; ++step) {
      const auto draw = rng.next() % 100;
      if (draw < 50) {
        if (obeys && p.port->accepted().pictures >= p.port->granted().pictures) continue;
        capture_us += static_cast<std::int64_t>(rng.next() % 100'000);
        ++sent;
        EXPECT_TRUE(p.port->offer(p.sender, picture(++seq, capture_us)));
      } else if (draw < 75) {
        if (auto taken = p.port->take()) held.push_back(std::move(taken->receipt));
      } else if (draw < 95 && !held.empty()) {
        const auto at = static_cast<std::ptrdiff_t>(rng.next() % held.size());
        if (draw < 90) held[static_cast<std::size_t>(at)]->settle(PushEnd::kSeen);
        held.erase(held.begin() + at);
      } else if (draw >= 98) {
        p.port->detach(p.sender);
        p.sender = p.port->attach();
      }
    }
    p.port->close();
    held.clear();
    std::uint64_t refused = 0;
    for (const PushOutcome& outcome : p.kept->all) refused += outcome.end == PushEnd::kCredit;
    for (const auto& [number, times] : p.kept->count()) EXPECT_EQ(times, 1) << number << seed;
    EXPECT_EQ(p.kept->count().size(), sent) << seed;
    EXPECT_EQ(p.port->accepted().pictures + refused, sent) << seed;
    EXPECT_TRUE(refused == 0 || !obeys) << seed;
  }
}

}  // namespace
}  // namespace saccade::ingest
