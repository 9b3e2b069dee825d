#pragma once
// Whose Moment the device takes next, and how many at once. A stream that waits keeps no picture
// back: it takes its newest one when its turn comes, so waiting costs rate and not age.
// Fairness: start-time fair queueing (Goyal, Vin, Cheng 1996) by device time used over weight; a
// stream that was away does not save up. Pure bookkeeping, one thread; every choice is
// deterministic (ties go to the lower id).
// Limit: kStreamsMax streams; `join` says false beyond.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace saccade::governor {

using StreamId = std::uint64_t;
inline constexpr std::size_t kStreamsMax = 1024;

class Turns {
 public:
  bool join(StreamId stream, double weight);
  void leave(StreamId stream);  // its running turns count until they are done

  // How many Moments may be on the device at once, >= 1.
  void set_width(int width) { width_ = width < 1 ? 1 : width; }
  int width() const { return width_; }
  int running() const { return running_; }
  int waiting() const { return waiting_; }

  void want(StreamId stream);
  // The waiting stream whose turn it is, when there is room; it waits no more and runs.
  std::optional<StreamId> grant();
  // One of its turns is over and took `ms` of device time.
  void done(StreamId stream, double ms);

 private:
  struct Stream {
    double weight = 1;
    double used = 0;  // virtual time
    bool waits = false;
  };
  std::map<StreamId, Stream> streams_;
  double now_ = 0;  // virtual time of the last grant
  int width_ = 1, running_ = 0, waiting_ = 0;
};

}  // namespace saccade::governor
