#pragma once
// All live streams of the server. Making and burying one takes time (a worker starts, threads end),
// so both happen on a thread of the registry; everything else is quick.
// Threads: any. Limits: `running_max` streams that run, and as many ended ones, the newest, for
// kEndedKeptSeconds.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/bounded_queue.h"
#include "transport/serve/live_stream.h"

namespace saccade::transport {

inline constexpr int kEndedKeptSeconds = 600;
inline constexpr std::size_t kRegistryTasksMax = 64;

class StreamRegistry {
 public:
  struct House {
    session::SharedModels& models;
    const core::Clock& clock;
    ServeMetrics& metrics;
  };
  StreamRegistry(House house, std::size_t running_max);
  ~StreamRegistry();
  StreamRegistry(const StreamRegistry&) = delete;
  StreamRegistry& operator=(const StreamRegistry&) = delete;

  using Made = std::function<void(core::Result<std::shared_ptr<LiveStream>>)>;
  // Tells on the registry's thread what came of it. Errors, also at once: kUsage (the id is taken),
  // kExhausted (too many streams), kClosed; later those of LiveStream::start.
  core::Status make(LiveStream::Options options, const Made& made);

  // Null when there is none of this id.
  std::shared_ptr<LiveStream> find(const std::string& id) const;
  std::vector<std::shared_ptr<LiveStream>> list() const;
  // Ends it and forgets it.
  void remove(const std::string& id);
  // Ends all; no more are made.
  void close();

  std::map<std::string, int> count_by_state() const;
  std::size_t readers() const;

 private:
  void finish_make(LiveStream::Options options, const Made& made);
  void sweep();
  void bury(std::vector<std::shared_ptr<LiveStream>> dead);

  const House house_;
  const std::size_t running_max_;
  mutable std::mutex mutex_;                                    // guards both below
  std::map<std::string, std::shared_ptr<LiveStream>> streams_;  // null while it is being made
  bool closed_ = false;
  core::BoundedQueue<std::function<void()>> tasks_{kRegistryTasksMax};
  std::thread thread_;
};

}  // namespace saccade::transport
