#pragma once
// One or two sources as one stream of items: pictures and sound from the first, or sound from a
// second one. Recorded pairs advance together: the one that is behind is read next. Live pairs are
// read in turn. Stamps stay each source's own; align brings them onto one axis.
// Threads: one calls next(); close() from any.
#include <chrono>
#include <memory>
#include <optional>

#include "align/align_types.h"
#include "core/clock.h"
#include "core/result.h"
#include "core/rng.h"
#include "ingest/from_push.h"
#include "ingest/ingest.h"

namespace saccade::session {

class Intake {
 public:
  struct Options {
    ingest::SourceOptions source;
    std::optional<ingest::SourceOptions> audio_source;
  };
  // Errors: those of ingest::Source::open.
  static core::Result<std::unique_ptr<Intake>> open(Options options, const core::Clock& clock,
                                                    core::Rng rng);

  // As ingest::Source::next. EndOfSource comes once, when both have ended. The second source's
  // states are given with "audio: " before the reason; its failure does not end the first.
  core::Result<ingest::SourceItem> next(std::chrono::milliseconds wait);
  // As ingest::Source, of the pictures.
  void set_key_pictures_only(bool only) { first_.source->set_key_pictures_only(only); }
  void close();
  bool live() const { return first_.source->live(); }
  bool paced() const { return first_.source->paced(); }
  // Both sources are live: only arrival ties their stamps together.
  bool two_clocks() const { return second_ && live() && second_->source->live(); }

 private:
  struct Feed {
    std::unique_ptr<ingest::Source> source;
    core::MediaTime last;  // newest frame given
    bool ended = false;
  };

  Feed& feed_to_read();
  core::Result<ingest::SourceItem> deliver(Feed& feed, ingest::SourceItem item);

  Feed first_;
  std::optional<Feed> second_;
  bool second_turn_ = false;
  bool told_end_ = false;
};

// Tells the client that pushed a Moment's picture what came of it; nothing for other sources.
void settle(const align::Moment& moment, ingest::PushEnd end);

}  // namespace saccade::session
