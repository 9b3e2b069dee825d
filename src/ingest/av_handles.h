#pragma once
// Owners of FFmpeg objects, so that no early return leaks one.
#include <memory>

struct AVFormatContext;
struct AVIOContext;
struct AVCodecContext;
struct AVFrame;
struct AVPacket;
struct SwsContext;
struct SwrContext;

namespace saccade::ingest {

struct AvFree {
  void operator()(AVFormatContext* context) const;  // an input that was opened
  void operator()(AVIOContext* context) const;      // from an address, not from ReadBytes
  void operator()(AVCodecContext* context) const;
  void operator()(AVFrame* frame) const;
  void operator()(AVPacket* packet) const;
  void operator()(SwsContext* context) const;
  void operator()(SwrContext* context) const;
};

using FormatHandle = std::unique_ptr<AVFormatContext, AvFree>;
using IoHandle = std::unique_ptr<AVIOContext, AvFree>;
using CodecHandle = std::unique_ptr<AVCodecContext, AvFree>;
using FrameHandle = std::unique_ptr<AVFrame, AvFree>;
using PacketHandle = std::unique_ptr<AVPacket, AvFree>;
using SwsHandle = std::unique_ptr<SwsContext, AvFree>;
using SwrHandle = std::unique_ptr<SwrContext, AvFree>;

}  // namespace saccade::ingest
