#pragma once
// One decode worker: a child process with nothing but a control socket. Its own session (no signals
// from the terminal), no other descriptor of ours, a short environment, standard streams on
// /dev/null. It ends when told, or by itself as soon as our end of the socket is closed, also when
// we are killed.
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/result.h"
#include "ingest/shared_slots.h"

namespace saccade::ingest {

class WorkerProcess {
 public:
  // `path` is executed as `path decode-worker`; empty = this program.
  // Errors: kInternal (cannot be started).
  static core::Result<std::unique_ptr<WorkerProcess>> start(const std::string& path);
  // Kills and reaps.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const std::shared_ptr<ControlEnd>& control() const { return control_; }
  pid_t pid() const { return pid_; }

  // Kills the worker if it still runs and waits for its end; nothing of it is left. How it died,
  // for people: "signal 11 (Segmentation fault)", "exit code 127". Later calls say the same.
  std::string end();

  // Bytes the worker has read so far, a sign of progress. Nothing when the host does not tell.
  std::optional<std::uint64_t> bytes_read() const;

 private:
  WorkerProcess(pid_t pid, Fd control)
      : pid_(pid), control_(std::make_shared<ControlEnd>(std::move(control))) {}

  const pid_t pid_;
  bool ended_ = false;
  std::string death_;
  const std::shared_ptr<ControlEnd> control_;
};

}  // namespace saccade::ingest
