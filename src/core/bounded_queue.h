#pragma once
// Hand-offs between threads. Both are bounded; which one is chosen is a policy, not a detail:
//   BoundedQueue  never drops: audio, questions, events. A full queue makes the producer wait.
//   Mailbox       newest wins: live video frames. A full mailbox replaces and counts.
// Who: any number of producers and consumers. Closing is final, may be done by either side, and
// wakes everybody: producers get `false`, consumers drain what is left and then get nothing.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace saccade::core {

template <typename T>
class BoundedQueue {
 public:
  // `capacity` items at most; 0 is treated as 1.
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {}

  // Waits while full. False when closed; the item is then not taken.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    if (items_.size() > high_water_) high_water_ = items_.size();
    lock.unlock();
    item_.notify_one();
    return true;
  }

  // Never waits. False when full or closed; the item is then not taken.
  bool try_push(T item) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      if (items_.size() >= capacity_) {
        ++refused_;
        return false;
      }
      items_.push_back(std::move(item));
      if (items_.size() > high_water_) high_water_ = items_.size();
    }
    item_.notify_one();
    return true;
  }

  // Waits for an item. Nothing once closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    item_.wait(lock, [&] { return closed_ || !items_.empty(); });
    return take(lock);
  }

  // As pop, but gives up after `wait`; nothing then too.
  std::optional<T> pop_for(std::chrono::microseconds wait) {
    std::unique_lock lock(mutex_);
    item_.wait_for(lock, wait, [&] { return closed_ || !items_.empty(); });
    return take(lock);
  }

  std::optional<T> try_pop() {
    std::unique_lock lock(mutex_);
    return take(lock);
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    item_.notify_all();
    room_.notify_all();
  }

  bool closed_and_empty() const {
    const std::lock_guard lock(mutex_);
    return closed_ && items_.empty();
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  std::size_t capacity() const { return capacity_; }
  std::size_t high_water() const {
    const std::lock_guard lock(mutex_);
    return high_water_;
  }
  // How often try_push found no room.
  std::uint64_t refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

 private:
  std::optional<T> take(std::unique_lock<std::mutex>& lock) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> out(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    room_.notify_one();
    return out;
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable item_, room_;
  std::deque<T> items_;
  std::size_t high_water_ = 0;
  std::uint64_t refused_ = 0;
  bool closed_ = false;
};

// One place for one item; a newer item takes the place of an older one.
template <typename T>
class Mailbox {
 public:
  // Gives back the item that was replaced, so that its drop can be reported. Once closed the new
  // item itself comes back.
  std::optional<T> put(T item) {
    std::optional<T> replaced;
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return std::optional<T>(std::move(item));
      if (item_) {
        replaced = std::move(item_);
        ++replaced_;
      }
      item_ = std::move(item);
    }
    filled_.notify_one();
    return replaced;
  }

  // Waits while full instead of replacing: the same hand-off for sources that can wait (files).
  // False when closed.
  bool put_waiting(T item) {
    std::unique_lock lock(mutex_);
    emptied_.wait(lock, [&] { return closed_ || !item_; });
    if (closed_) return false;
    item_ = std::move(item);
    lock.unlock();
    filled_.notify_one();
    return true;
  }

  // Waits for an item and leaves it there. False once closed and empty.
  bool wait() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || item_.has_value(); });
    return item_.has_value();
  }

  // Waits for an item. Nothing once closed and empty.
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || item_.has_value(); });
    std::optional<T> out = std::exchange(item_, std::nullopt);
    lock.unlock();
    emptied_.notify_one();
    return out;
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    filled_.notify_all();
    emptied_.notify_all();
  }

  // How many items were replaced before anybody took them.
  std::uint64_t replaced() const {
    const std::lock_guard lock(mutex_);
    return replaced_;
  }

 private:
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable filled_, emptied_;
  std::optional<T> item_;
  std::uint64_t replaced_ = 0;
  bool closed_ = false;
};

}  // namespace saccade::core
