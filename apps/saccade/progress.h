#pragma once
// How far a long job is: a bar with rate and time left at the foot of a terminal; elsewhere one
// line every 10 s on stderr; nothing when quiet. Threads: one.
#include <cstdint>
#include <string>

#include "core/clock.h"
#include "footer.h"

namespace saccade::app {

class Progress {
 public:
  enum class Unit { kMediaSeconds, kBytes };
  struct Options {
    std::string label;
    Unit unit = Unit::kBytes;
    double total = 0;  // 0 = unknown: no bar, no time left
    bool quiet = false;
  };
  // `footer` and `clock` must outlive it.
  Progress(Options options, Footer& footer, const core::Clock& clock);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // May be called as often as one likes: draws at most ten times per second.
  void update(double done);
  void set_total(double total) { options_.total = total; }
  void set_label(std::string label) { options_.label = std::move(label); }
  void finish();

 private:
  std::string bar_line(double done, double seconds) const;
  std::string plain_line(double done, double seconds) const;

  Options options_;
  Footer& footer_;
  const core::Clock& clock_;
  const core::SteadyTime start_;
  core::SteadyTime drawn_;
  double first_ = -1;  // where it began: a resumed job must not boast
  bool ever_drawn_ = false;
};

}  // namespace saccade::app
