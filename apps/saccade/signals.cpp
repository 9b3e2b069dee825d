#include "signals.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>

namespace saccade::app {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

SignalWatcher::SignalWatcher() {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A reader that went away is an error of write(), not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() {
  ending_ = true;
  thread_.join();
}

void SignalWatcher::on_signal(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
  if (requested_ && callback_) callback_();
}

void SignalWatcher::on_hangup(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  hangup_ = std::move(callback);
}

void SignalWatcher::on_tick(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  tick_ = std::move(callback);
}

void SignalWatcher::watch() {
  const sigset_t set = watched_signals();
  constexpr timespec kTick{0, 100'000'000};
  while (!ending_) {
    const int signal = sigtimedwait(&set, nullptr, &kTick);
    const std::lock_guard lock(mutex_);
    if (signal == SIGHUP && hangup_) {
      hangup_();
    } else if (signal > 0) {
      if (requested_) _exit(128 + signal);
      caught_ = signal;
      requested_ = true;
      if (callback_) callback_();
    }
    if (tick_) tick_();
  }
}

}  // namespace saccade::app
