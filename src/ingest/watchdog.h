#pragma once
// Tells a healthy live source from a silent or a frozen one. Pure: the time is handed in.
// Silent: nothing usable for `limit`. Frozen: the same picture for `limit`, from a source that
// could not have sent the same picture twice. A still scene is no fault: a screen, a slide or a
// cleanly compressed wall may repeat itself for hours. So identical pictures count only after the
// source has proved itself noisy: kNoisyPairs pictures in a row, each of which differed from the
// one before it in nearly all parts of the frame, as a sensor's noise does and a screen's content
// does not. When twice the limit has passed either way, the connection is given up (kDead); the
// proof must then be made again, so that a wrong verdict costs one reconnect, never a loop of them.
#include <array>
#include <cstdint>

#include "core/clock.h"
#include "core/pixels.h"

namespace saccade::ingest {

// One number per part of a 4 x 4 grid, from a sample of its rows.
using PictureSignature = std::array<std::uint64_t, 16>;
PictureSignature sign_picture(const core::PixelView& picture);

enum class Health { kFine, kSilent, kFrozen, kDead };

class Watchdog {
 public:
  static constexpr int kNoisyPairs = 25;     // 5 s at the default rate
  static constexpr int kNoisyPartsMin = 14;  // of 16

  explicit Watchdog(std::int64_t limit_us) : limit_us_(limit_us) {}

  // A connection begins.
  void start(core::SteadyTime now);
  void saw_picture(core::SteadyTime now, const PictureSignature& signature);
  // Something else that proves that the source works: sound of a source without pictures, or a
  // picture that was dropped because nobody had room for it.
  void saw_life(core::SteadyTime now) { alive_at_ = now; }

  Health health(core::SteadyTime now) const;
  // The next instant at which health() may get worse by itself.
  core::SteadyTime next_check(core::SteadyTime now) const;

 private:
  std::int64_t limit_us_;
  core::SteadyTime alive_at_;    // last sign of life
  core::SteadyTime changed_at_;  // last picture unlike the one before it
  PictureSignature last_{};
  bool has_last_ = false;
  bool repeated_ = false;  // the last picture came more than once
  int noisy_pairs_ = 0;    // in a row, up to the last picture that changed
};

}  // namespace saccade::ingest
