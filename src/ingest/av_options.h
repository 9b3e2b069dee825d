#pragma once
// An FFmpeg dictionary of options that goes when its owner goes.
#include <string>

extern "C" {
#include <libavutil/dict.h>
}

namespace saccade::ingest {

class AvOptions {
 public:
  AvOptions() = default;
  ~AvOptions() { av_dict_free(&dict_); }
  AvOptions(const AvOptions&) = delete;
  AvOptions& operator=(const AvOptions&) = delete;
  void set(const char* key, const std::string& value) {
    av_dict_set(&dict_, key, value.c_str(), 0);
  }
  AVDictionary** get() { return &dict_; }

 private:
  AVDictionary* dict_ = nullptr;
};

}  // namespace saccade::ingest
