#include "doctor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "transport/json_text.h"

namespace saccade::app {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMemoryBytesMin = 2ULL << 30;

std::string megabytes(std::uint64_t bytes) {
  char text[48];
  if (bytes >= 10'000'000'000ULL) {
    std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) / 1e9);
  } else {
    std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  }
  return text;
}

#if defined(__x86_64__)
// Not every compiler's __builtin_cpu_supports knows this name.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

Check check_processor() {
  Check check{"processor", true, "", "", true};
  std::string missing;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const std::array<std::pair<const char*, bool>, 4> features = {{
      {"avx2", __builtin_cpu_supports("avx2") != 0},
      {"fma", __builtin_cpu_supports("fma") != 0},
      {"bmi2", __builtin_cpu_supports("bmi2") != 0},
      {"f16c", has_f16c()},
  }};
  for (const auto& [name, there] : features) {
    (there ? check.detail : missing) += std::string(" ") + name;
  }
  if (__builtin_cpu_supports("avx512f") != 0) check.detail += " avx512f";
#endif
  check.detail = std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " cores," + check.detail;
  if (!missing.empty()) {
    check.ok = false;
    check.detail += "; missing:" + missing;
    check.fix = "use a processor with AVX2 (x86-64-v3, 2013 or later)";
  }
  return check;
}

// "MemAvailable:   123 kB" of /proc/meminfo; 0 when not there.
std::uint64_t meminfo_bytes(const std::string& root, std::string_view name) {
  std::ifstream in(root + "/proc/meminfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream rest(line.substr(name.size() + 1));
    std::uint64_t kilobytes = 0;
    rest >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

Check check_memory(const std::string& root) {
  std::uint64_t free_bytes = meminfo_bytes(root, "MemAvailable");
  std::string detail = megabytes(free_bytes) + " available";
  std::ifstream limit_file(root + "/sys/fs/cgroup/memory.max");
  std::ifstream used_file(root + "/sys/fs/cgroup/memory.current");
  std::uint64_t limit = 0, used = 0;
  if (limit_file >> limit && used_file >> used) {
    const std::uint64_t rest = limit > used ? limit - used : 0;
    detail += ", " + megabytes(rest) + " under the group's limit";
    free_bytes = std::min(free_bytes, rest);
  }
  Check check{"memory", free_bytes >= kMemoryBytesMin, detail, "", false};
  if (!check.ok) check.fix = "close other programs: 2 GB free are enough for the bundled models";
  return check;
}

Check check_file(const std::string& name, const std::string& path, const std::string& setting,
                 const ModelPlaces& places) {
  Check check{name, true, path, "", true};
  std::error_code why;
  const auto bytes = path.empty() ? 0 : fs::file_size(path, why);
  if (path.empty()) {
    const core::Error error = missing_model(name, setting, places);
    check = {name, false, "not found", error.hint, true};
  } else if (why || bytes == 0 || ::access(path.c_str(), R_OK) != 0) {
    check.ok = false;
    check.detail += why ? ": " + why.message() : bytes == 0 ? ": empty" : ": no right to read";
    check.fix = "fetch it again, or give " + setting + " another file";
  } else {
    check.detail += " (" + megabytes(bytes) + ")";
  }
  return check;
}

Check check_gguf(const DoctorInput& input, const std::string& name, const std::string& path,
                 const std::string& setting) {
  Check check = check_file(name, path, setting, input.places);
  if (!check.ok || !input.inspect) return check;
  const auto facts = input.inspect(path);
  if (!facts) {
    check.ok = false;
    check.detail = facts.error().message;
    check.fix = facts.error().hint.empty() ? "fetch the model again" : facts.error().hint;
    return check;
  }
  const std::string kind = facts->projector.empty() ? facts->architecture : facts->projector;
  check.detail += ", " + kind;
  return check;
}

std::vector<Check> check_cameras(const std::string& root) {
  std::vector<std::string> found, closed;
  std::error_code why;
  for (fs::directory_iterator it(root + "/dev", why), end; !why && it != end; it.increment(why)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with("video") || name.size() < 6) continue;
    const bool open = ::access(it->path().c_str(), R_OK | W_OK) == 0;
    (open ? found : closed).push_back("/dev/" + name);
  }
  std::sort(found.begin(), found.end());
  std::vector<Check> out;
  std::string list;
  for (const std::string& name : found) list += (list.empty() ? "" : " ") + name;
  out.push_back({"cameras", true, list.empty() ? "none attached" : list, "", false});
  if (!closed.empty()) {
    out.push_back({"camera rights", false, "no right to open " + closed.front(),
                   "add yourself to the group: sudo usermod -aG video $USER, then log in again",
                   false});
  }
  return out;
}

Check check_energy(const std::string& root) {
  const std::string counter = root + "/sys/class/powercap/intel-rapl:0/energy_uj";
  const bool there = ::access(counter.c_str(), R_OK) == 0;
  return {"energy counter", true, there ? "RAPL package counter" : "none; energy is not reported",
          "", false};
}

}  // namespace

