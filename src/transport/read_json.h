#pragma once
// JSON of a request, read once into typed values with ranges; below this nothing knows JSON.
// Refused: what is no JSON or no UTF-8, a key given twice, more than kJsonDepthMax levels or
// kJsonValuesMax values. Keys nobody asks for are ignored, as clients send new ones all the time.
// Threads: one.
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace saccade::transport {

inline constexpr int kJsonDepthMax = 32;
inline constexpr std::size_t kJsonValuesMax = 100'000;

// The first thing wrong with a request, and the field at fault.
struct FieldError {
  std::string param;
  std::optional<core::Error> error;
};

// An inclusive range.
struct IntegerRange {
  std::int64_t low = 0, high = 0;
};
struct NumberRange {
  double low = 0, high = 0;
};

// A view of one value. Getters of a missing or null member give nothing; one of the wrong type or
// out of range gives nothing too and is kept as the error, if it is the first.
class JsonReader {
 public:
  bool is_object() const;
  bool is_array() const;
  bool is_text() const;
  bool is_empty() const;            // an object or array without anything in it
  bool has(const char* key) const;  // and not null

  std::optional<std::string> text(const char* key, std::size_t bytes_max) const;
  std::optional<std::int64_t> integer(const char* key, IntegerRange range) const;
  std::optional<double> number(const char* key, NumberRange range) const;
  std::optional<bool> flag(const char* key) const;
  std::optional<JsonReader> member(const char* key) const;  // of any type
  std::optional<JsonReader> object(const char* key) const;
  // Items of an array member; empty when missing.
  std::vector<JsonReader> items(const char* key, std::size_t items_max) const;

  // Of this value itself.
  std::vector<JsonReader> items(std::size_t items_max) const;
  std::string take_text() const;  // moved out; empty when it is no text

  // Keeps an error about this value, or about one of its members.
  void fail(core::ErrorCode code, const std::string& what, const std::string& hint = {}) const;
  void fail_at(const char* key, core::ErrorCode code, const std::string& what,
               const std::string& hint = {}) const;
  bool failed() const { return error_->error.has_value(); }
  const std::string& path() const { return path_; }

 private:
  friend class JsonDocument;
  JsonReader(nlohmann::json* value, std::string path, FieldError* error)
      : value_(value), path_(std::move(path)), error_(error) {}
  std::string path_of(const char* key) const;
  nlohmann::json* find(const char* key) const;

  nlohmann::json* value_;  // never null
  std::string path_;       // "messages[0].content"; empty for the whole
  FieldError* error_;
};

class JsonDocument {
 public:
  // Errors: kUsage.
  static core::Result<JsonDocument> parse(std::string_view text);
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;

  JsonReader root();
  const FieldError& error() const { return *error_; }

 private:
  JsonDocument();
  std::unique_ptr<nlohmann::json> value_;
  std::unique_ptr<FieldError> error_;
};

}  // namespace saccade::transport
