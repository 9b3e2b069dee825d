#pragma once
// Joins pictures and sound on one media axis into Moments. Deterministic: the same frames, promises
// and ticks in the same order give the same Moments; nothing here waits or has a thread.
//
// One axis. Pictures keep their stamps; sound is re-stamped onto the picture axis by the measured
// difference of the two clocks (ClockRule), so everything after this room may compare stamps.
//
// Which sound goes where. A picture's Moment takes all sound up to the picture, and up to the
// nearest block when that one is later but inside `window`. Sound that finds no picture for
// `sound_moment` + `lateness` makes a Moment without picture, so sparse pictures never hold it up;
// where no pictures are expected, every `sound_moment` of sound makes one.
//
// Waiting. Each kind has a watermark: its newest stamp less `reorder`, or what advance() promised.
// A Moment is given out when the watermarks say that nothing nearer can come. A kind that is more
// than `lateness` behind the other is not waited for; tick() says the same by the clock.
// Frames that come inside these bounds give the same Moments in whatever order they come (stamps
// believed; with measured clocks the arrival times are themselves an input).
//
// Late data. A picture not newer than the last one given out is dropped and counted (take_late).
// Sound is never dropped: late sound goes into the next Moment with its own stamp.
//
// A new epoch gives out everything held, then starts anew; its first Moment says `discontinuity`.
//
// Limits. At most kPicturesHeld pictures (kPicturesHeldLarge above 4 megapixels: fewer than ingest
// has slots, or the source would wait for us while we wait for it) and limits::kAlignPendingMax
// blocks. When full the oldest Moment is given out without further waiting.
// Threads: none of its own; one caller at a time.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "align/align_types.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/result.h"

namespace saccade::align {

enum class SourceKind { kVideo, kAudio };

// What the stamps of the two kinds are worth against each other.
enum class ClockRule {
  kStamps,   // recorded: both kinds are stamped by one exact axis; nothing is corrected
  kDrift,    // one live source: they agree at the start, then two clocks run apart slowly
  kArrival,  // two live sources: only arrival times say what belongs together
  // With kDrift and kArrival, sender wall times are used instead once both kinds carry them.
};

struct AlignOptions {
  core::MediaDuration window = core::MediaDuration::from_us(core::limits::kJoinWindowUs);  // 0..1 s
  core::MediaDuration lateness = core::MediaDuration::from_ms(200);  // 0..10 s
  core::MediaDuration reorder;  // one kind's stamps may be out of order by this; 0..10 s, ingest: 0
  core::MediaDuration sound_moment = core::MediaDuration::from_ms(200);  // 20 ms..10 s
  bool has_video = true, has_audio = true;  // which kinds to wait for; others are taken as well
  ClockRule clocks = ClockRule::kStamps;
};

// kUsage with the field and its range when an option is outside of it.
core::Status check(const AlignOptions& options);

class Aligner {
 public:
  static constexpr std::size_t kPicturesHeld = core::limits::kFrameSlots - 2;
  static constexpr std::size_t kPicturesHeldLarge = core::limits::kFrameSlotsLarge - 2;

  // `options` must pass check(). `clock` must outlive the aligner; it only fills the ledger.
  Aligner(const AlignOptions& options, const core::Clock& clock);
  ~Aligner();
  Aligner(Aligner&&) noexcept;

  // Takes one frame. Moments made from now on carry `knobs`.
  std::vector<Moment> push(ingest::Frame frame, const core::KnobsPtr& knobs);
  // Promises that `kind` has nothing more before `watermark`: for sources that say how far they
  // are without having a frame. A promise of another epoch is ignored.
  std::vector<Moment> advance(SourceKind kind, core::MediaTime watermark);
  // For live sources, about every 20 ms: gives out what has waited here for `lateness` by `now`.
  std::vector<Moment> tick(core::SteadyTime now);
  // `kind` is not waited for any more, until it sends again.
  std::vector<Moment> source_ended(SourceKind kind);
  // Gives out everything held. The aligner goes on afterwards.
  std::vector<Moment> flush();

  // Pictures dropped as late since the last call: the newest one's time and how many.
  std::optional<ingest::Loss> take_late();
  // How far sound stamps are being moved to meet the pictures; 0 while unknown.
  core::MediaDuration clock_skew() const;
  // Wall time of the axis as the sender gave it; nothing when it does not.
  std::optional<core::WallMapping> wall() const;
  // Pictures and blocks held now.
  std::size_t pending() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::align
