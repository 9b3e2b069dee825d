#pragma once
// What a client gets. The same schema everywhere (design.md section 6); JSON is made in transport.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/media_time.h"
#include "telemetry/ledger.h"

namespace saccade::emit {

enum class EventKind {
  kCaption,  // answer to the default standing prompt
  kAnswer,   // answer to a named prompt or a question
  kAlert,    // yes/no with probability
  kText,     // on-screen text, one per track; final when it left the picture
  kSpeech,   // spoken words, partial or final
  kScene,    // scene cut
  kDrop,     // something was not served: reason says why
  kStatus,   // state of the source or the session
  kKnobs,    // another Knobs version is in force
  kStats,    // summary at the end or periodic
};

struct EventWord {
  std::string text;
  core::MediaTime start, end;
  float probability = 0;
};

struct Event {
  EventKind kind = EventKind::kStatus;
  std::string stream;                  // session name
  std::uint64_t seq = 0;               // strictly rising per stream, set by the emitter
  core::MediaTime t0, t1;              // media span; unset when it belongs to no time
  std::string text;                    // whole UTF-8 characters
  bool final = true;                   // false: a later event with the same `id` replaces this one
  std::string id;                      // joins partial and final; may be empty
  std::string prompt;                  // id of the standing prompt; may be empty
  std::string reason;                  // drop: busy|rate|late|corrupt; status: state; knobs: rung
  std::uint64_t count = 0;             // drop: how many
  std::optional<double> confidence;    // 0..1
  std::optional<double> frame_age_ms;  // from decoder to this event
  std::optional<bool> yes;             // alert
  std::uint64_t knobs = 0;
  telemetry::StageLedger stages;
  std::vector<EventWord> words;                         // speech
  std::vector<std::array<float, 2>> box;                // text: four corners, source pixels
  std::vector<std::pair<std::string, double>> numbers;  // stats: name and value, in order
};

// Where events go. Implementations must be callable from one thread at a time and must not block
// for long: a slow consumer has its own bounded buffer.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const Event& event) = 0;
};

}  // namespace saccade::emit
