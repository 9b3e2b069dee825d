#pragma once
// For tests: spoken clips made on the spot, and whether the weights are there.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace saccade::engine {

inline constexpr const char* kTestSpeechModel = "build/models/whisper-tiny.en.bin";
// A real voice, 11 s: "And so my fellow Americans, ask not ..." (public domain).
inline constexpr const char* kTestRecording = "build/deps-src/whisper.cpp/samples/jfk.wav";

inline bool test_file_exists(const std::string& path) { return std::ifstream(path).good(); }

struct PipeCloser {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

// What `command` writes, as 16-bit samples; empty when it fails.
inline std::vector<float> samples_of(const std::string& command) {
  std::vector<float> samples;
  const std::unique_ptr<std::FILE, PipeCloser> pipe(popen((command + " 2>/dev/null").c_str(), "r"));
  std::int16_t sample = 0;
  while (pipe && std::fread(&sample, sizeof sample, 1, pipe.get()) == 1)
    samples.push_back(static_cast<float>(sample) / 32768.0F);
  return samples;
}

// `text` (letters, digits and simple punctuation) spoken by espeak-ng, 16 kHz, without quiet edges.
// Empty when espeak-ng or ffmpeg is absent.
inline std::vector<float> speak(const std::string& text) {
  std::vector<float> clip = samples_of("espeak-ng -v en-gb -s 150 --stdout '" + text +
                                       "' | ffmpeg -v error -i - -ar 16000 -ac 1 -f s16le -");
  const auto loud = [](float s) { return s > 0.02F || s < -0.02F; };
  std::size_t begin = 0, end = clip.size();
  while (begin < end && !loud(clip[begin])) ++begin;
  while (end > begin && !loud(clip[end - 1])) --end;
  return {clip.begin() + static_cast<std::ptrdiff_t>(begin),
          clip.begin() + static_cast<std::ptrdiff_t>(end)};
}

inline std::vector<float> recording() {
  return samples_of(std::string("ffmpeg -v error -i ") + kTestRecording +
                    " -ar 16000 -ac 1 -f s16le -");
}

// `clip` between stretches of digital silence.
inline std::vector<float> padded(const std::vector<float>& clip, double before, double after) {
  std::vector<float> out(static_cast<std::size_t>(before * 16000), 0.0F);
  out.insert(out.end(), clip.begin(), clip.end());
  out.resize(out.size() + static_cast<std::size_t>(after * 16000));
  return out;
}

}  // namespace saccade::engine
