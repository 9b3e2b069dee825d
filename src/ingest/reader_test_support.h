#pragma once
// For the reader's tests: inputs made with ffmpeg, ImageMagick or Pillow in a folder of their own,
// and a reader run to its end.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "ingest/media_reader.h"

namespace saccade::ingest {

// A folder that goes when the test ends.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string path(const std::string& file) const { return path_ + "/" + file; }
  // Runs a shell line inside the folder; false (and its output in the log) when it fails.
  bool run(const std::string& line) const;
  // "ffmpeg -y <arguments>", quiet.
  bool ffmpeg(const std::string& arguments) const;
  // A Python program with Pillow and numpy as P and np, inside the folder.
  bool python(const std::string& program) const;
  std::vector<std::uint8_t> load(const std::string& file) const;
  void store(const std::string& file, const std::vector<std::uint8_t>& bytes) const;

 private:
  std::string path_;
};

struct KeptPicture {
  ReadPicture at;
  std::vector<std::uint8_t> rgb;  // [height][width][3]
  std::array<int, 3> pixel(int x, int y) const;
};

// All that a source gave.
struct ReadRun {
  std::optional<core::Error> error;  // of open or read
  SourceInfo info;
  std::vector<KeptPicture> pictures;
  std::vector<ReadSound> sounds;
  std::vector<Loss> losses;
  std::uint64_t lost(LossKind kind) const;
  std::size_t samples() const;
  double seconds_of_sound() const;
  // Times rise strictly and epochs do not fall, per kind; blocks are whole but for the last.
  bool well_formed() const;
};

ReaderOptions every_picture();  // fps 0, no scene cuts
// The options' fd is filled in from `path`.
ReadRun read_file(const std::string& path, ReaderOptions options = every_picture());
ReadRun read_fd(int fd, ReaderOptions options);
// A network source.
ReadRun read_url(const std::string& url, ReaderOptions options, std::size_t pictures_max);

}  // namespace saccade::ingest
