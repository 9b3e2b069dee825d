#include "ingest/av_handles.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
}

namespace saccade::ingest {

void AvFree::operator()(AVFormatContext* context) const { avformat_close_input(&context); }
void AvFree::operator()(AVIOContext* context) const { avio_closep(&context); }
void AvFree::operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
void AvFree::operator()(AVFrame* frame) const { av_frame_free(&frame); }
void AvFree::operator()(AVPacket* packet) const { av_packet_free(&packet); }
void AvFree::operator()(SwsContext* context) const { sws_freeContext(context); }
void AvFree::operator()(SwrContext* context) const { swr_free(&context); }

}  // namespace saccade::ingest
