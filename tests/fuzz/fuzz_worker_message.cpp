// Any packet from a decode worker that was taken over: it is refused, or everything in it is in
// range and every picture it names lies inside memory that we have made. The input is a row of
// packets, each with its length (two bytes, little-endian) in front.
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "ingest/shared_slots.h"
#include "ingest/timeline.h"
#include "ingest/worker_protocol.h"

namespace {

using namespace saccade;          // NOLINT: a fuzzer is one file
using namespace saccade::ingest;  // NOLINT

constexpr std::size_t kPixelsGrantMax = 1 << 20;  // keeps one run short

void require(bool holds) {
  if (!holds) std::abort();
}

bool plain(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

class Parent {
 public:
  Parent() : control_(std::make_shared<ControlEnd>(make_socket())), lender_(control_) {}

  void take(std::span<const std::byte> packet) {
    auto message = parse_worker_message(packet);
    if (message) std::visit([this](auto& what) { check(what); }, *message);
  }

 private:
  // The other end is closed: what the parent answers is lost, as with a dead worker.
  static Fd make_socket() {
    int ends[2] = {-1, -1};
    require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    const Fd other(ends[1]);
    return Fd(ends[0]);
  }

  void check(const SandboxReport&) {}
  void check(const PushTaken&) {}
  void check(const RunEnded&) {}
  void check(const SourceInfo& info) {
    require(plain(info.container) && plain(info.video_codec) && plain(info.audio_codec));
    require(info.fps >= 0 && info.duration.us() >= 0);
  }
  void check(const SlotsNeeded& needed) {
    const auto pixels =
        static_cast<std::size_t>(needed.width) * static_cast<unsigned>(needed.height);
    require(pixels > 0 && pixels <= core::limits::kPicturePixelsMax);
    if (pixels <= kPixelsGrantMax) require(lender_.grant(needed.width, needed.height).ok());
  }
  void check(FrameSent& sent) {
    Frame frame;
    if (const auto* picture = std::get_if<PictureSent>(&sent.payload)) {
      auto pixels = lender_.take(*picture);
      if (!pixels) return;
      const auto view = pixels->view();
      sum_ = sum_ + view.row(0)[0] + view.row(view.height - 1)[view.width * core::kRgbBytes - 1];
      frame.payload = Picture{std::move(*pixels), false, false};
    } else {
      const auto& samples = std::get<Sound>(sent.payload).samples;
      require(!samples.empty() && samples.size() <= core::limits::kAudioBlockSamples);
      for (const float sample : samples) require(std::fabs(sample) <= 1.0F);
      frame.payload = Sound{};
    }
    frame.time = sent.time;
    frame.duration = sent.duration;
    core::MediaTime& last = frame.picture() != nullptr ? last_picture_ : last_sound_;
    if (timeline_.place(frame, core::SteadyTime{1}) != Timeline::Verdict::kGive) return;
    require(!last.is_set() || (frame.time > last && frame.time.us() >= last.us()));
    last = frame.time;
  }
  void check(const Loss& loss) { require(loss.count > 0); }
  void check(const core::Error& error) { require(plain(error.message) && plain(error.hint)); }

  std::shared_ptr<ControlEnd> control_;
  SlotLender lender_;
  Timeline timeline_;
  core::MediaTime last_picture_, last_sound_;
  volatile int sum_ = 0;  // so that the pixels are really read
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Parent parent;
  auto input = std::as_bytes(std::span(data, size));
  while (input.size() >= 2) {
    const auto length =
        std::to_integer<std::size_t>(input[0]) | std::to_integer<std::size_t>(input[1]) << 8;
    input = input.subspan(2);
    const auto packet = input.first(std::min(length, input.size()));
    parent.take(packet);
    input = input.subspan(packet.size());
  }
  return 0;
}
