#pragma once
// What the senses made of one Moment.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "align/align_types.h"
#include "core/pixels.h"
#include "engine/vision_encoder.h"

namespace saccade::perceive {

// Where the picture moved since the content we last kept. Grid of cells over the picture.
struct ChangeMap {
  int rows = 0, columns = 0;
  std::vector<std::uint8_t> level;  // [rows][columns] greatest block difference of the cell, 0..255
  double changed_share = 0;         // cells above the threshold, 0..1
  std::vector<core::Rect> regions;  // bounding boxes of connected changed cells, source pixels
  bool scene_cut = false;           // most of the picture changed at once
};

// One view with its tokens. `age` is how long ago its pixels were encoded.
struct SeenView {
  engine::ViewPlace place;
  core::Rect source;  // which pixels it shows
  engine::EncodedViewPtr encoded;
  bool cached = false;  // exact hit in the tile cache: nothing was computed
  core::MediaDuration age;
};

// A corner list of a rotated text box, clockwise from the text's own top left, source pixels.
using Quad = std::array<std::array<float, 2>, 4>;

// One line of on-screen text.
struct TextLine {
  std::string text;  // UTF-8
  Quad box{};
  float confidence = 0;  // 0..1
};

// A line followed over time: one still caption is one track.
struct TextTrack {
  std::uint64_t id = 0;
  TextLine line;                // voted over the frames seen so far
  core::MediaTime first, last;  // first and last Moment it was seen
  bool ended = false;           // it left the picture; `last` is final
};

struct SpokenWord {
  std::string text;
  core::MediaTime start, end;
  float probability = 0;  // 0..1
};

// A stretch of speech. Partial ones may still change and share the id of their final one.
struct Utterance {
  std::uint64_t id = 0;
  std::vector<SpokenWord> words;
  core::MediaTime start, end;
  bool final = false;
  std::string text() const;  // words joined, without leading space
};

struct Percept {
  align::Moment moment;    // the picture may have been released
  bool unchanged = false;  // picture equals the kept content: no view was encoded and the
                           // last answers still hold
  ChangeMap change;
  std::vector<SeenView> views;          // global view first; empty without picture or encoder
  std::vector<TextTrack> text_events;   // tracks that began, changed or ended at this Moment
  std::vector<TextTrack> text_visible;  // all tracks visible now, in reading order
  std::vector<Utterance> speech;  // utterances that became partial or final since last Percept
};

}  // namespace saccade::perceive
