#include "ingest/key_pictures.h"

#include <gtest/gtest.h>

#include <string>

namespace saccade::ingest {
namespace {

using Verdict = KeyPictures::Verdict;

// One letter a picture, ten pictures a second: k = key, p = other, K and P the same while only keys
// are wanted. Gives d = decoded, a = decoded alone, . = skipped.
std::string judged(const std::string& stream, KeyPictures keys = {}) {
  std::string out;
  std::int64_t time_us = 5'000'000;
  for (const char c : stream) {
    const bool key = c == 'k' || c == 'K', only = c == 'K' || c == 'P';
    const Verdict verdict = keys.judge(key, time_us, only);
    out += verdict == Verdict::kDecode ? 'd' : verdict == Verdict::kSkip ? '.' : 'a';
    time_us += 100'000;
  }
  return out;
}

TEST(KeyPictures, EverythingIsDecodedUntilItIsAskedForLess) {
  EXPECT_EQ("dddddddd", judged("kpppkppp"));
}

TEST(KeyPictures, FromTheNextKeyOnOnlyKeysAndBackAgain) {
  EXPECT_EQ("dddddddda.....a.....a", judged("kppppppPKPPPPPKPPPPPK"));
  EXPECT_EQ("ddddddda......dddddd", judged("kppppppKPPPPppkppppp"))
      << "what was left out is missing up to the next key";
}

TEST(KeyPictures, SeldomKeysAreNoReasonToSkip) {
  const std::string seldom = "K" + std::string(30, 'P');
  EXPECT_EQ(std::string::npos, judged(seldom + seldom + seldom).find('.'));
}

TEST(KeyPictures, TheFirstKeyTellsNothing) { EXPECT_EQ("ddddddda", judged("KPPPPPPK")); }

TEST(KeyPictures, WhereEveryPictureIsAKeySomeAreEnough) {
  EXPECT_EQ("da...a...a...", judged("KKKKKKKKKKKKK"));
}

TEST(KeyPictures, AClockThatJumpsTellsNothing) {
  KeyPictures keys;
  EXPECT_EQ(Verdict::kDecode, keys.judge(true, 1'000'000, true));
  EXPECT_EQ(Verdict::kDecodeAlone, keys.judge(true, 2'000'000, true));
  EXPECT_EQ(Verdict::kDecode, keys.judge(true, 100'000, true));
  EXPECT_EQ(Verdict::kDecodeAlone, keys.judge(true, 1'100'000, true));
  EXPECT_EQ(Verdict::kDecode, keys.judge(true, 900'000'000, true));
}

}  // namespace
}  // namespace saccade::ingest
