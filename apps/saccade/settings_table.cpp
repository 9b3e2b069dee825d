#include <algorithm>
#include <array>

#include "core/knobs.h"
#include "core/limits.h"
#include "settings.h"

namespace saccade::app {

namespace {

namespace limits = core::limits;
using G = SettingGroup;
using S = Settings;

constexpr double kSeedMax = 2'147'483'647;

const std::array kTable = {
    SettingInfo{"fps", &S::fps, G::kSource,
                "Pictures to look at per second of media; 0 = every one", "pictures per second", 0,
                240},
    SettingInfo{"realtime", &S::realtime, G::kSource,
                "Pace a file by the clock, as if it were a camera"},
    SettingInfo{"loop", &S::loop, G::kSource, "Start a file again at its end"},
    SettingInfo{"rtsp_udp", &S::rtsp_udp, G::kSource, "Take RTSP over UDP instead of TCP"},
    SettingInfo{"connect_timeout_s", &S::connect_timeout_s, G::kSource,
                "Give up on a camera or stream that has not come up once in so long; 0 = never",
                "seconds", 0, 86'400},
    SettingInfo{"tls_ca", &S::tls_ca, G::kSource,
                "PEM file of the certificates to trust instead of the system's (https, rtmps)"},
    SettingInfo{"tls_insecure", &S::tls_insecure, G::kSource,
                "Take any certificate; rtsps needs it, as RTSP certificates cannot be checked"},
    SettingInfo{"audio", &S::audio, G::kSource, "A second source for the sound: file or address"},
    SettingInfo{"duration_s", &S::duration_s, G::kSource,
                "Stop after so much media; 0 = at the end", "seconds", 0, 31'536'000},
    SettingInfo{"senses", &S::senses, G::kSource, "What to use of the source", "", 0, 0,
                "see|read|hear", 3},
    SettingInfo{"prompt", &S::prompt, G::kQuestions,
                "A standing question about every picture; may be given several times", "", 0, 0, "",
                limits::kPromptsMax},
    SettingInfo{"alert", &S::alert, G::kQuestions,
                "A standing yes/no question, told when its answer turns; several allowed", "", 0, 0,
                "", limits::kPromptsMax},
    SettingInfo{"context_lines", &S::context_lines, G::kQuestions,
                "Whether screen text and speech go to the model with the picture; auto = as it was "
                "trained",
                "", 0, 0, "auto|on|off"},
    SettingInfo{"max_new_tokens", &S::max_new_tokens, G::kQuestions, "Longest answer", "tokens", 1,
                4096},
    SettingInfo{"temperature", &S::temperature, G::kQuestions,
                "Freedom of the answer; 0 = always the likeliest word", "", 0, 5},
    SettingInfo{"top_p", &S::top_p, G::kQuestions,
                "Keep the likeliest words that together have this probability", "", 0.01, 1},
    SettingInfo{"seed", &S::seed, G::kQuestions,
                "The same seed gives the same answers at a temperature above 0", "", 0, kSeedMax},
    SettingInfo{"stop", &S::stop, G::kQuestions, "End an answer where this text begins", "", 0, 0,
                "", limits::kStopStringsMax},
    SettingInfo{"filter_words_file", &S::filter_words_file, G::kQuestions,
                "File with words to hide in all texts, one per line"},
    SettingInfo{
        "slo_ms", &S::slo_ms, G::kPace,
        "Longest time from a live picture to its answer, kept by giving up quality in a known "
        "order; 0 = the policy's",
        "milliseconds", 0, 600'000},
    SettingInfo{"policy", &S::policy, G::kPace,
                "How a live stream is governed: none, captions, alert, reading, medical, "
                "low-power, max-quality or one of --policies; auto = captions with a deadline, "
                "else none"},
    SettingInfo{"policies", &S::policies, G::kPace,
                "Folder with policies of your own, one NAME.toml each; changed ones are taken up "
                "while it runs"},
    SettingInfo{"change_threshold", &S::change_threshold, G::kPace,
                "A part of the picture counts as changed above this difference in brightness",
                "levels", 0, 255},
    SettingInfo{"refresh_s", &S::refresh_s, G::kPace,
                "Look again after so long even when nothing changed", "seconds", 0.1, 86'400},
    SettingInfo{
        "keep_share", &S::keep_share, G::kPace,
        "Share of a picture's visual tokens that the model reads; the least salient are left "
        "out (native engine)",
        "", core::kKeepShareMin, 1},
    SettingInfo{
        "model", &S::model, G::kModels,
        "Vision-language model: GGUF file, or org/name[:quant] after `saccade pull`; empty = "
        "the bundled one"},
    SettingInfo{"mmproj", &S::mmproj, G::kModels,
                "Its vision projector; empty = the one beside the model"},
    SettingInfo{"speech_model", &S::speech_model, G::kModels,
                "Whisper weights in ggml form; empty = the bundled ones"},
    SettingInfo{"vad_model", &S::vad_model, G::kModels,
                "Voice detector (ONNX); empty = the bundled one"},
    SettingInfo{"ocr_det", &S::ocr_det, G::kModels,
                "Text detector (ONNX); empty = the bundled one"},
    SettingInfo{"ocr_rec", &S::ocr_rec, G::kModels, "Text reader (ONNX); empty = the bundled one"},
    SettingInfo{"engine", &S::engine, G::kModels,
                "Whose graphs run the model: ours, llama.cpp's, or ours where we have them", "", 0,
                0, "auto|native|llama"},
    SettingInfo{"context_tokens", &S::context_tokens, G::kModels,
                "Room for a question with its picture; 0 = the model's own, at most 8192", "tokens",
                0, 1'048'576},
    SettingInfo{"threads", &S::threads, G::kModels,
                "Threads per model; 0 = by its size, at most the cores of the machine", "threads",
                0, 1024},
    SettingInfo{"host", &S::host, G::kServer,
                "Address to serve on, or the path of a unix socket; others than this machine need "
                "--api-key-file"},
    SettingInfo{"port", &S::port, G::kServer, "Port to serve on; 0 = any free one", "", 0, 65'535},
    SettingInfo{"admin_listen", &S::admin_listen, G::kServer,
                "Where to serve the admin routes without a key: 127.0.0.1:PORT or a socket's path"},
    SettingInfo{"api_key_file", &S::api_key_file, G::kServer,
                "File of API keys, one per line: KEY or NAME KEY [admin] [rate=N]"},
    SettingInfo{"allow_host", &S::allow_host, G::kServer,
                "A further name under which clients may call this server", "", 0, 0, "", 64},
    SettingInfo{"allow_origin", &S::allow_origin, G::kServer,
                "A web page's origin that may use this server: https://app.example", "", 0, 0, "",
                64},
    SettingInfo{"allow_source", &S::allow_source, G::kServer,
                "A host that live streams may come from: HOST, HOST:PORT or *", "", 0, 0, "", 256},
    SettingInfo{"media_path", &S::media_path, G::kServer,
                "Folder whose files clients may name as file:///...; empty = none"},
    SettingInfo{"alias", &S::alias, G::kServer,
                "The model's name for clients; empty = its own name"},
    SettingInfo{"queue_max", &S::queue_max, G::kServer,
                "Requests that may wait; the next one is refused", "requests", 1, 4096},
    SettingInfo{"parallel", &S::parallel, G::kServer, "Requests worked on at a time", "requests", 1,
                64},
    SettingInfo{"streams_max", &S::streams_max, G::kServer, "Live streams that may run", "streams",
                0, 256},
    SettingInfo{"json", &S::json, G::kOutput, "One JSON object per event on stdout"},
    SettingInfo{"out", &S::out, G::kOutput,
                "Also write a file: .vtt and .srt subtitles, .jsonl events"},
    SettingInfo{"quiet", &S::quiet, G::kOutput, "No progress and no summary on stderr"},
    SettingInfo{"verbose", &S::verbose, G::kOutput, "More about what is going on, on stderr"},
};

}  // namespace

std::span<const SettingInfo> settings_table() { return kTable; }

const SettingInfo* find_setting(std::string_view name) {
  const auto found = std::find_if(kTable.begin(), kTable.end(),
                                  [&](const SettingInfo& info) { return info.name == name; });
  return found == kTable.end() ? nullptr : &*found;
}

std::string_view title_of(SettingGroup group) {
  switch (group) {
    case G::kSource:
      return "Source";
    case G::kQuestions:
      return "Questions and answers";
    case G::kPace:
      return "Pace and cost";
    case G::kModels:
      return "Models";
    case G::kServer:
      return "Server";
    case G::kOutput:
      return "Output";
  }
  return "";
}

std::string flag_name(const SettingInfo& info) {
  std::string out = "--" + std::string(info.name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

std::string environment_name(const SettingInfo& info) {
  std::string out = "SACCADE_" + std::string(info.name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

}  // namespace saccade::app
