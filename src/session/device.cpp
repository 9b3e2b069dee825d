#include "session/device.h"

#include <optional>
#include <utility>

namespace saccade::session {
namespace {

// A Result has no empty state to fill in later, so it is made where the work is done.
template <typename Call>
auto on_device(Device& device, const Call& call) {
  std::optional<decltype(call())> out;
  device.run([&] { out.emplace(call()); });
  return std::move(*out);
}

class LentVision final : public engine::VisionEncoder {
 public:
  LentVision(Device& device, engine::VisionEncoder& model) : device_(device), model_(model) {}
  const engine::VisionTraits& traits() const override { return model_.traits(); }
  core::Result<engine::EncodedViewPtr> encode(const core::PixelView& view,
                                              engine::ViewPlace place) override {
    return on_device(device_, [&] { return model_.encode(view, place); });
  }

 private:
  Device& device_;
  engine::VisionEncoder& model_;
};

class LentLanguage final : public engine::LanguageModel {
 public:
  LentLanguage(Device& device, engine::LanguageModel& model) : device_(device), model_(model) {}
  const engine::LanguageTraits& traits() const override { return model_.traits(); }
  core::Result<engine::Prompt> render(const std::vector<engine::ChatTurn>& turns) override {
    return on_device(device_, [&] { return model_.render(turns); });
  }
  core::Result<std::vector<engine::TokenId>> tokenize(std::string_view text) override {
    return model_.tokenize(text);
  }
  core::Status start(const engine::Prompt& prompt,
                     const engine::SamplingOptions& sampling) override {
    return on_device(device_, [&] { return model_.start(prompt, sampling); });
  }
  void forget() override {
    device_.run([&] { model_.forget(); });
  }
  core::Result<engine::StepResult> step() override {
    return on_device(device_, [&] { return model_.step(); });
  }
  core::Result<std::vector<float>> score_first(
      const std::vector<std::string>& candidates) override {
    return on_device(device_, [&] { return model_.score_first(candidates); });
  }

 private:
  Device& device_;
  engine::LanguageModel& model_;
};

class LentSpeech final : public engine::SpeechModel {
 public:
  LentSpeech(Device& device, engine::SpeechModel& model) : device_(device), model_(model) {}
  core::Result<std::vector<engine::HeardWord>> transcribe(const std::vector<float>& samples,
                                                          const std::string& context) override {
    return on_device(device_, [&] { return model_.transcribe(samples, context); });
  }

 private:
  Device& device_;
  engine::SpeechModel& model_;
};

}  // namespace

struct Device::Lent {
  std::unique_ptr<LentVision> vision;
  std::unique_ptr<LentLanguage> language;
  std::unique_ptr<LentSpeech> speech;
};

Device::Device(Models models) : lent_(std::make_unique<Lent>()) {
  if (models.vision) lent_->vision = std::make_unique<LentVision>(*this, *models.vision);
  if (models.language) lent_->language = std::make_unique<LentLanguage>(*this, *models.language);
  if (models.speech) lent_->speech = std::make_unique<LentSpeech>(*this, *models.speech);
  thread_ = std::thread([this] { loop(); });
}

Device::~Device() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  job_came_.notify_all();
  thread_.join();
}

Device::Models Device::lend() const {
  return {.vision = lent_->vision.get(),
          .language = lent_->language.get(),
          .speech = lent_->speech.get()};
}

void Device::run(const std::function<void()>& work) {
  Job job{.work = &work};
  std::unique_lock lock(mutex_);
  jobs_.push_back(&job);
  job_came_.notify_one();
  job_done_.wait(lock, [&] { return job.done; });
}

void Device::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    job_came_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job* job = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    (*job->work)();
    lock.lock();
    job->done = true;
    job_done_.notify_all();
  }
}

Device::Seat Device::take_seat(const std::string& owner) {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = seats_given_++;
  seat_free_.wait(lock, [&] { return seats_left_ == ticket; });
  Seat seat(this);
  const bool other = seat_owner_ != owner;
  seat_owner_ = owner;
  lock.unlock();
  if (engine::LanguageModel* language = lend().language; other && language) language->forget();
  return seat;
}

void Device::leave_seat() {
  {
    const std::lock_guard lock(mutex_);
    ++seats_left_;
  }
  seat_free_.notify_all();
}

std::size_t Device::waiting() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

}  // namespace saccade::session
