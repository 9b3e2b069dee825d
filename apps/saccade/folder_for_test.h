#pragma once
// A folder that lives as long as a test.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace saccade::app {

class FolderForTest {
 public:
  FolderForTest() {
    std::string name = std::filesystem::temp_directory_path() / "saccade-app-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~FolderForTest() { std::filesystem::remove_all(path_); }
  FolderForTest(const FolderForTest&) = delete;
  FolderForTest& operator=(const FolderForTest&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path at = path_ + "/" + name;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at, std::ios::binary) << text;
    return at.string();
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t entries() const {
    std::size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) n += !entry.path().empty();
    return n;
  }

 private:
  std::string path_;
};

}  // namespace saccade::app
