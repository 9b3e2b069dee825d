#include "transport/event_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "transport/json_text.h"

namespace saccade::transport {
namespace {

core::MediaTime at_ms(std::int64_t ms) { return core::MediaTime::from_us(ms * 1000); }

TEST(EventJson, CaptionIsTheLineOfTheSchema) {
  emit::Event event;
  event.kind = emit::EventKind::kCaption;
  event.stream = "main";
  event.seq = 17;
  event.t0 = event.t1 = at_ms(12'480);
  event.text = "A \"red\" lamp 🔴\n";
  event.confidence = 0.93;
  event.frame_age_ms = 84.04;
  event.knobs = 7;
  event.stages[telemetry::Stage::kCapture] = 1.2;
  event.stages[telemetry::Stage::kAlign] = 0.1;
  event.stages[telemetry::Stage::kSee] = 31;
  event.stages[telemetry::Stage::kDecode] = 42;
  EXPECT_EQ(to_json(event),
            R"({"v":1,"kind":"caption","stream":"main","seq":17,"t0":12.480,"t1":12.480,)"
            R"("text":"A \"red\" lamp 🔴\n","final":true,"confidence":0.93,"frame_age_ms":84,)"
            R"("knobs":7,"stages":{"capture":1.2,"align":0.1,"see":31,"decode":42}})");
}

TEST(EventJson, SpeechCarriesWords) {
  emit::Event event;
  event.kind = emit::EventKind::kSpeech;
  event.seq = 2;
  event.id = "speech-1";
  event.t0 = at_ms(0);
  event.t1 = at_ms(1500);
  event.text = "Valve open.";
  event.final = false;
  event.words = {{"Valve", at_ms(0), at_ms(700), 0.5F}, {"open.", at_ms(700), at_ms(1500), 1.0F}};
  EXPECT_EQ(to_json(event), R"({"v":1,"kind":"speech","stream":"","seq":2,"t0":0.000,"t1":1.500,)"
                            R"("text":"Valve open.","final":false,"id":"speech-1",)"
                            R"("words":[{"text":"Valve","t0":0.000,"t1":0.700,"confidence":0.5},)"
                            R"({"text":"open.","t0":0.700,"t1":1.500,"confidence":1}]})");
}

TEST(EventJson, TextAlertDropAndStatsCarryTheirOwn) {
  emit::Event text;
  text.kind = emit::EventKind::kText;
  text.box = {{1, 2}, {3.25F, 2}, {NAN, 4}, {1, 4}};
  EXPECT_EQ(to_json(text), R"({"v":1,"kind":"text","stream":"","seq":0,"text":"","final":true,)"
                           R"("box":[[1,2],[3.2,2],[0,4],[1,4]]})");
  emit::Event alert;
  alert.kind = emit::EventKind::kAlert;
  alert.yes = false;
  alert.prompt = "fire";
  EXPECT_EQ(to_json(alert), R"({"v":1,"kind":"alert","stream":"","seq":0,"final":true,)"
                            R"("prompt":"fire","yes":false})");
  emit::Event drop;
  drop.kind = emit::EventKind::kDrop;
  drop.reason = "busy";
  drop.count = 3;
  EXPECT_EQ(to_json(drop), R"({"v":1,"kind":"drop","stream":"","seq":0,"final":true,)"
                           R"("reason":"busy","count":3})");
  emit::Event stats;
  stats.kind = emit::EventKind::kStats;
  stats.numbers = {{"frames_seen", 10}, {"realtime_x", 2.5}, {"odd", NAN}};
  EXPECT_EQ(to_json(stats), R"({"v":1,"kind":"stats","stream":"","seq":0,"final":true,)"
                            R"("numbers":{"frames_seen":10,"realtime_x":2.5}})");
}

TEST(EventJson, HostileTextStaysOneValidLine) {
  emit::Event event;
  event.kind = emit::EventKind::kText;
  event.text = std::string("\xFF\xED\xA0\x80 \x00 \x1B[2J \r\n </script>", 24);
  event.stream = "a\"b\\c";
  event.confidence = INFINITY;
  event.t0 = core::MediaTime::end();
  const std::string line = to_json(event);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto parsed = nlohmann::json::parse(line);
  EXPECT_EQ(parsed["stream"], "a\"b\\c");
  EXPECT_FALSE(parsed.contains("confidence"));
  EXPECT_FALSE(parsed.contains("t0"));
}

TEST(JsonText, NumbersAreShortAndExact) {
  EXPECT_EQ(json_number(84.0, 1), "84");
  EXPECT_EQ(json_number(0.1 + 0.2, 3), "0.3");
  EXPECT_EQ(json_number(-0.0001, 2), "0");
  EXPECT_EQ(json_number(100, 0), "100");
  EXPECT_EQ(json_number(12.48, 3, true), "12.480");
  EXPECT_EQ(json_number(NAN, 3), "");
  EXPECT_EQ(nlohmann::json::parse(json_number(1e300, 3)).get<double>(), 1e300);
}

}  // namespace
}  // namespace saccade::transport
