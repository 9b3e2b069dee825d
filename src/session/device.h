#pragma once
// The one thread that touches the shared models, and the turns that many sessions and questions
// take on it. Vision, speech and each single language step are jobs of their own, so an encode of
// one session runs between two tokens of another; the language model remembers one answer at a
// time, so whoever answers holds the seat from the first step to the last.
// Threads: any may lend, call lent models and take seats; each waits for its own job. Jobs and
// seats are served in the order they came. Limit: one waiting job per calling thread.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "engine/language_model.h"
#include "engine/speech_model.h"
#include "engine/vision_encoder.h"

namespace saccade::session {

class Device {
 public:
  // Borrowed; null ones are lent as null. They must outlive the device.
  struct Models {
    engine::VisionEncoder* vision = nullptr;
    engine::LanguageModel* language = nullptr;
    engine::SpeechModel* speech = nullptr;
  };
  explicit Device(Models models);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Stand-ins that run on the device thread; they live as long as the device.
  Models lend() const;

  // Runs `work` on the device thread and waits for its end. Not from the device thread itself.
  void run(const std::function<void()>& work);

  // The exclusive right to the language model's running answer, until it is destroyed.
  class Seat {
   public:
    Seat() = default;
    explicit Seat(Device* device) : device_(device) {}
    Seat(Seat&& other) noexcept : device_(std::exchange(other.device_, nullptr)) {}
    Seat& operator=(Seat&& other) = delete;
    ~Seat() {
      if (device_) device_->leave_seat();
    }

   private:
    Device* device_ = nullptr;
  };
  // What the model still holds of another owner's answers is forgotten first.
  Seat take_seat(const std::string& owner);

  // Jobs that wait now.
  std::size_t waiting() const;

 private:
  struct Job {
    const std::function<void()>* work;
    bool done = false;
  };
  struct Lent;

  void loop();
  void leave_seat();

  std::unique_ptr<Lent> lent_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable job_came_, job_done_, seat_free_;
  std::deque<Job*> jobs_;
  std::uint64_t seats_given_ = 0, seats_left_ = 0;  // tickets: a seat is free for the next in line
  std::string seat_owner_;                          // the last one's
  bool ending_ = false;
  std::thread thread_;
};

// How one borrower comes to the seat. Without a device the model is its alone.
struct Seating {
  Device* device = nullptr;
  std::string owner;  // see SessionModels

  Device::Seat take() const { return device ? device->take_seat(owner) : Device::Seat(); }
};

}  // namespace saccade::session