std::vector<Check> run_checks(const DoctorInput& input) {
  std::vector<Check> out = {check_processor(), check_memory(input.system_root)};
  if (!input.backend.empty()) out.push_back({"engine", true, input.backend, "", true});
  if (!input.paths) {
    const core::Error& error = input.paths.error();
    out.push_back({"models", false, error.message, error.hint, true});
  } else {
    const ModelPaths& paths = *input.paths;
    out.push_back(check_gguf(input, "language model", paths.model, "--model"));
    out.push_back(check_gguf(input, "vision projector", paths.mmproj, "--mmproj"));
    out.push_back(check_file("speech model", paths.speech, "--speech-model", input.places));
    out.push_back(check_file("voice detector", paths.vad, "--vad-model", input.places));
    out.push_back(check_file("text detector", paths.ocr_det, "--ocr-det", input.places));
    out.push_back(check_file("text reader", paths.ocr_rec, "--ocr-rec", input.places));
  }
  for (Check& check : check_cameras(input.system_root)) out.push_back(std::move(check));
  out.push_back(check_energy(input.system_root));
  out.insert(out.end(), input.more.begin(), input.more.end());
  return out;
}

int doctor_exit_code(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.required && !check.ok; })
             ? 1
             : 0;
}

std::string checks_text(const std::vector<Check>& checks, const TerminalStyle& style) {
  int columns = 0;
  for (const Check& check : checks)
    columns = std::max(columns, display_width(printable(check.name)));
  std::string out;
  int broken = 0;
  for (const Check& check : checks) {
    const std::string name = printable(check.name);
    broken += check.required && !check.ok ? 1 : 0;
    const std::string mark = check.ok         ? painted("ok  ", "32", style)
                             : check.required ? painted("FAIL", "1;31", style)
                                              : painted("note", "33", style);
    out += "  " + mark + "  " + painted(name, "1", style) +
           std::string(static_cast<std::size_t>(columns - display_width(name)), ' ') + "  " +
           printable(check.detail) + "\n";
    if (!check.fix.empty()) {
      out += "        " + painted("-> " + printable(check.fix), "36", style) + "\n";
    }
  }
  out += broken == 0 ? painted("\n  Ready.\n", "1;32", style)
                     : painted("\n  " + std::to_string(broken) + " of " +
                                   std::to_string(checks.size()) + " do not work.\n",
                               "1;31", style);
  return out;
}

std::string checks_json(const std::vector<Check>& checks) {
  transport::JsonArray list;
  for (const Check& check : checks) {
    transport::JsonObject row;
    row.text("name", check.name);
    row.flag("ok", check.ok);
    row.flag("required", check.required);
    row.text("detail", check.detail);
    if (!check.fix.empty()) row.text("fix", check.fix);
    list.add(row.str());
  }
  transport::JsonObject out;
  out.flag("ok", doctor_exit_code(checks) == 0);
  out.raw("checks", list.str());
  return out.str();
}

}  // namespace saccade::app
