#pragma once
// A small writer of one JSON object or array on one line. Keys keep the order they are given in;
// numbers are locale-free with a fixed greatest number of decimals; NaN and infinity are left out
// with their key; bytes that are no UTF-8 become U+FFFD. Threads: one.
#include <cstdint>
#include <string>
#include <string_view>

namespace saccade::transport {

// "text" with quotes and escapes.
std::string json_quote(std::string_view text);
// Fixed notation; trailing zeros cut unless `keep_zeros`. Empty when not finite.
std::string json_number(double value, int decimals, bool keep_zeros = false);

class JsonObject {
 public:
  void text(std::string_view key, std::string_view value);
  void flag(std::string_view key, bool value);
  void count(std::string_view key, std::uint64_t value);
  void number(std::string_view key, double value, int decimals);
  // Seconds with three decimals, always all three: 12.480.
  void seconds(std::string_view key, double value);
  // `json` must be a JSON value on one line.
  void raw(std::string_view key, std::string_view json);

  bool empty() const { return body_.empty(); }
  std::string str() const { return "{" + body_ + "}"; }

 private:
  void key(std::string_view name);
  std::string body_;
};

class JsonArray {
 public:
  void add(std::string_view json);
  std::string str() const { return "[" + body_ + "]"; }

 private:
  std::string body_;
};

}  // namespace saccade::transport
