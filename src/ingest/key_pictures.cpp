#include "ingest/key_pictures.h"

namespace saccade::ingest {

KeyPictures::Verdict KeyPictures::judge(bool key, std::int64_t time_us, bool keys_only) {
  if (!key) return broken_ ? Verdict::kSkip : Verdict::kDecode;
  const std::int64_t gap_us = last_key_us_ ? time_us - *last_key_us_ : 0;
  last_key_us_ = time_us;
  const bool often = gap_us > 0 && gap_us <= kKeyGapUsMax;
  broken_ = keys_only && often;
  if (!broken_) return Verdict::kDecode;
  const std::int64_t since_us = given_us_ ? time_us - *given_us_ : kKeyStepUs;
  if (since_us >= 0 && since_us < kKeyStepUs) return Verdict::kSkip;
  given_us_ = time_us;
  return Verdict::kDecodeAlone;
}

}  // namespace saccade::ingest
