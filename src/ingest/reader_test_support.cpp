#include "ingest/reader_test_support.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/limits.h"

namespace saccade::ingest {
namespace {

namespace fs = std::filesystem;

// Plain memory; every slot lives as long as this object.
class HeapSlots final : public PictureSlots {
 public:
  std::uint8_t* acquire(int width, int height) override {
    const auto bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3;
    slots_.push_back(std::make_unique<std::uint8_t[]>(bytes));
    return slots_.back().get();
  }

 private:
  std::vector<std::unique_ptr<std::uint8_t[]>> slots_;
};

void keep(ReadRun& run, ReadItem item) {
  if (auto* picture = std::get_if<ReadPicture>(&item)) {
    const auto bytes =
        static_cast<std::size_t>(picture->width) * static_cast<std::size_t>(picture->height) * 3;
    run.pictures.push_back({*picture, {picture->slot, picture->slot + bytes}});
  } else if (auto* sound = std::get_if<ReadSound>(&item)) {
    run.sounds.push_back(std::move(*sound));
  } else if (auto* loss = std::get_if<Loss>(&item)) {
    run.losses.push_back(*loss);
  }
}

ReadRun run_reader(ReaderOptions options, std::size_t pictures_max) {
  ReadRun run;
  HeapSlots slots;
  const core::SystemClock clock;
  auto reader = MediaReader::open(std::move(options), slots, clock);
  if (!reader) {
    run.error = reader.error();
    return run;
  }
  run.info = (*reader)->info();
  while (run.pictures.size() < pictures_max) {
    auto item = (*reader)->read();
    if (!item) {
      run.error = item.error();
      break;
    }
    if (std::holds_alternative<EndOfSource>(*item)) break;
    keep(run, std::move(*item));
  }
  return run;
}

}  // namespace

TestFolder::TestFolder() {
  std::string pattern = (fs::temp_directory_path() / "saccade-reader-XXXXXX").string();
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

bool TestFolder::run(const std::string& line) const {
  const std::string whole = "cd '" + path_ + "' && ( " + line + " ) > tool.log 2>&1";
  if (std::system(whole.c_str()) == 0) return true;
  ADD_FAILURE() << line << "\n" << std::ifstream(path("tool.log")).rdbuf();
  return false;
}

bool TestFolder::ffmpeg(const std::string& arguments) const {
  return run("ffmpeg -nostdin -hide_banner -loglevel error -y " + arguments);
}

bool TestFolder::python(const std::string& program) const {
  std::ofstream(path("make.py")) << "from PIL import Image as P\nimport struct\n" << program;
  const fs::path venv = fs::current_path() / "build/venv/bin/python";
  return run((fs::exists(venv) ? venv.string() : "python3") + " make.py");
}

std::vector<std::uint8_t> TestFolder::load(const std::string& file) const {
  std::ifstream in(path(file), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void TestFolder::store(const std::string& file, const std::vector<std::uint8_t>& bytes) const {
  std::ofstream out(path(file), std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

std::array<int, 3> KeptPicture::pixel(int x, int y) const {
  const std::size_t first = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(at.width) +
                                 static_cast<std::size_t>(x));
  return {rgb[first], rgb[first + 1], rgb[first + 2]};
}

std::uint64_t ReadRun::lost(LossKind kind) const {
  std::uint64_t count = 0;
  for (const auto& loss : losses) count += loss.kind == kind ? loss.count : 0;
  return count;
}

std::size_t ReadRun::samples() const {
  std::size_t count = 0;
  for (const auto& sound : sounds) count += sound.samples.size();
  return count;
}

double ReadRun::seconds_of_sound() const {
  return static_cast<double>(samples()) / core::limits::kAudioRate;
}

bool ReadRun::well_formed() const {
  const auto rises = [](const auto& items, auto time_of) {
    for (std::size_t i = 1; i < items.size(); ++i) {
      const auto before = time_of(items[i - 1]), now = time_of(items[i]);
      if (now.epoch() < before.epoch() || now.us() <= before.us()) return false;
    }
    return true;
  };
  constexpr std::size_t kWhole = core::limits::kAudioBlockSamples;
  for (std::size_t i = 0; i < sounds.size(); ++i) {
    const std::size_t size = sounds[i].samples.size();
    if (size == 0 || size > kWhole || (size < kWhole && i + 1 < sounds.size())) return false;
  }
  return rises(pictures, [](const auto& picture) { return picture.at.time; }) &&
         rises(sounds, [](const auto& sound) { return sound.time; });
}

ReaderOptions every_picture() {
  ReaderOptions options;
  options.fps = 0;
  options.scene_cuts = false;
  return options;
}

ReadRun read_fd(int fd, ReaderOptions options) {
  options.fd = fd;
  return run_reader(std::move(options), SIZE_MAX);
}

ReadRun read_file(const std::string& path, ReaderOptions options) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  options.name = fs::path(path).filename().string();
  auto run = read_fd(fd, std::move(options));
  if (fd >= 0) close(fd);
  return run;
}

ReadRun read_url(const std::string& url, ReaderOptions options, std::size_t pictures_max) {
  options.url = url;
  options.name = url;
  options.live = true;
  return run_reader(std::move(options), pictures_max);
}

}  // namespace saccade::ingest
