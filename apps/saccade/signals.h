#pragma once
// SIGINT, SIGTERM and SIGHUP as a polite request: a thread waits for them and calls back. A second
// one ends the process at once. A server takes SIGHUP to read its policies again instead. Must be
// made before any other thread, which then inherit the blocked signals.
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace saccade::app {

class SignalWatcher {
 public:
  SignalWatcher();
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  // Called once, on the watcher's thread, at the first signal (at once when it has come already).
  // An empty function takes the callback away; it is then not running any more.
  void on_signal(std::function<void()> callback);
  // SIGHUP calls this and ends nothing, each time. As above.
  void on_hangup(std::function<void()> callback);
  // Called about ten times per second on the watcher's thread; for progress. As above.
  void on_tick(std::function<void()> callback);

  // 0, or the number of the signal that came.
  int caught() const { return caught_; }
  const std::atomic<bool>& requested() const { return requested_; }

 private:
  void watch();

  std::atomic<bool> requested_{false}, ending_{false};
  std::atomic<int> caught_{0};
  std::mutex mutex_;  // guards the callbacks and is held while they run
  std::function<void()> callback_, hangup_, tick_;
  std::thread thread_;
};

}  // namespace saccade::app
