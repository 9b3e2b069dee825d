#include "transport/hub_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace saccade::transport {

namespace {

namespace fs = std::filesystem;

core::Error disk_error(const std::string& path, const std::error_code& why) {
  return core::error(core::ErrorCode::kExhausted, "cannot write " + path + ": " + why.message(),
                     "free space or rights there, or set HF_HUB_CACHE to another folder");
}

core::Status make_folder(const fs::path& path) {
  std::error_code why;
  fs::create_directories(path, why);
  if (why) return disk_error(path.string(), why);
  return {};
}

}  // namespace

HubCache::HubCache(std::string root, const std::string& repo) : root_(std::move(root)) {
  repo_ = "models--" + repo;
  repo_.replace(repo_.find('/'), 1, "--");
  repo_folder_ = root_ + "/" + repo_;
}

std::string HubCache::blob_path(const HubFile& file) const {
  return repo_folder_ + "/blobs/" + file.sha256;
}

std::string HubCache::lock_path(const HubFile& file) const {
  return root_ + "/.locks/" + repo_ + "/" + file.sha256 + ".lock";
}

std::string HubCache::snapshot_path(const std::string& commit, const std::string& path) const {
  return repo_folder_ + "/snapshots/" + commit + "/" + path;
}

core::Status HubCache::prepare() const {
  for (const std::string& folder : {repo_folder_ + "/blobs", repo_folder_ + "/refs",
                                    repo_folder_ + "/snapshots", root_ + "/.locks/" + repo_}) {
    if (core::Status made = make_folder(folder); !made.ok()) return made;
  }
  return {};
}

bool HubCache::has_blob(const HubFile& file) const {
  std::error_code why;
  return fs::file_size(blob_path(file), why) == file.bytes && !why;
}

std::uint64_t HubCache::incomplete_bytes(const HubFile& file) const {
  std::error_code why;
  const auto bytes = fs::file_size(incomplete_path(file), why);
  return why ? 0 : bytes;
}

core::Status HubCache::check_space(const std::vector<HubFile>& files) const {
  std::uint64_t needed = 0;
  for (const HubFile& file : files) {
    if (!has_blob(file)) needed += file.bytes - std::min(file.bytes, incomplete_bytes(file));
  }
  std::error_code why;
  const fs::space_info space = fs::space(root_, why);
  if (why || space.available >= needed) return {};
  return core::error(core::ErrorCode::kExhausted,
                     "the download needs " + std::to_string(needed / 1'000'000) + " MB and " +
                         root_ + " has " + std::to_string(space.available / 1'000'000) + " MB free",
                     "free space there, or set HF_HUB_CACHE to another folder");
}

core::Status HubCache::link(const std::string& commit, const HubFile& file) const {
  const fs::path at = snapshot_path(commit, file.path);
  if (core::Status made = make_folder(at.parent_path()); !made.ok()) return made;
  std::string target = "../../blobs/" + file.sha256;
  const auto depth = std::count(file.path.begin(), file.path.end(), '/');
  for (auto i = 0; i < depth; ++i) target.insert(0, "../");
  std::error_code why;
  if (fs::read_symlink(at, why) == target && !why) return {};
  const fs::path fresh = at.string() + ".new";
  fs::remove(fresh, why);
  fs::create_symlink(target, fresh, why);
  if (!why) fs::rename(fresh, at, why);
  if (why) return disk_error(at.string(), why);
  return {};
}

core::Status HubCache::write_ref(const std::string& revision, const std::string& commit) const {
  const std::string at = repo_folder_ + "/refs/" + revision, fresh = at + ".new";
  std::ofstream out(fresh, std::ios::trunc | std::ios::binary);
  out << commit;
  out.close();
  std::error_code why = out ? std::error_code() : std::error_code(errno, std::system_category());
  if (!why) fs::rename(fresh, at, why);
  if (why) return disk_error(at, why);
  return {};
}

core::Result<std::string> HubCache::read_ref(const std::string& revision) const {
  std::ifstream in(repo_folder_ + "/refs/" + revision, std::ios::binary);
  std::string commit(40, '\0');
  in.read(commit.data(), 40);
  const bool hex = in.gcount() == 40 && commit.find_first_not_of("0123456789abcdef") == commit.npos;
  if (hex) return commit;
  return core::error(core::ErrorCode::kModelUnusable, repo_folder_ + " holds no downloaded model",
                     "run `saccade pull` while the network is up");
}

std::vector<HubFile> HubCache::snapshot_files(const std::string& commit) const {
  std::vector<HubFile> out;
  const fs::path root = snapshot_path(commit, "");
  std::error_code why;
  for (fs::recursive_directory_iterator it(root, why), end;
       !why && it != end && out.size() < kHubFilesMax; it.increment(why)) {
    std::error_code missing;
    const auto bytes = fs::file_size(it->path(), missing);  // follows the link
    if (missing || it->path().extension() != ".gguf") continue;
    out.push_back(
        {fs::relative(it->path().parent_path(), root, missing) / it->path().filename(), bytes, {}});
  }
  for (HubFile& file : out) {
    if (file.path.starts_with("./")) file.path.erase(0, 2);
  }
  std::sort(out.begin(), out.end(),
            [](const HubFile& a, const HubFile& b) { return a.path < b.path; });
  return out;
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

core::Result<FileLock> FileLock::try_lock(const std::string& path) {
  FileLock lock;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return disk_error(path, std::error_code(errno, std::system_category()));
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
    lock.fd_ = fd;
  } else {
    ::close(fd);
  }
  return lock;
}

}  // namespace saccade::transport
