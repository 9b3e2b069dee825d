#include "transport/media_data.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "transport/ascii_text.h"

namespace saccade::transport {
namespace {

constexpr std::size_t kDataUrlHeadBytesMax = 1024;
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum : std::int8_t { kBad = -1, kSpace = -2, kPad = -3 };

constexpr std::array<std::int8_t, 256> kValues = [] {
  std::array<std::int8_t, 256> out{};
  out.fill(kBad);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    out[static_cast<unsigned char>(kDigits[i])] = static_cast<std::int8_t>(i);
  }
  out['-'] = 62;
  out['_'] = 63;
  out['='] = kPad;
  for (const char c : {' ', '\t', '\r', '\n'}) out[static_cast<unsigned char>(c)] = kSpace;
  return out;
}();

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// In place; a '%' without two digits makes it false.
bool decode_percent(std::string& text) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < text.size(); ++i, ++out) {
    if (text[i] != '%') {
      text[out] = text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return false;
    text[out] = static_cast<char>(high * 16 + low);
    i += 2;
  }
  text.resize(out);
  return true;
}

core::Error unusable(const std::string& what) {
  return core::error(core::ErrorCode::kMediaUnusable, what,
                     "send data:<type>;base64,<data> with the whole file");
}

core::Result<MediaData> take_bytes(std::string& text) {
  if (text.empty()) return unusable("the medium is empty (0 bytes)");
  return MediaData{.bytes = std::move(text), .file_path = {}};
}

core::Result<MediaData> read_data_url(std::string& text) {
  const std::size_t comma = text.substr(0, kDataUrlHeadBytesMax).find(',');
  if (comma == text.npos) return unusable("the data URL has no comma");
  const std::string head = text.substr(0, comma);
  text.erase(0, comma + 1);
  std::string_view type = std::string_view(head).substr(5);
  const std::size_t mark = type.rfind(';');
  const bool base64 = mark != type.npos &&
                      starts_with_ignoring_case(type.substr(mark), ";base64") &&
                      type.size() - mark == 7;
  if (text.find('%') != text.npos && !decode_percent(text)) {
    return unusable("the data URL has a broken percent escape");
  }
  if (base64 && !decode_base64(text)) return unusable("the data URL holds no valid base64");
  return take_bytes(text);
}

}  // namespace

bool decode_base64(std::string& text) {
  std::size_t out = 0, digits = 0;
  std::uint32_t bits = 0;
  bool padded = false;
  for (const char c : text) {
    const std::int8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kSpace) continue;
    if (value == kPad) {
      padded = true;
      continue;
    }
    if (value == kBad || padded) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (++digits % 4 == 0) {
      text[out++] = static_cast<char>(bits >> 16);
      text[out++] = static_cast<char>(bits >> 8);
      text[out++] = static_cast<char>(bits);
    }
  }
  const std::size_t rest = digits % 4;
  if (rest == 1) return false;
  if (rest >= 2) text[out++] = static_cast<char>(bits >> (rest == 2 ? 4 : 10));
  if (rest == 3) text[out++] = static_cast<char>(bits >> 2);
  text.resize(out);
  return true;
}

std::string encode_base64(const std::string& bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += j <= count ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

core::Result<MediaData> read_media(std::string& text) {
  if (starts_with_ignoring_case(text, "data:")) return read_data_url(text);
  if (starts_with_ignoring_case(text, "file://")) {
    std::string path = text.substr(7);
    if (!decode_percent(path) || path.find('\0') != path.npos) {
      return unusable("the file URL has a broken escape");
    }
    while (path.starts_with('/')) path.erase(0, 1);
    return MediaData{.bytes = {}, .file_path = std::move(path)};
  }
  const std::size_t scheme = text.substr(0, 64).find("://");
  if (scheme != text.npos) {
    return core::error(core::ErrorCode::kUsage, "remote media are not fetched by this server",
                       "send the bytes in a data URL");
  }
  if (!decode_base64(text)) return unusable("the medium is neither a data URL nor base64");
  return take_bytes(text);
}

}  // namespace saccade::transport
