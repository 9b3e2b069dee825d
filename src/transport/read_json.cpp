#include "transport/read_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace saccade::transport {
namespace {

using Json = nlohmann::json;

// Builds the tree under the bounds. nlohmann's own builder keeps the last of equal keys, quietly.
class BoundedBuilder final : public nlohmann::json_sax<Json> {
 public:
  explicit BoundedBuilder(Json& root) : root_(root) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (open_.back()->contains(name)) return refuse("the key '" + name.substr(0, 64) + "' twice");
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return refuse("an error near byte " + std::to_string(position));
  }

  std::string complaint;

 private:
  bool refuse(std::string what) {
    complaint = std::move(what);
    return false;
  }
  template <typename Value>
  bool add(Value&& value) {
    return place(Json(std::forward<Value>(value))) != nullptr;
  }
  Json* place(Json value) {
    if (++values_ > kJsonValuesMax) {
      refuse("more than " + std::to_string(kJsonValuesMax) + " values");
      return nullptr;
    }
    if (open_.empty()) return &(root_ = std::move(value));
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }
  bool open(Json value) {
    if (open_.size() >= kJsonDepthMax) {
      return refuse("more than " + std::to_string(kJsonDepthMax) + " levels");
    }
    Json* placed = place(std::move(value));
    if (placed) open_.push_back(placed);
    return placed != nullptr;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json& root_;
  std::vector<Json*> open_;  // objects and arrays around the next value
  std::string key_;
  std::size_t values_ = 0;
};

std::string shown(double value) {
  std::string text = Json(value).dump();
  return text.size() > 24 ? text.substr(0, 24) : text;
}

}  // namespace

JsonDocument::JsonDocument()
    : value_(std::make_unique<Json>()), error_(std::make_unique<FieldError>()) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

core::Result<JsonDocument> JsonDocument::parse(std::string_view text) {
  JsonDocument document;
  BoundedBuilder builder(*document.value_);
  if (Json::sax_parse(text, &builder)) return document;
  return core::error(core::ErrorCode::kUsage, "the body is no JSON we take: " + builder.complaint,
                     "send one JSON object");
}

JsonReader JsonDocument::root() { return JsonReader(value_.get(), {}, error_.get()); }

bool JsonReader::is_object() const { return value_->is_object(); }
bool JsonReader::is_array() const { return value_->is_array(); }
bool JsonReader::is_empty() const { return value_->empty(); }
bool JsonReader::is_text() const { return value_->is_string(); }

std::string JsonReader::path_of(const char* key) const {
  return path_.empty() ? key : path_ + "." + key;
}

Json* JsonReader::find(const char* key) const {
  if (!value_->is_object()) return nullptr;
  const auto found = value_->find(key);
  return found == value_->end() || found->is_null() ? nullptr : &*found;
}

bool JsonReader::has(const char* key) const { return find(key) != nullptr; }

void JsonReader::fail(core::ErrorCode code, const std::string& what,
                      const std::string& hint) const {
  if (failed()) return;
  error_->param = path_;
  error_->error = core::error(code, (path_.empty() ? "the body" : path_) + " " + what, hint);
}

void JsonReader::fail_at(const char* key, core::ErrorCode code, const std::string& what,
                         const std::string& hint) const {
  JsonReader(value_, path_of(key), error_).fail(code, what, hint);
}

std::optional<std::string> JsonReader::text(const char* key, std::size_t bytes_max) const {
  Json* found = find(key);
  if (!found) return std::nullopt;
  if (!found->is_string()) {
    fail_at(key, core::ErrorCode::kUsage, "must be a string");
    return std::nullopt;
  }
  auto& text = found->get_ref<std::string&>();
  if (text.size() <= bytes_max) return std::move(text);
  fail_at(key, core::ErrorCode::kUsage,
          "has " + std::to_string(text.size()) + " bytes, allowed are at most " +
              std::to_string(bytes_max));
  return std::nullopt;
}

std::optional<std::int64_t> JsonReader::integer(const char* key, IntegerRange range) const {
  const Json* found = find(key);
  if (!found) return std::nullopt;
  const double value = found->is_number() ? found->get<double>() : std::nan("");
  const bool whole = found->is_number_integer() || std::floor(value) == value;
  // Compared as doubles first: a huge one must not wrap around.
  if (whole && value >= static_cast<double>(range.low) &&
      value <= static_cast<double>(range.high)) {
    const auto out =
        found->is_number_integer() ? found->get<std::int64_t>() : static_cast<std::int64_t>(value);
    if (out >= range.low && out <= range.high) return out;
  }
  const std::string allowed = std::to_string(range.low) + ".." + std::to_string(range.high);
  if (!found->is_number()) {
    fail_at(key, core::ErrorCode::kUsage, "must be a whole number, " + allowed);
  } else {
    fail_at(key, core::ErrorCode::kUsage, "is " + shown(value) + ", allowed are " + allowed);
  }
  return std::nullopt;
}

std::optional<double> JsonReader::number(const char* key, NumberRange range) const {
  const Json* found = find(key);
  if (!found) return std::nullopt;
  const double value = found->is_number() ? found->get<double>() : std::nan("");
  if (value >= range.low && value <= range.high) return value;
  const std::string allowed = shown(range.low) + ".." + shown(range.high);
  fail_at(key, core::ErrorCode::kUsage,
          found->is_number() ? "is " + shown(value) + ", allowed are " + allowed
                             : "must be a number, " + allowed);
  return std::nullopt;
}

std::optional<bool> JsonReader::flag(const char* key) const {
  const Json* found = find(key);
  if (!found) return std::nullopt;
  if (found->is_boolean()) return found->get<bool>();
  fail_at(key, core::ErrorCode::kUsage, "must be true or false");
  return std::nullopt;
}

std::optional<JsonReader> JsonReader::member(const char* key) const {
  Json* found = find(key);
  if (!found) return std::nullopt;
  return JsonReader(found, path_of(key), error_);
}

std::optional<JsonReader> JsonReader::object(const char* key) const {
  auto found = member(key);
  if (!found || found->is_object()) return found;
  found->fail(core::ErrorCode::kUsage, "must be an object");
  return std::nullopt;
}

std::vector<JsonReader> JsonReader::items(const char* key, std::size_t items_max) const {
  const auto found = member(key);
  return found ? found->items(items_max) : std::vector<JsonReader>();
}

std::vector<JsonReader> JsonReader::items(std::size_t items_max) const {
  std::vector<JsonReader> out;
  if (!value_->is_array()) {
    fail(core::ErrorCode::kUsage, "must be an array");
    return out;
  }
  if (value_->size() > items_max) {
    fail(core::ErrorCode::kUsage, "has " + std::to_string(value_->size()) +
                                      " items, allowed are at most " + std::to_string(items_max));
    return out;
  }
  out.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    out.push_back(JsonReader(&(*value_)[i], path_ + "[" + std::to_string(i) + "]", error_));
  }
  return out;
}

std::string JsonReader::take_text() const {
  return value_->is_string() ? std::move(value_->get_ref<std::string&>()) : std::string();
}

}  // namespace saccade::transport
