#include "transport/serve/stream_registry.h"

#include <algorithm>
#include <utility>

namespace saccade::transport {

StreamRegistry::StreamRegistry(House house, std::size_t running_max)
    : house_(house), running_max_(running_max), thread_([this] {
        while (const auto task = tasks_.pop()) (*task)();
      }) {}

StreamRegistry::~StreamRegistry() {
  close();
  tasks_.close();
  thread_.join();
}

core::Status StreamRegistry::make(LiveStream::Options options, const Made& made) {
  sweep();
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return core::error(core::ErrorCode::kClosed, "the server is shutting down");
    if (streams_.count(options.id) > 0) {
      return core::error(core::ErrorCode::kUsage, "there is a stream '" + options.id + "' already",
                         "delete it first, or choose another id");
    }
    const auto running = std::count_if(streams_.begin(), streams_.end(), [](const auto& entry) {
      return !entry.second || !entry.second->ended();
    });
    if (static_cast<std::size_t>(running) >= running_max_) {
      return core::error(core::ErrorCode::kExhausted,
                         std::to_string(running) + " streams run, the most there may be",
                         "delete one first");
    }
    streams_.emplace(options.id, nullptr);
  }
  const std::string id = options.id;
  const auto shared = std::make_shared<LiveStream::Options>(std::move(options));
  if (tasks_.try_push([this, shared, made] { finish_make(std::move(*shared), made); })) return {};
  const std::lock_guard lock(mutex_);
  streams_.erase(id);
  return core::error(core::ErrorCode::kExhausted, "too many streams are being made",
                     "come back later");
}

void StreamRegistry::finish_make(LiveStream::Options options, const Made& made) {
  const std::string id = options.id;
  auto stream = LiveStream::start(std::move(options), house_.models, house_.clock, house_.metrics);
  {
    const std::lock_guard lock(mutex_);
    if (stream && !closed_ && streams_.count(id) > 0) {
      streams_[id] = *stream;
    } else {
      streams_.erase(id);
      if (stream) (*stream)->stop();
    }
  }
  made(std::move(stream));
}

std::shared_ptr<LiveStream> StreamRegistry::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<LiveStream>> StreamRegistry::list() const {
  std::vector<std::shared_ptr<LiveStream>> out;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, stream] : streams_) {
    if (stream) out.push_back(stream);
  }
  return out;
}

void StreamRegistry::remove(const std::string& id) {
  std::shared_ptr<LiveStream> stream;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    stream = std::move(found->second);
    streams_.erase(found);
  }
  if (!stream) return;
  stream->stop();
  bury({std::move(stream)});
}

void StreamRegistry::close() {
  std::vector<std::shared_ptr<LiveStream>> all;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const auto& [id, stream] : streams_) {
      if (stream) all.push_back(stream);
    }
  }
  for (const auto& stream : all) stream->stop();
}

// Ended streams stay for a while, so that their last events can be read.
void StreamRegistry::sweep() {
  std::vector<std::shared_ptr<LiveStream>> dead;
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<core::SteadyTime, std::string>> ended;
    for (const auto& [id, stream] : streams_) {
      if (stream && stream->ended()) ended.emplace_back(stream->ended_at(), id);
    }
    std::sort(ended.begin(), ended.end());
    const core::SteadyTime now = house_.clock.now();
    const std::size_t excess = ended.size() > running_max_ ? ended.size() - running_max_ : 0;
    for (std::size_t i = 0; i < ended.size(); ++i) {
      const bool old = core::us_between(ended[i].first, now) > kEndedKeptSeconds * 1'000'000LL;
      if (i >= excess && !old) continue;
      const auto found = streams_.find(ended[i].second);
      dead.push_back(std::move(found->second));
      streams_.erase(found);
    }
  }
  bury(std::move(dead));
}

// Their threads are waited for where nobody waits for us.
void StreamRegistry::bury(std::vector<std::shared_ptr<LiveStream>> dead) {
  if (dead.empty()) return;
  const auto shared = std::make_shared<decltype(dead)>(std::move(dead));
  tasks_.push([shared] { shared->clear(); });
}

std::map<std::string, int> StreamRegistry::count_by_state() const {
  std::map<std::string, int> out = {
      {"connecting", 0}, {"up", 0}, {"stale", 0}, {"failed", 0}, {"ended", 0}};
  for (const auto& stream : list()) ++out[stream->state()];
  return out;
}

std::size_t StreamRegistry::readers() const {
  std::size_t out = 0;
  for (const auto& stream : list()) out += stream->ring()->readers();
  return out;
}

}  // namespace saccade::transport
