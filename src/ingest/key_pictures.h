#pragma once
// Which coded pictures are decoded when their taker wants only those that stand alone: decoding is
// then a tenth of the work or less. Where they come seldom (kKeyGapUsMax), or one cannot tell,
// everything is decoded as ever. Pure; one thread.
#include <cstdint>
#include <optional>

namespace saccade::ingest {

inline constexpr std::int64_t kKeyGapUsMax = 2'500'000;
// Of a source in which every picture stands alone, one in this time is enough.
inline constexpr std::int64_t kKeyStepUs = 400'000;

class KeyPictures {
 public:
  enum class Verdict {
    kDecode,
    kDecodeAlone,  // nothing that follows is needed to show it
    kSkip,
  };
  // Coded pictures in order of the stream. `key`: it stands alone; `time_us`: when it is to be
  // decoded, on any axis. What was left out is needed by all that follow up to the next key.
  Verdict judge(bool key, std::int64_t time_us, bool keys_only);

 private:
  std::optional<std::int64_t> last_key_us_, given_us_;
  bool broken_ = false;  // something was left out since the last key
};

}  // namespace saccade::ingest
