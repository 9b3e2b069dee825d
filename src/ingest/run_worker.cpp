// The decode worker's life: hear what to read, lock itself in, read, say what it found. One thread
// does all of it; a second one only waits for the parent's end, so that no worker outlives it.
// (Not PR_SET_PDEATHSIG: that fires when the *thread* that started the worker ends.)
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <variant>

#include "ingest/ingest.h"
#include "ingest/media_reader.h"
#include "ingest/pass_packet.h"
#include "ingest/worker_protocol.h"
#include "ingest/worker_slots.h"

namespace saccade::ingest {
namespace {

constexpr int kDone = 0, kNoParent = 1;

struct Job {
  ReaderOptions reader;
  SandboxOptions sandbox;
  bool waits = true;
  Fd passed;
};

std::optional<Job> hear_job(int control) {
  // On the heap: it is the largest message, and it holds credentials for as long as needed only.
  auto buffer = std::make_unique<std::array<std::byte, kMessageBytesMax>>();
  Received received = receive_packet(control, *buffer, Waiting::kBlock, Descriptors::kTake);
  const auto open = read_as<wire::Open>(std::span<const std::byte>(*buffer).first(received.bytes));
  if (!open || (open->has_fd != 0) != static_cast<bool>(received.fd)) return std::nullopt;
  Job job;
  job.passed = std::move(received.fd);
  job.waits = open->waits != 0;
  job.sandbox.policy = static_cast<SandboxPolicy>(open->policy);
  job.reader.url = from_text(open->url);
  job.reader.name = from_text(open->name);
  const bool recorded = job.sandbox.policy == SandboxPolicy::kRecorded;
  (recorded ? job.reader.fd : job.reader.tls_ca_fd) = job.passed.get();
  job.reader.tls_insecure = open->tls_insecure != 0;
  job.reader.push = open->push != 0;
  job.reader.live = open->live != 0;
  job.reader.udp = open->udp != 0;
  job.reader.want_video = open->want_video != 0;
  job.reader.want_audio = open->want_audio != 0;
  job.reader.fps = open->fps;
  job.reader.scene_cuts = open->scene_cuts != 0;
  job.reader.animation_frames_max = open->animation_frames_max;
  job.reader.matte = open->matte;
  job.reader.open_timeout = std::chrono::milliseconds(open->open_timeout_ms);
  if (job.sandbox.policy == SandboxPolicy::kDevice) job.sandbox.device_path = job.reader.url;
  return job;
}

void end_with_parent(int control) {
  std::thread([control] {
    pollfd parent{control, 0, 0};
    while (poll(&parent, 1, -1) < 0 && errno == EINTR) {
    }
    _exit(kNoParent);
  }).detach();
}

class Worker {
 public:
  Worker(int control, bool waits) : control_(control), slots_(control, waits) {}

  int run(ReaderOptions options) {
    auto reader = MediaReader::open(std::move(options), slots_, clock_);
    if (!reader) return fail(reader.error());
    bool more = say(to_wire((*reader)->info()));
    while (more) {
      auto item = (*reader)->read();
      if (!item) return fail(item.error());
      if (std::holds_alternative<EndOfSource>(*item)) {
        return say(wire::End{}) ? kDone : kNoParent;
      }
      more = std::visit([this](const auto& what) { return tell(what); }, *item);
    }
    return kNoParent;
  }

 private:
  template <typename Message>
  bool say(const Message& message) {
    return send_packet(control_, bytes_of(message), Waiting::kBlock);
  }

  int fail(const core::Error& error) { return say(to_wire(error)) ? kDone : kNoParent; }

  bool tell(const ReadPicture& picture) {
    const auto place = slots_.hand_over(picture.slot);
    if (!place) return false;
    wire::Picture message;
    message.region = place->region;
    message.slot = place->slot;
    message.width = picture.width;
    message.height = picture.height;
    message.time = to_wire(picture.time);
    message.duration_us = std::max<std::int64_t>(picture.duration.us(), 0);
    message.captured_us = clock_.now().us;
    message.wall = to_wire(picture.wall);
    message.scene_cut = picture.scene_cut;
    message.interlaced = picture.interlaced;
    return say(message);
  }
  bool tell(const ReadSound& sound) { return say(to_wire(sound, clock_.now())); }
  bool tell(const Loss& loss) { return say(to_wire(loss)); }
  bool tell(const PushTaken& /*taken*/) { return say(wire::Taken{}); }
  bool tell(const EndOfSource& /*end*/) { return false; }  // handled by run

  const int control_;
  core::SystemClock clock_;
  WorkerSlots slots_;
};

}  // namespace

int run_decode_worker(int control_fd) {
  auto job = hear_job(control_fd);
  if (!job) return kNoParent;
  const SandboxReport report = enter_sandbox(job->sandbox);
  if (!send_packet(control_fd, bytes_of(to_wire(report)), Waiting::kBlock)) return kNoParent;
  end_with_parent(control_fd);
  return Worker(control_fd, job->waits).run(std::move(job->reader));
}

}  // namespace saccade::ingest
