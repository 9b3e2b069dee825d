#pragma once
// For tests of sources: opens one on a real (or lying) worker and keeps what it gives.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "ingest/source_process.h"

namespace saccade::ingest {

SourceOptions with_real_worker(const std::string& url);
SourceOptions with_lying_worker(const std::string& url);

struct SourceRun {
  std::vector<Frame> pictures, sounds;  // pictures keep their pixels only if asked for
  std::vector<StateChange> states;
  std::vector<Loss> losses;
  std::optional<SourceInfo> info;
  std::optional<core::Error> error;  // the final one
  bool ended = false;                // EndOfSource came

  std::uint64_t lost(LossKind kind) const;
  std::vector<SourceState> state_list() const;
  // Times rise strictly per kind inside an epoch; epochs and seconds never fall.
  bool well_formed() const;
};

struct RunOptions {
  double seconds_max = 20;
  bool keep_pixels = false;
  // Called after each item; true = enough.
  std::function<bool(const SourceRun&)> until = {};
};

// Takes items until the source's final error, `until`, or the time is up.
void run_source(Source& source, SourceRun& run, const RunOptions& options = {});

core::SystemClock& test_clock();
// Fails the test when the source cannot be opened.
std::unique_ptr<SourceProcess> open_source(SourceOptions options);

int open_descriptors();
int child_processes();

}  // namespace saccade::ingest
