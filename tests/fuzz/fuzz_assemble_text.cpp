// Any bytes, cut anywhere, give the same whole UTF-8 text: assembler, stop strings and filter, each
// alone and as the row the emitter makes of them.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "emit/assemble_text.h"
#include "emit/cut_stop.h"
#include "emit/filter_text.h"
#include "emit/utf8.h"

namespace {

using namespace saccade::emit;  // NOLINT: a fuzzer is one file

void require(bool holds) {
  if (!holds) std::abort();
}

// The row of an answer: bytes -> text -> stop -> filter, in two pieces.
std::string row(std::string_view bytes, std::size_t cut, const StopCutter& stop,
                const FilterWords& words) {
  TextAssembler assembler;
  StopCutter cutter = stop;
  TextFilter filter(words);
  std::string out;
  for (const std::string_view piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
    const std::string text = assembler.push(piece);
    require(is_valid_utf8(text));
    out += filter.push(cutter.push(text));
    require(is_valid_utf8(out));
  }
  std::string rest = cutter.push(assembler.finish());
  if (!cutter.stopped()) rest += cutter.finish();
  out += filter.push(rest);
  return out + filter.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 512) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  static const StopCutter stop = StopCutter::create({"ab", "abc", "\n\n", "€"}).value();
  static const FilterWords words = make_filter_words({"bad", "Größe", "x"}).value();

  const std::string text = repair_utf8(bytes);
  require(repair_utf8("." + text) == "." + text);
  const std::string whole = row(bytes, 0, stop, words);
  require(is_valid_utf8(whole));
  require(clean_text(whole) == whole);  // clean text stays as it is
  for (std::size_t cut = 1; cut <= size; ++cut) {
    require(row(bytes, cut, stop, words) == whole);
    TextAssembler assembler;
    std::string again = assembler.push(std::string_view(bytes).substr(0, cut));
    again += assembler.push(std::string_view(bytes).substr(cut));
    require(again + assembler.finish() == text);
  }
  return 0;
}
