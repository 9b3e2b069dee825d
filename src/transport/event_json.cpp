#include "transport/event_json.h"

#include <array>

#include "transport/json_text.h"

namespace saccade::transport {

namespace {

using emit::EventKind;

bool always_has_text(EventKind kind) {
  return kind == EventKind::kCaption || kind == EventKind::kAnswer || kind == EventKind::kText ||
         kind == EventKind::kSpeech;
}

void put_time(JsonObject& json, std::string_view key, core::MediaTime time) {
  if (!time.is_special()) json.seconds(key, time.seconds());
}

std::string stages_json(const telemetry::StageLedger& stages) {
  JsonObject json;
  for (std::size_t i = 0; i < telemetry::kStages; ++i) {
    if (stages.ms[i] > 0) {
      json.number(telemetry::name_of(static_cast<telemetry::Stage>(i)), stages.ms[i], 2);
    }
  }
  return json.empty() ? std::string() : json.str();
}

std::string words_json(const std::vector<emit::EventWord>& words) {
  JsonArray list;
  for (const emit::EventWord& word : words) {
    JsonObject json;
    json.text("text", word.text);
    put_time(json, "t0", word.start);
    put_time(json, "t1", word.end);
    json.number("confidence", word.probability, 3);
    list.add(json.str());
  }
  return list.str();
}

// Corners that are no number would break the shape of the list, so they become 0.
std::string box_json(const std::vector<std::array<float, 2>>& box) {
  JsonArray list;
  for (const auto& corner : box) {
    JsonArray pair;
    for (const float value : corner) {
      const std::string text = json_number(value, 1);
      pair.add(text.empty() ? "0" : text);
    }
    list.add(pair.str());
  }
  return list.str();
}

std::string numbers_json(const std::vector<std::pair<std::string, double>>& numbers) {
  JsonObject json;
  for (const auto& [name, value] : numbers) json.number(name, value, 3);
  return json.str();
}

}  // namespace

std::string_view name_of(EventKind kind) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "caption", "answer", "alert", "text", "speech", "scene", "drop", "status", "knobs", "stats"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string to_json(const emit::Event& event) {
  JsonObject json;
  json.count("v", 1);
  json.text("kind", name_of(event.kind));
  json.text("stream", event.stream);
  json.count("seq", event.seq);
  put_time(json, "t0", event.t0);
  put_time(json, "t1", event.t1);
  if (!event.text.empty() || always_has_text(event.kind)) json.text("text", event.text);
  json.flag("final", event.final);
  if (event.confidence) json.number("confidence", *event.confidence, 3);
  if (event.frame_age_ms) json.number("frame_age_ms", *event.frame_age_ms, 1);
  if (!event.id.empty()) json.text("id", event.id);
  if (!event.prompt.empty()) json.text("prompt", event.prompt);
  if (event.yes) json.flag("yes", *event.yes);
  if (!event.reason.empty()) json.text("reason", event.reason);
  if (event.count > 0) json.count("count", event.count);
  if (event.knobs > 0) json.count("knobs", event.knobs);
  if (const std::string stages = stages_json(event.stages); !stages.empty()) {
    json.raw("stages", stages);
  }
  if (!event.words.empty()) json.raw("words", words_json(event.words));
  if (!event.box.empty()) json.raw("box", box_json(event.box));
  if (!event.numbers.empty()) json.raw("numbers", numbers_json(event.numbers));
  return json.str();
}

}  // namespace saccade::transport
