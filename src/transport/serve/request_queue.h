#pragma once
// Admission: a bounded number of requests wait, a few run, and the rest is told at once to come
// back later. Tenants take turns, so one that sends a thousand requests delays the others by one
// each. What nobody wants any more (deadline passed, client gone) leaves the queue without having
// run. Threads: any may submit and forget; `running` own threads do the work.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/result.h"

namespace saccade::transport {

class RequestQueue {
 public:
  struct Options {
    std::size_t waiting_max = 32;  // of all tenants together
    int running = 2;               // threads
  };
  explicit RequestQueue(Options options, const core::Clock& clock);
  // Waits for what runs; what waits is dropped.
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  // The ticket to forget it by. Errors: kExhausted (full), kClosed (draining).
  core::Result<std::uint64_t> submit(const std::string& tenant, std::function<void()> work);
  // Takes it out if it still waits.
  void forget(std::uint64_t ticket);

  // Would a request be taken now?
  bool has_room() const;
  // No more are taken; those that wait still run.
  void close();

  std::size_t waiting() const;
  std::size_t running() const;
  // When to come back: what waits at the pace of the last minutes, 1..60 s.
  int retry_after_s() const;

 private:
  struct Job {
    std::uint64_t ticket = 0;
    std::function<void()> work;
  };
  void work_loop();
  Job take_next();

  const Options options_;
  const core::Clock& clock_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable came_;
  std::map<std::string, std::deque<Job>> lanes_;  // by tenant; none is empty
  std::string last_lane_;                         // the tenant served last
  std::size_t waiting_ = 0, running_ = 0;
  std::uint64_t next_ticket_ = 1;
  double mean_seconds_ = 1;  // of one request, smoothed
  bool closed_ = false, ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace saccade::transport
