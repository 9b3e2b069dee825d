#include "read_toml.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "emit/utf8.h"

namespace saccade::app {

namespace {

bool is_bare(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; }

// Reads from the front of the text. A failed read leaves a message; nothing is read after it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<std::vector<TomlEntry>> read() {
    std::vector<TomlEntry> out;
    while (skip_between(), good() && !text_.empty()) {
      TomlEntry entry;
      entry.line = line_;
      if (!read_entry(entry)) return std::nullopt;
      const bool twice = std::any_of(out.begin(), out.end(),
                                     [&](const TomlEntry& e) { return e.key == entry.key; });
      if (twice) return fail("'" + entry.key.substr(0, 64) + "' is set twice"), std::nullopt;
      out.push_back(std::move(entry));
    }
    if (!good()) return std::nullopt;
    return out;
  }
  const std::string& message() const { return message_; }
  std::size_t line() const { return line_; }

 private:
  bool good() const { return message_.empty(); }
  bool fail(std::string what) {
    if (good()) message_ = std::move(what);
    return false;
  }
  bool at(std::string_view start) const { return text_.starts_with(start); }
  void drop(std::size_t bytes) {
    line_ += static_cast<std::size_t>(
        std::count(text_.begin(), text_.begin() + static_cast<long>(bytes), '\n'));
    text_.remove_prefix(bytes);
  }
  bool take(std::string_view start) {
    if (!at(start)) return false;
    drop(start.size());
    return true;
  }
  void skip_blanks() { drop(std::min(text_.find_first_not_of(" \t"), text_.size())); }
  bool skip_line_end() { return take("\n") || take("\r\n"); }
  // A comment up to its line end.
  void skip_comment() {
    if (!at("#")) return;
    while (!text_.empty() && !at("\n") && !at("\r\n")) {
      if (is_control(text_.front())) return void(fail("a control character in a comment"));
      drop(1);
    }
  }
  // Blanks, comments and line ends.
  void skip_between() {
    do {
      skip_blanks();
      skip_comment();
    } while (good() && skip_line_end());
  }

  bool read_entry(TomlEntry& entry) {
    if (at("[")) return fail("there are no [sections] here");
    if (at("\"") || at("'")) {
      if (at("\"\"\"") || at("'''")) return fail("a name cannot have several lines");
      if (!read_text(entry.key)) return false;
    } else {
      while (!text_.empty() && is_bare(text_.front())) {
        entry.key += text_.front();
        drop(1);
      }
      if (entry.key.empty()) return fail("a line must begin with the name of a setting");
    }
    skip_blanks();
    if (at(".")) return fail("names with dots are not used here");
    if (!take("=")) return fail("'=' is missing behind '" + entry.key.substr(0, 64) + "'");
    skip_blanks();
    entry.list = at("[");
    if (!(entry.list ? read_list(entry.values) : read_scalar(entry.values))) return false;
    skip_blanks();
    skip_comment();
    if (!good()) return false;
    return text_.empty() || skip_line_end() || fail("something follows the value");
  }

  bool read_list(std::vector<TomlScalar>& values) {
    take("[");
    while (skip_between(), good() && !take("]")) {
      if (at("[") || at("{")) return fail("a list cannot hold lists or tables here");
      if (!read_scalar(values)) return false;
      skip_between();
      if (take(",")) continue;
      if (good() && !at("]")) return fail("',' or ']' is missing in a list");
    }
    return good();
  }

  bool read_scalar(std::vector<TomlScalar>& values) {
    using Kind = TomlScalar::Kind;
    TomlScalar value;
    if (at("\"") || at("'")) {
      if (!read_text(value.text)) return false;
      values.push_back(std::move(value));
      return true;
    }
    const auto end = std::min(text_.find_first_of(" \t\r\n,]#"), text_.size());
    const std::string_view word = text_.substr(0, end);
    if (word.empty()) return fail("a value is missing");
    value.kind = word == "true" || word == "false" ? Kind::kBool : Kind::kNumber;
    if (value.kind == Kind::kBool) {
      value.text = word;
    } else if (!read_number(word, value.text)) {
      return fail("'" + std::string(word.substr(0, 64)) + "' is no value; texts need \"quotes\"");
    }
    drop(end);
    values.push_back(std::move(value));
    return true;
  }

