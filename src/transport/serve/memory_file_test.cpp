#include "transport/serve/memory_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace saccade::transport {
namespace {

namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

TEST(MemoryFile, HoldsTheBytesWhileItLives) {
  std::string path;
  {
    const auto file = MemoryFile::create(std::string("a\0b", 3));
    ASSERT_TRUE(file.ok());
    path = file->path();
    EXPECT_EQ(content(path), std::string("a\0b", 3));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(MemoryFile, NoPathLeadsOutOfTheFolder) {
  const fs::path base = fs::temp_directory_path() / ("saccade-below-" + std::to_string(getpid()));
  fs::create_directories(base / "open/sub");
  std::ofstream(base / "secret") << "secret";
  std::ofstream(base / "open/sub/a") << "fine";
  fs::create_symlink("../secret", base / "open/out");
  fs::create_symlink("/etc/hostname", base / "open/abs");
  fs::create_symlink("sub/a", base / "open/in");
  const std::string folder = (base / "open").string();
  for (const char* path : {"sub/a", "in", "./sub/../sub/a"}) {
    const auto file = MemoryFile::open_below(folder, path);
    ASSERT_TRUE(file.ok()) << path;
    EXPECT_EQ(content(file->path()), "fine");
  }
  for (const char* path :
       {"../secret", "out", "abs", "sub/../../secret", "/etc/hostname", "", "no"}) {
    EXPECT_FALSE(MemoryFile::open_below(folder, path).ok()) << path;
  }
  EXPECT_FALSE(MemoryFile::open_below("", "sub/a").ok());
  fs::remove_all(base);
}

}  // namespace
}  // namespace saccade::transport
