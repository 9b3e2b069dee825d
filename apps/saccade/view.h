#pragma once
// The live view: one event, one readable line.
//   time  kind  text, wrapped under itself                                    confidence  age
// On a terminal tentative speech is rewritten in place at the foot; elsewhere it is left out. An
// event is shown when it is news: the end of a span (docs/events.md) is not.
// Threads: as EventSink.
#include <cstdint>
#include <deque>
#include <string>

#include "emit/emit_types.h"
#include "footer.h"
#include "terminal.h"

namespace saccade::app {

class LiveView final : public emit::EventSink {
 public:
  // `style` is that of stdout. `summary` = show the stats event as a panel at the end.
  LiveView(Footer& footer, TerminalStyle style, bool summary = true)
      : footer_(footer), style_(style), summary_(summary) {}

  void on_event(const emit::Event& event) override;

 private:
  bool is_news(const emit::Event& event);
  std::string line(const emit::Event& event) const;
  std::string summary(const emit::Event& event) const;

  Footer& footer_;
  const TerminalStyle style_;
  const bool summary_;
  // Ids shown lately with a hash of their text; the oldest is forgotten at kShownMax.
  struct Shown {
    std::string id;
    std::size_t text = 0;
  };
  static constexpr std::size_t kShownMax = 512;
  std::deque<Shown> shown_;
};

// "1:02:03.4" or "0:12.48"; "" for an unset time.
std::string clock_text(core::MediaTime time);

}  // namespace saccade::app
