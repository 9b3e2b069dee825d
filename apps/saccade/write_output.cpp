#include "write_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "emit/write_cues.h"
#include "transport/event_json.h"

namespace saccade::app {

namespace {

constexpr std::size_t kBufferBytes = 64 << 10;

// A file beside the wanted one, renamed over it at the end.
class PendingFile {
 public:
  static core::Result<std::unique_ptr<PendingFile>> create(const std::string& path) {
    const std::filesystem::path wanted(path);
    std::string name = (wanted.parent_path() / ("." + wanted.filename().string())).string();
    name += ".XXXXXX";
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    std::error_code why;
    if (fd < 0 || std::filesystem::is_directory(path, why)) {
      const std::string reason = fd < 0 ? std::strerror(errno) : "it is a folder";
      if (fd >= 0) {
        ::close(fd);
        ::unlink(name.c_str());
      }
      return core::error(core::ErrorCode::kUsage, "cannot write " + path + ": " + reason,
                         "give --out a file in a folder that exists and may be written");
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(fd, 0666 & ~mask);
    return std::unique_ptr<PendingFile>(new PendingFile(fd, std::move(name), path));
  }
  ~PendingFile() {
    ::close(fd_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  // After the first failure nothing more is written; commit tells it.
  void write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBufferBytes) flush();
  }
  core::Status commit() {
    flush();
    if (failed_ == 0 && ::fsync(fd_) != 0 && errno != EINVAL) failed_ = errno;
    if (failed_ == 0 && ::rename(name_.c_str(), path_.c_str()) != 0) failed_ = errno;
    if (failed_ != 0) {
      return core::error(core::ErrorCode::kExhausted,
                         "cannot write " + path_ + ": " + std::strerror(failed_),
                         "free space or rights there");
    }
    name_.clear();
    return {};
  }

 private:
  PendingFile(int fd, std::string name, std::string path)
      : fd_(fd), name_(std::move(name)), path_(std::move(path)) {}

  void flush() {
    for (std::string_view rest = buffer_; failed_ == 0 && !rest.empty();) {
      const ssize_t n = ::write(fd_, rest.data(), rest.size());
      if (n < 0 && errno != EINTR) failed_ = errno;
      if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
    }
    buffer_.clear();
  }

  const int fd_;
  std::string name_;
  const std::string path_;
  std::string buffer_;
  int failed_ = 0;
};

class JsonLinesFile final : public OutputFile {
 public:
  explicit JsonLinesFile(std::unique_ptr<PendingFile> file) : file_(std::move(file)) {}
  void on_event(const emit::Event& event) override {
    file_->write(transport::to_json(event) + "\n");
  }
  core::Status finish() override { return file_->commit(); }

 private:
  std::unique_ptr<PendingFile> file_;
};

// Subtitles: what was said, seen, read and raised. One lane per voice; a text line is its own lane.
class CueFile final : public OutputFile {
 public:
  CueFile(std::unique_ptr<PendingFile> file, emit::CueFormat format, std::string path)
      : file_(std::move(file)), format_(format), path_(std::move(path)) {}

  void on_event(const emit::Event& event) override {
    using emit::EventKind;
    const bool answer = event.kind == EventKind::kCaption || event.kind == EventKind::kAnswer ||
                        (event.kind == EventKind::kAlert && event.yes.value_or(false));
    if (answer) return on_answer(event);
    const bool said = event.kind == EventKind::kSpeech || event.kind == EventKind::kText;
    if (!said || !event.final || event.text.empty()) return;
    add({event.t0, event.t1, event.text, event.kind == EventKind::kSpeech ? "speech" : event.id});
  }

  core::Status finish() override {
    for (auto& [lane, cue] : open_) add(std::move(cue));
    open_.clear();
    file_->write(sheet_.render(format_));
    if (core::Status done = file_->commit(); !done.ok()) return done;
    if (lost_ == 0) return {};
    return core::error(core::ErrorCode::kExhausted,
                       path_ + " is written, but " + std::to_string(lost_) +
                           " cues did not fit; at most " + std::to_string(emit::kCueSheetCuesMax) +
                           " are kept",
                       "write .jsonl, which has no limit");
  }

 private:
  // An answer may come again with its whole span, so its cue waits for the next one of the prompt.
  void on_answer(const emit::Event& event) {
    if (!event.final) return;
    emit::Cue cue{event.t0, event.t1, event.text, "answer " + event.prompt};
    const auto found = open_.find(cue.lane);
    if (found != open_.end()) {
      if (found->second.start != cue.start || found->second.text != cue.text) {
        add(std::move(found->second));
      }
      open_.erase(found);
    }
    if (open_.size() >= kLanesMax) {
      add(std::move(open_.begin()->second));
      open_.erase(open_.begin());
    }
    std::string lane = cue.lane;
    open_.emplace(std::move(lane), std::move(cue));
  }

  void add(emit::Cue cue) {
    // A caption of a single picture would flash by; show it for a while, the next one cuts it.
    if (cue.end <= cue.start) cue.end = cue.start + kShortest;
    if (!sheet_.add(std::move(cue))) ++lost_;
  }

  static constexpr core::MediaDuration kShortest = core::MediaDuration::from_ms(1000);
  static constexpr std::size_t kLanesMax = 64;
  std::unique_ptr<PendingFile> file_;
  const emit::CueFormat format_;
  const std::string path_;
  emit::CueSheet sheet_;
  std::map<std::string, emit::Cue> open_;
  std::uint64_t lost_ = 0;
};

}  // namespace

core::Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending != ".jsonl" && ending != ".vtt" && ending != ".srt") {
    return core::error(core::ErrorCode::kUsage, "--out is '" + path + "'; no such kind of file",
                       "end it with .vtt, .srt or .jsonl");
  }
  auto file = PendingFile::create(path);
  if (!file) return file.error();
  if (ending == ".jsonl") {
    return std::unique_ptr<OutputFile>(std::make_unique<JsonLinesFile>(std::move(*file)));
  }
  const auto format = ending == ".vtt" ? emit::CueFormat::kWebVtt : emit::CueFormat::kSubRip;
  return std::unique_ptr<OutputFile>(std::make_unique<CueFile>(std::move(*file), format, path));
}

}  // namespace saccade::app
