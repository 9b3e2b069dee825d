#pragma once
// The lines at the foot of a terminal that are rewritten in place: tentative words and progress.
// What is printed goes above them. Only on a terminal; elsewhere the footer shows nothing and
// print() just prints. Threads: any; one lock orders all output.
#include <array>
#include <mutex>
#include <ostream>
#include <string>

#include "terminal.h"

namespace saccade::app {

class Footer {
 public:
  enum class Line { kTentative, kProgress };

  // The footer is drawn on `err` (stderr), printed text goes to `out` (stdout): data stays clean
  // when only one of them is a terminal. Both must outlive the footer.
  Footer(std::ostream& out, std::ostream& err, TerminalStyle err_style)
      : out_(out), err_(err), style_(err_style) {}
  ~Footer() { clear(); }
  Footer(const Footer&) = delete;
  Footer& operator=(const Footer&) = delete;

  // `text` ends with a line end.
  void print(const std::string& text);
  // As print, but to stderr.
  void print_error(const std::string& text);
  // One line without line end; may hold SGR sequences, so the caller keeps it within the width.
  // Empty removes it.
  void set(Line line, std::string text);
  void clear();

  bool active() const { return style_.tty; }
  const TerminalStyle& style() const { return style_; }

 private:
  void erase();
  void draw();

  std::ostream& out_;
  std::ostream& err_;
  const TerminalStyle style_;
  std::mutex mutex_;  // guards everything below and the streams
  std::array<std::string, 2> lines_;
  int drawn_ = 0;
};

}  // namespace saccade::app
