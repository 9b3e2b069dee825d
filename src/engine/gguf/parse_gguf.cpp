// A cursor over the bytes that never reads past them; every failure is remembered once and ends the
// parse. Layout: magic, version, tensor count, entry count, entries, tensor records, padding, data.
#include "engine/gguf/parse_gguf.h"

#include <ggml.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace saccade::engine::gguf {
namespace {

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::uint64_t kAlignmentDefault = 32;
constexpr std::uint64_t kFnvOffset = 0xCBF29CE484222325ULL;
constexpr std::uint64_t kFnvPrime = 0x100000001B3ULL;

std::string number(std::uint64_t n) { return std::to_string(n); }

// Bytes of one value of a plain type; 0 for strings, arrays and unknown types.
std::uint64_t plain_bytes(ValueType type) {
  switch (type) {
    case ValueType::kU8:
    case ValueType::kI8:
    case ValueType::kBool:
      return 1;
    case ValueType::kU16:
    case ValueType::kI16:
      return 2;
    case ValueType::kU32:
    case ValueType::kI32:
    case ValueType::kF32:
      return 4;
    case ValueType::kU64:
    case ValueType::kI64:
    case ValueType::kF64:
      return 8;
    case ValueType::kString:
    case ValueType::kArray:
      break;
  }
  return 0;
}

class Cursor {
 public:
  Cursor(std::span<const std::uint8_t> head, std::uint64_t file_bytes)
      : head_(head), file_bytes_(file_bytes) {}

  bool ok() const { return !short_ && !error_; }
  bool need_more() const { return short_; }
  const std::optional<core::Error>& error() const { return error_; }
  std::uint64_t at() const { return at_; }

  void fail(std::string why) {
    if (ok()) error_ = core::error(core::ErrorCode::kModelUnusable, std::move(why));
  }

  // `bytes` more bytes of the file, or nothing and the reason is kept.
  const std::uint8_t* take(std::uint64_t bytes, const char* what) {
    if (!ok()) return nullptr;
    if (bytes > file_bytes_ - at_) {
      fail("cut short: " + std::string(what) + " at byte " + number(at_) + " needs " +
           number(bytes) + " bytes, the file has " + number(file_bytes_ - at_) + " more");
      return nullptr;
    }
    if (bytes > head_.size() - at_) {
      short_ = true;
      return nullptr;
    }
    const std::uint8_t* out = head_.data() + at_;
    at_ += bytes;
    return out;
  }

  template <typename T>
  T read(const char* what) {
    T out{};
    if (const auto* p = take(sizeof(T), what)) std::memcpy(&out, p, sizeof(T));
    return out;
  }

  std::string read_string(std::uint64_t bytes_max, const char* what) {
    const auto bytes = read<std::uint64_t>(what);
    if (!ok()) return {};
    if (bytes > bytes_max) {
      fail(std::string(what) + " of " + number(bytes) + " bytes (at most " + number(bytes_max) +
           ")");
      return {};
    }
    const auto* p = take(bytes, what);
    return p ? std::string(reinterpret_cast<const char*>(p), bytes) : std::string();
  }

 private:
  const std::span<const std::uint8_t> head_;
  const std::uint64_t file_bytes_;
  std::uint64_t at_ = 0;
  bool short_ = false;
  std::optional<core::Error> error_;
};

template <typename T>
double read_number(Cursor& in) {
  return static_cast<double>(in.read<T>("metadata value"));
}

double read_plain(Cursor& in, ValueType type) {
  switch (type) {
    case ValueType::kU8:
      return read_number<std::uint8_t>(in);
    case ValueType::kBool: {
      const auto byte = in.read<std::uint8_t>("metadata value");
      if (byte > 1) in.fail("truth value " + number(byte) + " (allowed 0 or 1)");
      return byte;
    }
    case ValueType::kI8:
      return read_number<std::int8_t>(in);
    case ValueType::kU16:
      return read_number<std::uint16_t>(in);
    case ValueType::kI16:
      return read_number<std::int16_t>(in);
    case ValueType::kU32:
      return read_number<std::uint32_t>(in);
    case ValueType::kI32:
      return read_number<std::int32_t>(in);
    case ValueType::kF32:
      return read_number<float>(in);
    case ValueType::kU64:
      return read_number<std::uint64_t>(in);
    case ValueType::kI64:
      return read_number<std::int64_t>(in);
    case ValueType::kF64:
      return read_number<double>(in);
    case ValueType::kString:
    case ValueType::kArray:
      break;
  }
  return 0;
}

ValueType read_type(Cursor& in, const std::string& key) {
  const auto raw = in.read<std::uint32_t>("metadata type");
  if (raw > static_cast<std::uint32_t>(ValueType::kF64)) {
    in.fail("entry '" + key + "' has unknown type " + number(raw) + " (allowed 0..12)");
    return ValueType::kU8;
  }
  return static_cast<ValueType>(raw);
}

void read_words(Cursor& in, std::uint64_t count) {
  std::unordered_set<std::string> seen;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    std::string word = in.read_string(kStringBytesMax, "word");
    word.resize(std::min(word.size(), word.find('\0')));  // it reads them as C strings
    if (!in.ok() || word.empty()) continue;
    if (!seen.insert(std::move(word)).second) {
      in.fail("word " + number(i) + " of the vocabulary stands there twice");
    }
  }
}

