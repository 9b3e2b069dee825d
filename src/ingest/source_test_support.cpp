#include "ingest/source_test_support.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace saccade::ingest {
namespace {

bool rises(const std::vector<Frame>& frames) {
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const core::MediaTime before = frames[i - 1].time, now = frames[i].time;
    if (now <= before || now.us() < before.us()) return false;
  }
  return true;
}

}  // namespace

SourceOptions with_real_worker(const std::string& url) {
  SourceOptions options;
  options.url = url;
  options.worker_path = SACCADE_DECODE_WORKER;
  return options;
}

SourceOptions with_lying_worker(const std::string& url) {
  SourceOptions options = with_real_worker(url);
  options.worker_path = SACCADE_LYING_WORKER;
  options.watchdog = std::chrono::milliseconds(100);
  return options;
}

std::uint64_t SourceRun::lost(LossKind kind) const {
  std::uint64_t sum = 0;
  for (const Loss& loss : losses) sum += loss.kind == kind ? loss.count : 0;
  return sum;
}

std::vector<SourceState> SourceRun::state_list() const {
  std::vector<SourceState> out;
  for (const StateChange& change : states) out.push_back(change.state);
  return out;
}

bool SourceRun::well_formed() const { return rises(pictures) && rises(sounds); }

void run_source(Source& source, SourceRun& run, const RunOptions& options) {
  const core::SteadyTime end{test_clock().now().us +
                             static_cast<std::int64_t>(options.seconds_max * 1e6)};
  while (test_clock().now() < end && !(options.until && options.until(run))) {
    auto item = source.next(std::chrono::milliseconds(50));
    if (!item) {
      if (item.error().code == core::ErrorCode::kTimeout) continue;
      run.error = item.error();
      return;
    }
    if (auto* frame = std::get_if<Frame>(&*item)) {
      if (frame->sound() != nullptr) {
        run.sounds.push_back(std::move(*frame));
      } else {
        auto& picture = std::get<Picture>(frame->payload);
        if (!options.keep_pixels) picture.pixels.data.reset();
        run.pictures.push_back(std::move(*frame));
      }
    } else if (auto* state = std::get_if<StateChange>(&*item)) {
      run.states.push_back(*state);
    } else if (auto* loss = std::get_if<Loss>(&*item)) {
      run.losses.push_back(*loss);
    } else if (auto* info = std::get_if<SourceInfo>(&*item)) {
      run.info = *info;
    } else {
      run.ended = true;
    }
  }
}

core::SystemClock& test_clock() {
  static core::SystemClock clock;
  return clock;
}

std::unique_ptr<SourceProcess> open_source(SourceOptions options) {
  auto source = Source::open(std::move(options), test_clock(), core::Rng(1));
  EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.error().message);
  if (!source.ok()) return nullptr;
  return std::unique_ptr<SourceProcess>(static_cast<SourceProcess*>(source->release()));
}

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

int child_processes() {
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  int count = 0;
  for (std::string pid; children >> pid;) ++count;
  return count;
}

}  // namespace saccade::ingest
