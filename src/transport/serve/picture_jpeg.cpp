#include "transport/serve/picture_jpeg.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
// After cstdio, which it needs.
#include <jpeglib.h>

namespace saccade::transport {
namespace {

// libjpeg ends the process on an error unless it is led away; it can only be led away by a jump.
struct Escape {
  jpeg_error_mgr errors;
  std::jmp_buf back;
};

void jump_back(j_common_ptr info) { std::longjmp(reinterpret_cast<Escape*>(info->err)->back, 1); }
void say_nothing(j_common_ptr) {}

struct Buffer {
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
};

// Holds nothing that a jump would leave behind. False on any error.
bool compress(const core::PixelView& picture, Buffer& out) {
  jpeg_compress_struct info;
  Escape escape;
  info.err = jpeg_std_error(&escape.errors);
  escape.errors.error_exit = jump_back;
  escape.errors.output_message = say_nothing;
  if (setjmp(escape.back) != 0) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &out.bytes, &out.size);
  info.image_width = static_cast<JDIMENSION>(picture.width);
  info.image_height = static_cast<JDIMENSION>(picture.height);
  info.input_components = core::kRgbBytes;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, kJpegQuality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    // The library only reads it, but says so nowhere.
    JSAMPROW row = const_cast<JSAMPROW>(picture.row(static_cast<int>(info.next_scanline)));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

}  // namespace

core::Result<std::string> jpeg_of(const core::PixelView& picture) {
  Buffer buffer;
  const bool made = !picture.empty() && compress(picture, buffer);
  std::string out;
  if (made) out.assign(reinterpret_cast<const char*>(buffer.bytes), buffer.size);
  std::free(buffer.bytes);
  if (!made) return core::error(core::ErrorCode::kInternal, "the picture cannot be encoded");
  return out;
}

}  // namespace saccade::transport
