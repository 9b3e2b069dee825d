#pragma once
// A recording to its words, in one of OpenAI's formats.
#include <mutex>
#include <string>

#include "session/shared_models.h"
#include "session/transcribe.h"
#include "transport/serve/memory_file.h"
#include "transport/serve/serve_job.h"
#include "transport/transcribe_request.h"

namespace saccade::transport {

std::string transcript_text(const session::Transcript& transcript, const TranscribeRequest& how);

class TranscribeJob final : public ServeJob {
 public:
  struct Options {
    TranscribeRequest request;  // its `file` is not used
    MemoryFile file;
    session::SharedModels& models;
    core::Rng rng{0};
  };
  TranscribeJob(House house, Caller caller, Options options)
      : ServeJob(house, std::move(caller)), options_(std::move(options)) {}

 private:
  void work() override;
  void on_cancel() override;

  Options options_;
  std::mutex mutex_;  // guards the pointer and what it points to
  session::Session* running_ = nullptr;
};

}  // namespace saccade::transport
