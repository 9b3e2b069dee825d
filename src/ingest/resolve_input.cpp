#include "ingest/resolve_input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include "core/limits.h"
#include "ingest/allow_list.h"

namespace saccade::ingest {
namespace {

using core::error;
using core::ErrorCode;

constexpr double kFpsMax = 1000;
constexpr std::chrono::milliseconds kWaitMin{100};
constexpr std::chrono::milliseconds kWaitMax{std::chrono::hours(24)};

core::Status check_wait(const char* name, std::chrono::milliseconds value) {
  if (value >= kWaitMin && value <= kWaitMax) return {};
  return error(ErrorCode::kUsage, std::string(name) + " is " + std::to_string(value.count()) +
                                      " ms; allowed are " + std::to_string(kWaitMin.count()) +
                                      " ms to 24 h");
}

core::Status check_options(const SourceOptions& options) {
  if (!std::isfinite(options.fps) || options.fps < 0 || options.fps > kFpsMax) {
    return error(ErrorCode::kUsage, "fps is " + std::to_string(options.fps) +
                                        "; allowed are 0 (every picture) to 1000");
  }
  if (options.animation_frames_max < 0) {
    return error(ErrorCode::kUsage, "animation frames are " +
                                        std::to_string(options.animation_frames_max) +
                                        "; allowed are 0 (all) and more");
  }
  if (!options.want_video && !options.want_audio) {
    return error(ErrorCode::kUsage, "neither picture nor sound is wanted", "ask for one of them");
  }
  if (auto status = check_wait("watchdog", options.watchdog); !status) return status;
  if (options.connect_limit.count() != 0) {
    if (auto status = check_wait("connect limit", options.connect_limit); !status) return status;
  }
  return check_wait("open timeout", options.open_timeout);
}

core::Status check_address(const std::string& url) {
  if (url.empty()) {
    return error(ErrorCode::kUsage, "the source is empty", "name a file, an address or '-'");
  }
  if (url.size() > core::limits::kSourceUrlBytesMax) {
    return error(ErrorCode::kUsage, "the source's name has " + std::to_string(url.size()) +
                                        " bytes; allowed are " +
                                        std::to_string(core::limits::kSourceUrlBytesMax));
  }
  const bool control =
      std::any_of(url.begin(), url.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (control) return error(ErrorCode::kUsage, "the source's name holds control characters");
  return {};
}

core::Status check_loop(const SourceOptions& options, const ResolvedInput& input) {
  if (!options.loop || input.regular) return {};
  return error(ErrorCode::kUsage, input.name + ": only a file can be looped",
               "leave out loop, or save the input to a file");
}

core::Error unreachable(const std::string& name, int reason) {
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
      return error(ErrorCode::kSourceUnreachable, name + ": no such file", "check the path");
    case EACCES:
    case EPERM:
      return error(ErrorCode::kSourceUnreachable, name + ": no permission to read it",
                   "change its mode, or run as a user who may");
    case ENAMETOOLONG:
      return error(ErrorCode::kUsage, name + ": the path is too long");
    default:
      return error(ErrorCode::kSourceUnreachable,
                   name + ": cannot be opened: " + std::strerror(reason));
  }
}

// `file` is open; what is it?
core::Result<ResolvedInput> check_file(ResolvedInput input) {
  struct stat facts = {};
  if (fstat(input.file.get(), &facts) != 0) return unreachable(input.name, errno);
  if (S_ISDIR(facts.st_mode)) {
    return error(ErrorCode::kMediaUnusable, input.name + ": is a directory", "name a file in it");
  }
  input.regular = S_ISREG(facts.st_mode);
  if (input.regular && facts.st_size == 0) {
    return error(ErrorCode::kMediaUnusable, input.name + ": is empty (0 bytes)",
                 "check that it was written or downloaded completely");
  }
  if (!input.regular && !S_ISFIFO(facts.st_mode) && !S_ISSOCK(facts.st_mode)) {
    return error(ErrorCode::kMediaUnusable, input.name + ": is neither a file nor a pipe",
                 "cameras are /dev/videoN");
  }
  return input;
}

core::Result<ResolvedInput> resolve_stdin() {
  ResolvedInput input;
  input.name = "standard input";
  if (isatty(STDIN_FILENO) == 1) {
    return error(ErrorCode::kUsage, "standard input is a terminal",
                 "pipe media into it: ... | saccade watch -");
  }
  input.file = Fd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!input.file) {
    return error(ErrorCode::kSourceUnreachable, "standard input is closed", "pipe media into it");
  }
  return check_file(std::move(input));
}

core::Result<ResolvedInput> resolve_path(const std::string& path) {
  ResolvedInput input;
  input.name = path;
  // Without O_NONBLOCK the opening of a pipe nobody writes to would never return.
  input.file = Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!input.file) return unreachable(path, errno);
  const int flags = fcntl(input.file.get(), F_GETFL);
  fcntl(input.file.get(), F_SETFL, flags & ~O_NONBLOCK);
  return check_file(std::move(input));
}

