#include "sinks.h"

#include "terminal.h"
#include "transport/event_json.h"

namespace saccade::app {

void JsonLines::on_event(const emit::Event& event) {
  if (closed_) return;
  out_ << transport::to_json(event) << '\n' << std::flush;
  if (out_.good()) return;
  closed_ = true;
  if (on_closed_) on_closed_();
}

void BareText::on_event(const emit::Event& event) {
  if (event.kind == kind_ && event.final && !event.text.empty())
    footer_.print(printable(event.text) + "\n");
}

}  // namespace saccade::app
