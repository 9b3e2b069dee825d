// A decode worker that was taken over, for tests: the first word of the "media" says how it lies.
#include <poll.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

#include "ingest/pass_packet.h"
#include "ingest/worker_protocol.h"
#include "ingest/worker_slots.h"

namespace {

using namespace saccade::ingest;  // NOLINT: a test program

template <typename Message>
void say(const Message& message, int pass_fd = -1) {
  if (!send_packet(kWorkerControlFd, bytes_of(message), Waiting::kBlock, pass_fd)) _exit(1);
}

void wait_for_ever() {
  for (;;) pause();
}

std::string hear_mode() {
  std::array<std::byte, kMessageBytesMax> buffer;
  const Received received =
      receive_packet(kWorkerControlFd, buffer, Waiting::kBlock, Descriptors::kTake);
  char text[64] = {};
  if (pread(received.fd.get(), text, sizeof(text) - 1, 0) <= 0) _exit(1);
  return std::string(text).substr(0, std::string(text).find('\n'));
}

void say_header() {
  say(wire::Hello{});
  wire::Info info;
  info.has_video = info.has_audio = 1;
  info.width = 64;
  info.height = 48;
  say(info);
}

wire::Picture picture_at(WorkerSlots& slots, int width, std::int64_t us) {
  const auto place = slots.hand_over(slots.acquire(width, 48));
  wire::Picture picture;
  picture.region = place->region;
  picture.slot = place->slot;
  picture.width = width;
  picture.height = 48;
  picture.time = {us, 0, 1};
  return picture;
}

void lie_about_pictures(const std::string& mode) {
  say_header();
  WorkerSlots slots(kWorkerControlFd, true);
  wire::Picture picture = picture_at(slots, 64, 0);
  if (mode == "no-such-slot") picture.slot = 8;
  if (mode == "huge-slot") picture.slot = 0xFFFFFFFF;
  if (mode == "no-such-region") picture.region = 7;
  if (mode == "larger-than-slot") picture.width = 16'000;
  if (mode == "negative-size") picture.height = -48;
  if (mode == "endless-time") picture.time.us = std::numeric_limits<std::int64_t>::max();
  if (mode == "negative-time") picture.time.us = -1;
  say(picture);
  if (mode == "slot-twice") {
    picture.time.us = 40'000;
    say(picture);
  }
  if (mode == "time-back") {
    for (const std::int64_t us : {200'000, 100'000, 200'000, 300'000}) {
      say(picture_at(slots, 64, us));
    }
    say(wire::End{});
  }
  if (mode == "growing") {
    for (int i = 1; i < 200; ++i) say(picture_at(slots, 64 + i * 64, i * 40'000));
  }
  wait_for_ever();
}

void lie_about_sound(const std::string& mode) {
  say_header();
  wire::Sound sound;
  sound.count = mode == "long-sound" ? 321 : 320;
  sound.time = {0, 0, 1};
  sound.samples.fill(std::numeric_limits<float>::quiet_NaN());
  sound.samples[1] = 7.0F;
  say(sound);
  say(wire::End{});
  wait_for_ever();
}

void lie(const std::string& mode) {
  if (mode == "gone") _exit(3);
  if (mode == "no-hello") say_header(), say(wire::Hello{});
  if (mode == "garbage") say(std::array<char, 100>{});
  if (mode == "crash") say(wire::Hello{}), std::abort();
  if (mode == "hang") say(wire::Hello{}), wait_for_ever();
  if (mode == "spin") {
    say(wire::Hello{});
    for (volatile int i = 0;;) i = i + 1;
  }
  if (mode == "descriptors") {
    say(wire::Hello{});
    wire::Loss loss;
    loss.count = 1;
    wire::Info info;
    say(info, STDIN_FILENO);
    for (int i = 0; i < 50; ++i) say(loss, STDIN_FILENO);
    say(wire::End{}, STDIN_FILENO);
  }
  if (mode == "escape") {
    say(wire::Hello{});
    wire::Error error;
    error.code = 1;
    error.message = to_text<1024>(
        "\x1b[2Jgone\xc2\x9b"
        "31m\n");
    say(error);
  }
  if (mode == "unknown-code") {
    say(wire::Hello{});
    wire::Error error;
    error.code = 999;
    say(error);
  }
  if (mode == "nan-sound" || mode == "long-sound") lie_about_sound(mode);
  if (mode != "garbage" && mode != "escape") lie_about_pictures(mode);
  wait_for_ever();
}

}  // namespace

int main() {
  std::thread([] {
    pollfd parent{kWorkerControlFd, 0, 0};
    poll(&parent, 1, -1);
    _exit(1);
  }).detach();
  lie(hear_mode());
}