void read_array(Cursor& in, const std::string& key, Value& value) {
  value.item_type = read_type(in, key);
  value.items = in.read<std::uint64_t>("array length");
  if (!in.ok()) return;
  if (value.item_type == ValueType::kArray) return in.fail("entry '" + key + "' nests arrays");
  if (value.items > kArrayItemsMax) {
    return in.fail("entry '" + key + "' has " + number(value.items) + " items (at most " +
                   number(kArrayItemsMax) + ")");
  }
  if (value.item_type != ValueType::kString) {
    in.take(value.items * plain_bytes(value.item_type), "array");
    return;
  }
  // llama.cpp ends the process over a word that stands twice; empty ones it names itself.
  if (key == "tokenizer.ggml.tokens") return read_words(in, value.items);
  for (std::uint64_t i = 0; i < value.items && in.ok(); ++i) {
    const auto bytes = in.read<std::uint64_t>("array string");
    if (bytes > kStringBytesMax) {
      return in.fail("entry '" + key + "' has a string of " + number(bytes) + " bytes (at most " +
                     number(kStringBytesMax) + ")");
    }
    const std::uint8_t* text = in.take(bytes, "array string");
    if (value.items > kTextsKeptMax || bytes > kTextKeptBytesMax || text == nullptr) continue;
    value.texts.emplace_back(text, text + bytes);
  }
}

void read_entry(Cursor& in, Header& header) {
  const std::string key = in.read_string(kKeyBytesMax, "metadata key");
  if (!in.ok()) return;
  Value value;
  value.type = read_type(in, key);
  if (value.type == ValueType::kString) {
    value.content = in.read_string(kStringBytesMax, "metadata string");
  } else if (value.type == ValueType::kArray) {
    read_array(in, key, value);
  } else {
    value.content = read_plain(in, value.type);
  }
  if (!in.ok()) return;
  if (key.empty()) return in.fail("an entry has no name");
  if (!header.values.emplace(key, std::move(value)).second) {
    in.fail("entry '" + key + "' appears twice");
  }
}

struct Extent {
  std::uint64_t offset = 0, bytes = 0;
  std::string name;
};

// Elements and bytes of a tensor; the cursor fails when they overflow or do not fill whole blocks.
void measure(Cursor& in, const std::vector<std::uint64_t>& dims, std::uint32_t raw_type,
             Extent& extent, Header& header) {
  if (raw_type >= GGML_TYPE_COUNT || ggml_blck_size(static_cast<ggml_type>(raw_type)) <= 0) {
    return in.fail("tensor '" + extent.name + "' has unknown type " + number(raw_type));
  }
  const auto type = static_cast<ggml_type>(raw_type);
  const auto block = static_cast<std::uint64_t>(ggml_blck_size(type));
  std::uint64_t elements = 1;
  for (const auto dim : dims) {
    if (dim == 0 || dim > INT64_MAX || __builtin_mul_overflow(elements, dim, &elements) ||
        elements > INT64_MAX) {
      return in.fail("tensor '" + extent.name + "' has an impossible shape");
    }
  }
  if (dims.empty() || dims[0] % block != 0) {
    return in.fail("tensor '" + extent.name + "' does not fill whole blocks of " + number(block));
  }
  if (__builtin_mul_overflow(elements / block, std::uint64_t{ggml_type_size(type)},
                             &extent.bytes) ||
      __builtin_add_overflow(header.parameters, elements, &header.parameters)) {
    in.fail("tensor '" + extent.name + "' is too large");
  }
}

Extent read_tensor(Cursor& in, Header& header) {
  Extent extent;
  extent.name = in.read_string(kTensorNameBytesMax, "tensor name");
  const auto rank = in.read<std::uint32_t>("tensor rank");
  if (in.ok() && (rank == 0 || rank > kTensorDimsMax)) {
    in.fail("tensor '" + extent.name + "' has " + number(rank) + " dimensions (allowed 1..4)");
  }
  std::vector<std::uint64_t> dims;
  for (std::uint32_t i = 0; i < rank && in.ok(); ++i) {
    dims.push_back(in.read<std::uint64_t>("tensor shape"));
  }
  const auto type = in.read<std::uint32_t>("tensor type");
  extent.offset = in.read<std::uint64_t>("tensor offset");
  if (in.ok()) measure(in, dims, type, extent, header);
  if (in.ok() && !header.shapes.emplace(extent.name, std::move(dims)).second) {
    in.fail("tensor '" + extent.name + "' appears twice");
  }
  return extent;
}