core::Result<ResolvedInput> resolve_device(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0) {
    return error(ErrorCode::kSourceUnreachable, path + ": no such device",
                 "plug the camera in; `ls /dev/video*` shows what is there");
  }
  if (!S_ISCHR(facts.st_mode)) {
    return error(ErrorCode::kMediaUnusable, path + ": is no video device");
  }
  if (access(path.c_str(), R_OK | W_OK) != 0) {
    return error(ErrorCode::kSourceUnreachable, path + ": no permission to use it",
                 "add your user to the group `video`");
  }
  ResolvedInput input;
  input.kind = SourceKind::kPushed;
  input.policy = SandboxPolicy::kDevice;
  input.name = path;
  return input;
}

// A copy in memory: the worker may open no file, and not as the user who may read this one.
core::Result<Fd> copy_certificates(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return error(ErrorCode::kUsage, "certificates " + path + ": " + why,
                 "name a PEM file with the certificates to trust");
  };
  std::ifstream file(path, std::ios::binary);
  std::string text(kCertificatesBytesMax + 1, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof()) {
    return refuse("cannot be read");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kCertificatesBytesMax) {
    return refuse("is larger than " + std::to_string(kCertificatesBytesMax) + " bytes");
  }
  if (text.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    return refuse("holds no certificate");
  }
  Fd copy(memfd_create("saccade-certificates", MFD_CLOEXEC));
  if (!copy || write(copy.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return error(ErrorCode::kExhausted, "no memory for the certificates of " + path);
  }
  return copy;
}

core::Status check_trust(const SourceOptions& options, const ResolvedInput& input) {
  if (scheme_name(options.url) != "rtsps" || options.tls_insecure) return {};
  return error(ErrorCode::kUsage,
               input.name + ": the certificate of an RTSP server cannot be checked",
               "--tls-insecure takes any: encrypted, but not proof against an impostor");
}

core::Result<ResolvedInput> resolve_network(const std::string& url) {
  ResolvedInput input;
  input.name = redact_url(url);
  const Scheme scheme = scheme_of(url);
  if (scheme == Scheme::kUnknown) {
    const bool file = url.starts_with("file:");
    return error(ErrorCode::kUsage,
                 input.name + ": unknown scheme '" + url.substr(0, url.find("://")) +
                     "'; allowed are rtsp, rtsps, rtmp, rtmps, srt, http, https",
                 file ? "give the plain path" : "");
  }
  const std::string_view host = std::string_view(input.name).substr(input.name.find("://") + 3);
  if (host.empty() || host.front() == '/') {
    return error(ErrorCode::kUsage, input.name + ": names no host");
  }
  input.kind = scheme == Scheme::kHttp ? SourceKind::kPulled : SourceKind::kPushed;
  input.policy = SandboxPolicy::kNetwork;
  return input;
}

ResolvedInput pushed_input() {
  ResolvedInput input;
  input.kind = SourceKind::kClient;
  input.name = "push";
  return input;
}

core::Result<ResolvedInput> resolve(const std::string& url) {
  if (url == "-") return resolve_stdin();
  if (url.find("://") != std::string::npos) return resolve_network(url);
  if (scheme_of(url) == Scheme::kDevice) return resolve_device(url);
  return resolve_path(url);
}

}  // namespace

core::Result<ResolvedInput> resolve_input(const SourceOptions& options) {
  if (auto status = check_options(options); !status) return status.error();
  if (!options.push) {
    if (auto status = check_address(options.url); !status) return status.error();
  }
  auto input = options.push ? pushed_input() : resolve(options.url);
  if (!input) return input;
  if (auto status = check_loop(options, *input); !status) return status.error();
  if (auto status = check_trust(options, *input); !status) return status.error();
  if (input->policy != SandboxPolicy::kNetwork || options.tls_ca_file.empty()) return input;
  auto certificates = copy_certificates(options.tls_ca_file);
  if (!certificates) return certificates.error();
  input->certificates = std::move(*certificates);
  return input;
}

}  // namespace saccade::ingest
