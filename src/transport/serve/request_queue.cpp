#include "transport/serve/request_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace saccade::transport {
namespace {

constexpr int kRetryAfterSecondsMax = 60;
constexpr double kSmoothing = 0.2;  // weight of the newest duration

}  // namespace

RequestQueue::RequestQueue(Options options, const core::Clock& clock)
    : options_(options), clock_(clock) {
  for (int i = 0; i < options_.running; ++i) {
    threads_.emplace_back([this] { work_loop(); });
  }
}

RequestQueue::~RequestQueue() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = ending_ = true;
  }
  came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

core::Result<std::uint64_t> RequestQueue::submit(const std::string& tenant,
                                                 std::function<void()> work) {
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      return core::error(core::ErrorCode::kClosed, "the server is shutting down",
                         "ask another one");
    }
    if (waiting_ >= options_.waiting_max) {
      return core::error(core::ErrorCode::kExhausted,
                         std::to_string(waiting_) + " requests are waiting, the most there may be",
                         "come back later");
    }
    ticket = next_ticket_++;
    lanes_[tenant].push_back({ticket, std::move(work)});
    ++waiting_;
  }
  came_.notify_one();
  return ticket;
}

void RequestQueue::forget(std::uint64_t ticket) {
  Job dropped;  // dies after the lock: its end may come back here
  const std::lock_guard lock(mutex_);
  for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane) {
    std::deque<Job>& jobs = lane->second;
    const auto found = std::find_if(jobs.begin(), jobs.end(),
                                    [&](const Job& job) { return job.ticket == ticket; });
    if (found == jobs.end()) continue;
    dropped = std::move(*found);
    jobs.erase(found);
    --waiting_;
    if (jobs.empty()) lanes_.erase(lane);
    return;
  }
}

RequestQueue::Job RequestQueue::take_next() {
  auto lane = lanes_.upper_bound(last_lane_);
  if (lane == lanes_.end()) lane = lanes_.begin();
  last_lane_ = lane->first;
  Job job = std::move(lane->second.front());
  lane->second.pop_front();
  if (lane->second.empty()) lanes_.erase(lane);
  --waiting_;
  return job;
}

void RequestQueue::work_loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    came_.wait(lock, [&] { return ending_ || !lanes_.empty(); });
    if (ending_) return;
    Job job = take_next();
    ++running_;
    lock.unlock();
    const core::SteadyTime began = clock_.now();
    job.work();
    job.work = nullptr;
    const double seconds = core::ms_between(began, clock_.now()) / 1e3;
    lock.lock();
    --running_;
    mean_seconds_ += kSmoothing * (seconds - mean_seconds_);
  }
}

bool RequestQueue::has_room() const {
  const std::lock_guard lock(mutex_);
  return !closed_ && waiting_ < options_.waiting_max;
}

void RequestQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

std::size_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

std::size_t RequestQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

int RequestQueue::retry_after_s() const {
  const std::lock_guard lock(mutex_);
  const double seconds =
      mean_seconds_ * static_cast<double>(waiting_ + running_) / std::max(1, options_.running);
  return std::clamp(static_cast<int>(std::ceil(seconds)), 1, kRetryAfterSecondsMax);
}

}  // namespace saccade::transport