// Every tensor inside the data part, aligned, and none over another.
void check_extents(Cursor& in, std::vector<Extent>& extents, std::uint64_t alignment,
                   std::uint64_t file_bytes) {
  const std::uint64_t data = (in.at() + alignment - 1) / alignment * alignment;
  const std::uint64_t room = data <= file_bytes ? file_bytes - data : 0;
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::uint64_t end = 0;
  const Extent* before = nullptr;
  for (const auto& extent : extents) {
    if (extent.offset % alignment != 0) {
      return in.fail("tensor '" + extent.name + "' is not aligned to " + number(alignment));
    }
    if (extent.offset > room || extent.bytes > room - extent.offset) {
      return in.fail("cut short: tensor '" + extent.name + "' ends at byte " + number(data) +
                     " + " + number(extent.offset) + " + " + number(extent.bytes) +
                     ", the file has " + number(file_bytes));
    }
    if (before != nullptr && extent.offset < end) {
      return in.fail("tensors '" + before->name + "' and '" + extent.name + "' overlap");
    }
    end = extent.offset + extent.bytes;
    before = &extent;
  }
}

void read_start(Cursor& in, Header& header, std::uint64_t& keys) {
  const auto magic = in.read<std::uint32_t>("magic");
  if (in.ok() && magic != kMagic) return in.fail("not a GGUF file");
  header.version = in.read<std::uint32_t>("version");
  if (in.ok() && (header.version & 0xFFFF) == 0 && header.version != 0) {
    return in.fail("a big-endian GGUF file; only little-endian ones can be read");
  }
  if (in.ok() && header.version != 2 && header.version != 3) {
    return in.fail("GGUF version " + number(header.version) + " (allowed 2 and 3)");
  }
  header.tensors = in.read<std::uint64_t>("tensor count");
  keys = in.read<std::uint64_t>("entry count");
  if (header.tensors > kTensorsMax) {
    in.fail(number(header.tensors) + " tensors (at most " + number(kTensorsMax) + ")");
  }
  if (keys > kKeysMax) in.fail(number(keys) + " entries (at most " + number(kKeysMax) + ")");
}

void read_header(Cursor& in, Header& header, std::uint64_t file_bytes) {
  std::uint64_t keys = 0;
  read_start(in, header, keys);
  for (std::uint64_t i = 0; i < keys && in.ok(); ++i) read_entry(in, header);
  std::uint64_t alignment = kAlignmentDefault;
  if (const Value* value = header.find("general.alignment"); in.ok() && value != nullptr) {
    alignment = static_cast<std::uint64_t>(header.number("general.alignment").value_or(0));
    if (value->type != ValueType::kU32 || alignment == 0 || alignment > kAlignmentMax ||
        (alignment & (alignment - 1)) != 0) {
      return in.fail("general.alignment is no power of two up to " + number(kAlignmentMax));
    }
  }
  std::vector<Extent> extents;
  for (std::uint64_t i = 0; i < header.tensors && in.ok(); ++i) {
    extents.push_back(read_tensor(in, header));
  }
  if (in.ok()) check_extents(in, extents, alignment, file_bytes);
}

std::uint64_t fnv(std::uint64_t hash, const std::uint8_t* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * kFnvPrime;
  return hash;
}

}  // namespace

std::string name_of(ValueType type) {
  static constexpr const char* kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<std::uint32_t>(type)];
}

const Value* Header::find(std::string_view key) const {
  const auto it = values.find(key);
  return it == values.end() ? nullptr : &it->second;
}

std::string Header::text(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr || value->type != ValueType::kString) return {};
  return std::get<std::string>(value->content);
}

std::optional<double> Header::number(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr || value->type == ValueType::kString || value->type == ValueType::kArray) {
    return std::nullopt;
  }
  return std::get<double>(value->content);
}

std::optional<bool> Header::boolean(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr || value->type != ValueType::kBool) return std::nullopt;
  return std::get<double>(value->content) != 0.0;
}

Parsed parse_gguf(std::span<const std::uint8_t> head, std::uint64_t file_bytes) {
  Header header;
  Cursor in(head.first(std::min<std::uint64_t>(head.size(), file_bytes)), file_bytes);
  read_header(in, header, file_bytes);
  if (in.need_more()) return NeedMore{};
  if (in.error()) return *in.error();
  header.header_bytes = in.at();
  header.fingerprint = fnv(kFnvOffset, head.data(), header.header_bytes);
  header.fingerprint = fnv(header.fingerprint, reinterpret_cast<const std::uint8_t*>(&file_bytes),
                           sizeof(file_bytes));
  return header;
}

}  // namespace saccade::engine::gguf
