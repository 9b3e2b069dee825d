#pragma once
// What the server counts, under names that `promtool check metrics` takes. Threads: any.
#include <string>

#include "telemetry/metrics.h"

namespace saccade::transport {

struct ServeMetrics {
  using Counter = telemetry::Counter;
  using Gauge = telemetry::Gauge;
  using Histogram = telemetry::Histogram;

  Counter requests{{"saccade_http_requests_total", "Requests answered.", {"route", "status"}}};
  Counter refused{{"saccade_requests_refused_total",
                   "Requests that were not served, by the code of the error.",
                   {"reason"}}};
  Histogram duration{
      {"saccade_request_seconds", "From the request's arrival to its end.", {"route"}},
      telemetry::kLatencyBuckets};
  Histogram first_token{
      {"saccade_time_to_first_token_seconds", "From the request's arrival to its first token."},
      telemetry::kLatencyBuckets};
  Histogram next_token{{"saccade_inter_token_seconds", "Between two tokens of an answer."},
                       telemetry::kLatencyBuckets};
  Histogram queue_wait{{"saccade_queue_wait_seconds", "From admission to the start of the work."},
                       telemetry::kLatencyBuckets};
  Histogram cancel_to_free{
      {"saccade_cancel_to_free_seconds", "From the client's leaving to the end of its work."},
      telemetry::kLatencyBuckets};
  Counter prompt_tokens{{"saccade_prompt_tokens_total", "Tokens read, visual ones included."}};
  Counter visual_tokens{{"saccade_visual_tokens_total", "Visual tokens read."}};
  Counter answer_tokens{{"saccade_answer_tokens_total", "Tokens written."}};
  Counter finished{{"saccade_answers_total", "Answers, by how they ended.", {"reason"}}};
  Histogram frame_age{
      {"saccade_frame_age_seconds", "Age of the picture when its event went out.", {"kind"}},
      telemetry::kLatencyBuckets};
  Histogram stage{{"saccade_stage_seconds", "Time of an event's picture in a stage.", {"stage"}},
                  telemetry::kLatencyBuckets};
  Counter frames{{"saccade_frames_total",
                  "Pictures of live streams: seen and unchanged are counted when a stream ends.",
                  {"outcome"}}};
  Counter pushed{{"saccade_pushed_pictures_total",
                  "Pictures that clients pushed, by what became of them.",
                  {"outcome"}}};
  Counter events{{"saccade_events_total", "Events of live streams.", {"kind"}}};

  // Set when asked for.
  Gauge queue_waiting{{"saccade_queue_waiting", "Requests that wait."}};
  Gauge queue_running{{"saccade_queue_running", "Requests that run."}};
  Gauge device_waiting{{"saccade_device_jobs_waiting", "Jobs that wait for the device."}};
  Gauge connections{{"saccade_connections", "Open connections."}};
  Gauge streams{{"saccade_streams", "Live streams, by state.", {"state"}}};
  Gauge readers{{"saccade_event_readers", "Clients that follow a stream."}};
  Gauge rung{{"saccade_governor_rung", "What is given up: 0 = nothing .. 6 = new streams too."}};
  Gauge width{{"saccade_governor_width", "Pictures that may be on the device at once."}};
  Gauge load{{"saccade_governor_load_ratio",
              "Device time that the streams' paces ask for, in device time there is."}};
  Gauge prediction{{"saccade_governor_prediction_error_ratio",
                    "Mean error of what a turn was expected to take."}};
  Counter governed{
      {"saccade_governor_turns_total", "Turns on the device, by what came of them.", {"outcome"}}};
  Counter steps{{"saccade_language_steps_total", "Runs of the language model's graph."}};
  Counter read{{"saccade_language_tokens_total",
                "Tokens of all sessions: read in a step, or reused from a session's prompt before.",
                {"how"}}};
  Gauge cells{{"saccade_kv_cells", "Cells of the key-value memory.", {"state"}}};
  Gauge sequences{{"saccade_kv_sequences", "Sessions that hold cells."}};
  Gauge sockets{{"saccade_sockets", "WebSockets of live streams."}};

  std::string text() const {
    std::string out;
    const std::initializer_list<const telemetry::Family*> all = {
        &requests,      &refused,        &duration,       &first_token,   &next_token,
        &queue_wait,    &cancel_to_free, &prompt_tokens,  &visual_tokens, &answer_tokens,
        &finished,      &frame_age,      &frames,         &pushed,        &events,
        &queue_waiting, &queue_running,  &device_waiting, &connections,   &streams,
        &readers,       &sockets,        &rung,           &width,         &load,
        &prediction,    &governed,       &stage,          &steps,         &read,
        &cells,         &sequences};
    for (const telemetry::Family* family : all) family->write(out);
    return out;
  }
};

}  // namespace saccade::transport
