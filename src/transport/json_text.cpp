#include "transport/json_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace saccade::transport {

std::string json_quote(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_number(double value, int decimals, bool keep_zeros) {
  // Beyond this a double has no decimals to show, and fixed notation would only get long.
  if (!std::isfinite(value)) return {};
  if (std::abs(value) > 1e15) return nlohmann::json(value).dump();
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::fixed, decimals).ptr;
  std::string out(buffer.data(), end);
  if (!keep_zeros && out.find('.') != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
  }
  return out == "-0" ? "0" : out;
}

void JsonObject::key(std::string_view name) {
  if (!body_.empty()) body_ += ',';
  body_ += json_quote(name);
  body_ += ':';
}

void JsonObject::text(std::string_view name, std::string_view value) {
  raw(name, json_quote(value));
}

void JsonObject::flag(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }

void JsonObject::count(std::string_view name, std::uint64_t value) {
  raw(name, std::to_string(value));
}

void JsonObject::number(std::string_view name, double value, int decimals) {
  if (const std::string text = json_number(value, decimals); !text.empty()) raw(name, text);
}

void JsonObject::seconds(std::string_view name, double value) {
  if (const std::string text = json_number(value, 3, true); !text.empty()) raw(name, text);
}

void JsonObject::raw(std::string_view name, std::string_view json) {
  key(name);
  body_ += json;
}

void JsonArray::add(std::string_view json) {
  if (!body_.empty()) body_ += ',';
  body_ += json;
}

}  // namespace saccade::transport
