#include "footer.h"

#include <utility>

namespace saccade::app {

void Footer::print(const std::string& text) {
  const std::lock_guard lock(mutex_);
  erase();
  out_ << text << std::flush;
  draw();
}

void Footer::print_error(const std::string& text) {
  const std::lock_guard lock(mutex_);
  erase();
  err_ << text << std::flush;
  draw();
}

void Footer::set(Line line, std::string text) {
  if (!style_.tty) return;
  const std::lock_guard lock(mutex_);
  std::string& now = lines_[static_cast<std::size_t>(line)];
  if (now == text) return;
  erase();
  now = std::move(text);
  draw();
}

void Footer::clear() {
  const std::lock_guard lock(mutex_);
  erase();
  lines_ = {};
  err_ << std::flush;
}

// The cursor stands at the end of the last drawn line; it goes to the start of the first one.
void Footer::erase() {
  if (drawn_ == 0) return;
  err_ << "\r";
  if (drawn_ > 1) err_ << "\x1B[" << drawn_ - 1 << "A";
  err_ << "\x1B[J" << std::flush;
  drawn_ = 0;
}

void Footer::draw() {
  for (const std::string& line : lines_) {
    if (line.empty()) continue;
    err_ << (drawn_ > 0 ? "\n" : "") << line;
    ++drawn_;
  }
  err_ << std::flush;
}

}  // namespace saccade::app