  // Decimal, as TOML has it: digits around each '_' and '.', no leading zeros.
  static bool read_number(std::string_view word, std::string& out) {
    if (word.front() == '+') {
      word.remove_prefix(1);
      if (word.starts_with('-')) return false;
    }
    const auto digit = [&](std::size_t i) {
      return i < word.size() && word[i] >= '0' && word[i] <= '9';
    };
    const std::string_view bare = word.substr(word.starts_with('-') ? 1 : 0);
    if (bare == "inf" || bare == "nan") {
      out = word;
      return true;
    }
    const std::size_t first = word.starts_with('-') ? 1 : 0;
    if (!digit(first) || (word[first] == '0' && digit(first + 1))) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const bool between = i > 0 && digit(i - 1) && digit(i + 1);
      if ((word[i] == '_' || word[i] == '.') && !between) return false;
      if (word[i] != '_') out += word[i];
    }
    double value = 0;
    const auto [end, why] = std::from_chars(out.data(), out.data() + out.size(), value);
    return end == out.data() + out.size() && why != std::errc::invalid_argument;
  }

  bool read_text(std::string& out) {
    const bool escapes = at("\"");
    const std::string_view one = escapes ? "\"" : "'";
    const std::string_view three = escapes ? "\"\"\"" : "'''";
    const bool lines = take(three);
    if (lines) {
      skip_line_end();
    } else {
      take(one);
    }
    const std::string_view close = lines ? three : one;
    while (!text_.empty()) {
      if (at(close)) {
        // Up to two quotes may stand right before the closing three.
        for (int extra = 0; extra < 2 && lines && text_.size() > 3 && text_[3] == one.front();
             ++extra) {
          out += one;
          drop(1);
        }
        return take(close);
      }
      if (escapes && at("\\")) {
        if (!read_escape(lines, out)) return false;
        continue;
      }
      if (at("\n") || at("\r\n")) {
        if (!lines) return fail("a text ends with its line; close the quotes");
        skip_line_end();
        out += '\n';
        continue;
      }
      if (is_control(text_.front())) return fail("a control character in a text");
      out += text_.front();
      drop(1);
    }
    return fail("a text is not closed");
  }

  bool read_escape(bool lines, std::string& out) {
    drop(1);
    if (text_.empty()) return fail("a text is not closed");
    const char kind = text_.front();
    constexpr std::string_view kNames = "btnfr\"\\", kMeans = "\b\t\n\f\r\"\\";
    if (const auto named = kNames.find(kind); named != kNames.npos) {
      out += kMeans[named];
      drop(1);
      return true;
    }
    if (kind == 'u' || kind == 'U') return read_code_point(kind == 'u' ? 4 : 8, out);
    // A backslash at a line's end swallows the blanks and line ends that follow.
    if (lines && (kind == ' ' || kind == '\t' || at("\n") || at("\r\n"))) {
      skip_blanks();
      if (!skip_line_end()) return fail("a backslash before a blank");
      do {
        skip_blanks();
      } while (skip_line_end());
      return true;
    }
    return fail(std::string("\\") + (is_control(kind) ? '?' : kind) + " means nothing; write \\\\");
  }

  bool read_code_point(std::size_t digits, std::string& out) {
    drop(1);
    std::uint32_t code = 0;
    const std::string_view hex = text_.substr(0, digits);
    const auto [end, why] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    const bool whole = why == std::errc() && end == hex.data() + digits;
    if (!whole || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      return fail("\\u needs the digits of a character");
    }
    emit::append_utf8(out, code);
    drop(digits);
    return true;
  }

  std::string_view text_;
  std::size_t line_ = 1;
  std::string message_;
};

}  // namespace

core::Result<std::vector<TomlEntry>> read_toml(std::string_view text, const std::string& path) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Reader reader(text);
  const auto failed = [&](std::size_t line, const std::string& what) {
    return core::error(core::ErrorCode::kUsage, path + ":" + std::to_string(line) + ": " + what,
                       "settings are lines like: fps = 5 or: model = \"text\"");
  };
  if (!emit::is_valid_utf8(text)) return failed(1, "the file is not UTF-8");
  auto entries = reader.read();
  if (!entries) return failed(reader.line(), reader.message());
  return std::move(*entries);
}

}  // namespace saccade::app
