#pragma once
// Every bound on what comes from outside or piles up inside, in one place, with its owner. What
// happens at the bound is said where the bound is enforced.
#include <cstddef>
#include <cstdint>

namespace saccade::core::limits {

// ingest: header-only checks before anything is decoded
inline constexpr std::int64_t kPicturePixelsMax = 64'000'000;
inline constexpr int kPictureSideMax = 16'384;
inline constexpr int kPictureRatioMax = 200;
inline constexpr int kSourceStreamsMax = 64;
inline constexpr std::size_t kSourceUrlBytesMax = 4096;
// ingest: the decode worker
inline constexpr std::size_t kFrameSlots = 8;       // decoded pictures in flight
inline constexpr std::size_t kFrameSlotsLarge = 3;  // the same above 4 megapixels
inline constexpr std::size_t kWorkerMemoryBytesMax = 3ULL << 30;
inline constexpr int kWorkerKillsMax = 2;  // then the input is quarantined
// ingest: what a client pushes into a stream (ingest/from_push.h)
inline constexpr std::size_t kPushBytesMax = 16ULL << 20;    // of one picture or piece of sound
inline constexpr std::uint64_t kPushPicturesOpen = 8;        // accepted and without an outcome
inline constexpr std::int64_t kPushSoundUsMax = 4'000'000;   // accepted and not yet in the worker
inline constexpr std::int64_t kPushPieceUsMax = 1'000'000;   // sound of one message
inline constexpr std::int64_t kPushGraceUs = 30'000'000;     // without a client; then it ends
inline constexpr std::int64_t kPushDecodeUsMax = 5'000'000;  // then the worker counts as hung
// audio everywhere: 16 kHz mono float, 20 ms blocks
inline constexpr int kAudioRate = 16'000;
inline constexpr int kAudioBlockSamples = 320;
inline constexpr std::int64_t kAudioBlockUs = 20'000;
inline constexpr std::size_t kAudioBlocksQueued = 1500;  // 30 s; full = the producer waits
// align
inline constexpr std::int64_t kJoinWindowUs = 50'000;
inline constexpr std::size_t kAlignPendingMax = 4096;
// perceive
inline constexpr std::size_t kTileCacheBytes = 64ULL << 20;
inline constexpr std::int64_t kReadPixels = 1280 * 736;      // looked at for text at a time
inline constexpr std::int64_t kReadPixelsStill = 4'000'000;  // of a still: 1 GB in the network
inline constexpr std::size_t kTextLinesMax = 256;            // per picture
inline constexpr std::size_t kTextLineBytesMax = 1024;
inline constexpr int kSpeechWindowSecondsMax = 28;  // whisper sees 30 s
// attend / decode
inline constexpr std::size_t kPromptsMax = 16;
inline constexpr std::size_t kPromptBytesMax = 16'384;
inline constexpr std::size_t kContextLinesMax = 32;  // OCR and speech lines per prompt
inline constexpr std::size_t kAskMediaMax = 64;
inline constexpr std::size_t kConversationBytesMax = 1 << 20;  // texts of one question together
inline constexpr std::size_t kAnswerBytesMax = 65'536;
inline constexpr std::size_t kStopStringsMax = 16;
inline constexpr std::size_t kStopStringBytesMax = 256;
// emit
inline constexpr std::size_t kEventsQueued = 1024;  // full = the producer waits

}  // namespace saccade::core::limits
