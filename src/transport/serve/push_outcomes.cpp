#include "transport/serve/push_outcomes.h"

#include <utility>

#include "transport/json_text.h"

namespace saccade::transport {

PushOutcomes::PushOutcomes(std::string stream, ServeMetrics& metrics)
    : stream_(std::move(stream)),
      metrics_(metrics),
      ring_(std::make_shared<EventRing>(
          stream_, EventRing::Words{.number = "n", .missed = "outcomes this client did not get"})) {
}

void PushOutcomes::on_outcome(const ingest::PushOutcome& outcome) {
  const bool seen = outcome.end == ingest::PushEnd::kSeen;
  metrics_.pushed.add({ingest::name_of(outcome.end)});
  JsonObject json;
  json.count("v", 1);
  json.text("kind", "outcome");
  json.text("stream", stream_);
  json.count("n", ++made_);
  json.count("frame", outcome.seq);
  json.text("outcome", seen ? "seen" : "drop");
  if (!seen) json.text("reason", ingest::name_of(outcome.end));
  if (!outcome.time.is_special()) json.seconds("t0", outcome.time.seconds());
  ring_->append(made_, json.str());
}

}  // namespace saccade::transport
