#pragma once
// Sound blocks in, utterances out. Silence, noise and music without words give nothing.
// While somebody speaks, partial utterances come at most every Knobs::partial_interval of media
// time; the final one comes after the pause, at a gap of the source or at the greatest length.
// Threads: one at a time. push and flush compute for as long as the speech model does.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/knobs.h"
#include "core/result.h"
#include "engine/speech_model.h"
#include "ingest/ingest_types.h"
#include "perceive/hear/agree_hypotheses.h"
#include "perceive/hear/detect_voice.h"
#include "perceive/hear/segment_speech.h"
#include "perceive/perceive_types.h"

namespace saccade::perceive {

struct ListenerOptions {
  bool partials = true;  // false: finals only, at a third of the cost (whole files)
  SegmentOptions segments{};
};

// Promises: utterances rise in id and time and do not overlap; words lie in order inside theirs.
// A partial's id is taken up by its final, which is sent even when nothing is left of it (no words:
// the partial is withdrawn, and the final has its start). Words that two partials agreed on are in
// the final. Memory: the sound of the open segment, at most kSpeechWindowSecondsMax, and one
// second.
class Listener {
 public:
  // Both must outlive the listener; nobody else may use them meanwhile.
  Listener(engine::SpeechModel& speech, VoiceDetector& voice, ListenerOptions options = {});

  // The next block. A new epoch or a step in time of more than 0.1 s ends the open segment first.
  // Errors: kUsage (no sound or no time), and those of the two models; the open segment is then
  // given up and the listener goes on with the next block. What was final before the error, and the
  // withdrawal of the partial given up, come with the next call that succeeds.
  core::Result<std::vector<Utterance>> push(const ingest::Frame& sound, const core::Knobs& knobs);

  // No more sound: ends the open segment. The listener may be used again afterwards.
  core::Result<std::vector<Utterance>> flush();

  // For tests of the promise above.
  std::size_t held_samples() const { return sound_.size(); }

 private:
  using Words = Agreement::Words;
  struct Block {
    std::int64_t sample = 0;  // where it begins on the sample axis
    core::MediaTime time;
  };

  bool continues(const ingest::Frame& frame) const;
  void append(const ingest::Frame& frame);
  core::Status listen(std::vector<Utterance>& out);
  core::Status finish_segment(SpeechSpan span, std::vector<Utterance>& out);
  core::Status try_partial(const core::Knobs& knobs, std::vector<Utterance>& out);
  void narrow_window();
  core::Result<Words> hear(std::int64_t begin, std::int64_t end, const std::string& context);
  std::optional<Utterance> utterance(const Words& words, bool final);
  core::MediaTime time_at(double seconds) const;
  void begin_segment(std::int64_t sample);
  void drop_old_sound();
  core::Error give_up(core::Error error, std::vector<Utterance> finished);
  std::vector<Utterance> owed_and(std::vector<Utterance> out);
  void restart();

  engine::SpeechModel& speech_;
  VoiceDetector& voice_;
  ListenerOptions options_;
  SpeechSegmenter segmenter_;

  // The sample axis counts from the last restart.
  std::vector<float> sound_;      // [n] from sound_begin_ on
  std::int64_t sound_begin_ = 0;  // sample axis
  std::int64_t chunk_begin_ = 0;  // samples before it went through the detector
  std::deque<Block> blocks_;      // of sound_
  core::MediaTime expected_;      // when the next block should begin; unset after a restart

  // The open segment's partials.
  Agreement agreement_;
  std::int64_t window_begin_ = 0;  // partial passes hear from here on
  std::int64_t passed_until_ = 0;  // end of the sound of the last pass
  std::string context_;            // committed text before the window
  Utterance shown_;                // the last partial; without words = none was sent

  std::vector<Utterance> owed_;  // held back by an error: what one call ended
  std::uint64_t next_id_ = 1;
  core::MediaTime spoken_until_;  // end of the last final utterance
};

}  // namespace saccade::perceive
