#pragma once
// Reads a GGUF header from memory without trusting it (T17). llama.cpp sees a file only after this
// parser has: every count bounded, every string and array inside the file, every tensor of a known
// type with sizes that do not overflow, aligned, inside the file and not overlapping another.
// Pure functions; any thread.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"

namespace saccade::engine::gguf {

// Limits; a header beyond one is refused with the number and the limit.
inline constexpr std::uint64_t kKeysMax = 65'536;
inline constexpr std::uint64_t kTensorsMax = 65'536;
inline constexpr std::uint64_t kKeyBytesMax = 65'535;
inline constexpr std::uint64_t kStringBytesMax = 16ULL << 20;
inline constexpr std::uint64_t kArrayItemsMax = 16ULL << 20;
inline constexpr std::uint64_t kTensorNameBytesMax = 63;
inline constexpr std::uint32_t kTensorDimsMax = 4;
inline constexpr std::uint64_t kAlignmentMax = 1ULL << 20;
inline constexpr std::size_t kHeaderBytesMax = 256ULL << 20;

// Value types as the file numbers them.
enum class ValueType : std::uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};
std::string name_of(ValueType type);

// One metadata entry. Numbers are kept as double (exact up to 2^53: enough for range checks),
// strings as they are; of an array type and length are kept, and the texts of short ones: at most
// kTextsKeptMax of kTextKeptBytesMax.
inline constexpr std::uint64_t kTextsKeptMax = 64, kTextKeptBytesMax = 256;
struct Value {
  ValueType type = ValueType::kU8;
  std::variant<double, std::string> content = 0.0;
  ValueType item_type = ValueType::kU8;  // arrays
  std::uint64_t items = 0;               // arrays
  std::vector<std::string> texts = {};   // short arrays of strings
};

struct Header {
  std::uint32_t version = 0;
  std::map<std::string, Value, std::less<>> values;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> shapes;  // fastest first
  std::uint64_t tensors = 0;
  std::uint64_t parameters = 0;    // tensor elements in all
  std::uint64_t header_bytes = 0;  // up to and with the last tensor record
  std::uint64_t fingerprint = 0;   // FNV-1a over the header's bytes and the file size

  const Value* find(std::string_view key) const;
  std::string text(std::string_view key) const;              // "" when absent or no string
  std::optional<double> number(std::string_view key) const;  // nothing when absent or no number
  std::optional<bool> boolean(std::string_view key) const;   // nothing when absent or no bool
};

// What parsing a part of a file can end with besides an error: the part was too short.
struct NeedMore {};
using Parsed = std::variant<Header, NeedMore, core::Error>;

// `head` is the beginning of a file of `file_bytes` bytes (head.size() <= file_bytes). NeedMore
// only when head is shorter than the file. Errors: kModelUnusable, the message without a file name.
Parsed parse_gguf(std::span<const std::uint8_t> head, std::uint64_t file_bytes);

// Types and ranges of the entries that llama.cpp and mtmd read without checking themselves.
core::Status check_values(const Header& header);

}  // namespace saccade::engine::gguf
