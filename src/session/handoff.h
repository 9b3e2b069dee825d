#pragma once
// The hand-off between two layers. Recorded sources wait for their consumer, so every chosen
// picture is answered; sources at the clock's pace let the newest win, so frame age stays flat, and
// each loss is told.
#include <functional>
#include <utility>

#include "core/bounded_queue.h"

namespace saccade::session {

template <typename T>
class Handoff {
 public:
  // `on_drop` is called by the producer with each item that was replaced.
  Handoff(bool newest_wins, std::function<void(const T&)> on_drop)
      : newest_wins_(newest_wins), on_drop_(std::move(on_drop)) {}

  void put(T item) {
    if (!newest_wins_) {
      box_.put_waiting(std::move(item));
    } else if (const auto dropped = box_.put(std::move(item))) {
      on_drop_(*dropped);
    }
  }
  bool wait() { return box_.wait(); }
  std::optional<T> take() { return box_.take(); }
  void close() { box_.close(); }

 private:
  const bool newest_wins_;
  const std::function<void(const T&)> on_drop_;
  core::Mailbox<T> box_;
};

}  // namespace saccade::session
