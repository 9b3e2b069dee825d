#pragma once
// One set of weights for many sessions and questions at once. Vision and speech are one each and
// run on the device's thread. What remembers (a text reader, a voice detector, the language model's
// running answer) every borrower gets for itself, opened when first needed and used again
// afterwards; an engine that holds one answer only is shared by turns (device.h).
// Threads: any. Limit: as many of each as there were borrowers at one time.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/result.h"
#include "governor/governor.h"
#include "session/device.h"
#include "session/models.h"
#include "session/session.h"

namespace saccade::session {

class SharedModels {
 public:
  // `loaded` is what `files` gave for the senses this process offers. A picture is encoded once to
  // learn how many tokens a view takes. Errors: those of that encoding.
  static core::Result<std::unique_ptr<SharedModels>> create(LoadedModels loaded, ModelFiles files,
                                                            const core::Clock& clock);

  // Models for one borrower; goes back when destroyed, which must be before the SharedModels are.
  class Loan {
   public:
    Loan(Loan&& other) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan();
    const SessionModels& models() const { return models_; }

   private:
    friend class SharedModels;
    explicit Loan(SharedModels& owner) : owner_(&owner) {}
    struct Forget {
      void operator()(SharedModels*) const {}
    };
    std::unique_ptr<SharedModels, Forget> owner_;  // null once moved from
    std::unique_ptr<perceive::TextReader> reader_;
    std::unique_ptr<perceive::VoiceDetector> voice_;
    std::unique_ptr<engine::LanguageModel> language_;  // null = by turns
    SessionModels models_;
  };
  // `owner`: whose questions they are for (SessionModels). Errors: kUsage (a sense this process was
  // not started with), kModelUnusable.
  core::Result<Loan> lend(const Senses& senses, const std::string& owner);

  const Senses& offers() const { return offers_; }
  const engine::LanguageTraits& language() const;
  engine::LanguageUse language_use() const;
  Device& device() { return device_; }
  // How the live streams share the device.
  governor::Governor& governor() { return governor_; }

 private:
  SharedModels(LoadedModels loaded, ModelFiles files, const core::Clock& clock);
  core::Status lend_senses(const Senses& senses, Loan& loan);
  void lend_language(Loan& loan);
  void give_back(Loan& loan);

  LoadedModels loaded_;
  const ModelFiles files_;
  Senses offers_;
  int view_tokens_ = 0;
  Device device_;
  governor::Governor governor_;

  std::mutex mutex_;  // guards the idle ones
  std::vector<std::unique_ptr<perceive::TextReader>> readers_;
  std::vector<std::unique_ptr<perceive::VoiceDetector>> voices_;
  struct IdleLanguage {
    std::string owner;  // of what it holds
    std::unique_ptr<engine::LanguageModel> model;
  };
  std::vector<IdleLanguage> languages_;  // the one used last is the last
};

}  // namespace saccade::session
