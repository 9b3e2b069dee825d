#pragma once
// Where a command's events go: JSON lines, bare text, several places at once.
#include <functional>
#include <ostream>
#include <vector>

#include "emit/emit_types.h"
#include "footer.h"

namespace saccade::app {

// One JSON object per line, flushed: a reader sees each event at once. When the reader has gone,
// `on_closed` is called once and nothing more is written.
class JsonLines final : public emit::EventSink {
 public:
  JsonLines(std::ostream& out, std::function<void()> on_closed)
      : out_(out), on_closed_(std::move(on_closed)) {}
  void on_event(const emit::Event& event) override;

 private:
  std::ostream& out_;
  std::function<void()> on_closed_;
  bool closed_ = false;
};

// Only what was said or read or answered, one final text per line.
class BareText final : public emit::EventSink {
 public:
  BareText(Footer& footer, emit::EventKind kind) : footer_(footer), kind_(kind) {}
  void on_event(const emit::Event& event) override;

 private:
  Footer& footer_;
  const emit::EventKind kind_;
};

class SinkList final : public emit::EventSink {
 public:
  void add(emit::EventSink& sink) { sinks_.push_back(&sink); }
  void on_event(const emit::Event& event) override {
    for (emit::EventSink* sink : sinks_) sink->on_event(event);
  }

 private:
  std::vector<emit::EventSink*> sinks_;
};

}  // namespace saccade::app
