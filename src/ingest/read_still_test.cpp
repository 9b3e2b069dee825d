// Still pictures as users have them: kinds, orientation, transparency, damage, bombs.
#include "ingest/read_still.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "ingest/probe_header.h"
#include "ingest/reader_test_support.h"

namespace saccade::ingest {
namespace {

using core::ErrorCode;
using Colour = std::array<int, 3>;

// All channels within `most`.
testing::AssertionResult is_near(const Colour& got, const Colour& wanted, int most) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (std::abs(got[i] - wanted[i]) > most) {
      return testing::AssertionFailure() << got[0] << "," << got[1] << "," << got[2] << " is not "
                                         << wanted[0] << "," << wanted[1] << "," << wanted[2];
    }
  }
  return testing::AssertionSuccess();
}

// A 40x24 picture: red, green / blue, yellow quarters.
constexpr const char* kQuarters =
    "q = P.new('RGB', (40, 24))\n"
    "q.paste((220,20,20), (0,0,20,12)); q.paste((20,200,20), (20,0,40,12))\n"
    "q.paste((20,20,220), (0,12,20,24)); q.paste((220,220,20), (20,12,40,24))\n";

struct Still {
  const char* file;
  const char* save;
  int tolerance;
};
std::ostream& operator<<(std::ostream& os, const Still& still) { return os << still.file; }

class StillKindTest : public testing::TestWithParam<Still> {};

TEST_P(StillKindTest, GivesOneUprightPicture) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(std::string(kQuarters) + GetParam().save));
  const auto run = read_file(folder.path(GetParam().file));
  ASSERT_FALSE(run.error) << run.error->message;
  ASSERT_EQ(run.pictures.size(), 1U);
  const auto& picture = run.pictures[0];
  ASSERT_EQ(picture.at.width, 40);
  ASSERT_EQ(picture.at.height, 24);
  EXPECT_EQ(picture.at.time.us(), 0);
  const int most = GetParam().tolerance;
  EXPECT_TRUE(is_near(picture.pixel(8, 5), {220, 20, 20}, most));
  EXPECT_TRUE(is_near(picture.pixel(32, 5), {20, 200, 20}, most));
  EXPECT_TRUE(is_near(picture.pixel(8, 18), {20, 20, 220}, most));
  EXPECT_TRUE(is_near(picture.pixel(32, 18), {220, 220, 20}, most));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, StillKindTest,
    testing::Values(Still{"a.jpg", "q.save('a.jpg', quality=95)", 4},
                    Still{"444.jpg", "q.save('444.jpg', quality=95, subsampling=0)", 4},
                    Still{"progressive.jpg", "q.save('progressive.jpg', quality=95, progressive=1)",
                          4},
                    Still{"a.png", "q.save('a.png')", 0},
                    Still{"palette.png", "q.quantize(16).save('palette.png')", 1},
                    Still{"rgba.png", "q.convert('RGBA').save('rgba.png')", 0},
                    Still{"a.gif", "q.save('a.gif')", 2},
                    Still{"lossy.webp", "q.save('lossy.webp', quality=95)", 12},
                    Still{"lossless.webp", "q.save('lossless.webp', lossless=True)", 0},
                    Still{"a.bmp", "q.save('a.bmp')", 0},
                    Still{"palette.bmp", "q.quantize(16).save('palette.bmp')", 1},
                    Still{"a.tif", "q.save('a.tif')", 0},
                    Still{"lzw.tif", "q.save('lzw.tif', compression='tiff_lzw')", 0},
                    Still{"wrong-name.txt", "q.save('wrong-name.txt', format='PNG')", 0}));

TEST(ReadStill, CmykJpegAndTiffLookAsTheyDoInPrint) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(std::string(kQuarters) +
                            "c = q.convert('CMYK')\n"
                            "c.save('cmyk.jpg', quality=95, subsampling=0); c.save('cmyk.tif')"));
  for (const char* file : {"cmyk.jpg", "cmyk.tif"}) {
    const auto run = read_file(folder.path(file));
    ASSERT_FALSE(run.error) << run.error->message;
    ASSERT_EQ(run.pictures.size(), 1U) << file;
    EXPECT_TRUE(is_near(run.pictures[0].pixel(8, 5), {220, 20, 20}, 6)) << file;
    EXPECT_TRUE(is_near(run.pictures[0].pixel(32, 18), {220, 220, 20}, 6)) << file;
  }
}

TEST(ReadStill, GreyAndSixteenBitKeepTheirLevels) {
  const TestFolder folder;
  ASSERT_TRUE(
      folder.python("P.new('L', (20, 20), 77).save('grey.png')\n"
                    "P.new('L', (20, 20), 77).save('grey.jpg', quality=95)\n"
                    "P.new('1', (20, 20), 1).save('bit.png')\n"
                    "P.new('I;16', (20, 20), 77 * 257).save('grey16.png')\n"
                    "P.new('I;16', (20, 20), 77 * 257).save('grey16.tif')\n"));
  ASSERT_TRUE(folder.run("convert -size 20x20 'xc:#4D004D00FF00' -depth 16 PNG48:rgb16.png"));
  for (const char* file : {"grey.png", "grey.jpg", "grey16.png", "grey16.tif"}) {
    const auto run = read_file(folder.path(file));
    ASSERT_EQ(run.pictures.size(), 1U) << file;
    EXPECT_TRUE(is_near(run.pictures[0].pixel(10, 10), {77, 77, 77}, 1)) << file;
  }
  const auto bit = read_file(folder.path("bit.png"));
  ASSERT_EQ(bit.pictures.size(), 1U);
  EXPECT_TRUE(is_near(bit.pictures[0].pixel(10, 10), {255, 255, 255}, 0));
  const auto rgb = read_file(folder.path("rgb16.png"));
  ASSERT_EQ(rgb.pictures.size(), 1U);
  EXPECT_TRUE(is_near(rgb.pictures[0].pixel(10, 10), {77, 77, 255}, 1));
}

TEST(ReadStill, HiddenColoursUnderTransparencyStayHidden) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(
      "a = P.new('RGBA', (16, 16), (255, 0, 0, 0)); a.paste((0, 0, 255, 128), (8, 0, 16, 16))\n"
      "a.save('rgba.png'); a.save('a.webp', lossless=True, exact=True)\n"
      "l = P.new('LA', (16, 16), (10, 0)); l.paste((10, 128), (8, 0, 16, 16)); l.save('la.png')\n"
      "p = P.new('P', (16, 16), 0); p.putpalette([255, 0, 0, 0, 0, 255]); "
      "p.paste(1, (8, 0, 16, 16))\n"
      "p.save('trns.png', transparency=bytes([0, 128]))\n"
      "p.save('a.gif', transparency=0)\n"
      "s = P.new('RGB', (16, 16), (255, 0, 0)); s.paste((0, 0, 255), (8, 0, 16, 16))\n"
      "s.save('key.png', transparency=(255, 0, 0))\n"));
  const Colour white{255, 255, 255}, half{127, 127, 255}, blue{0, 0, 255};
  const auto check = [&](const char* file, const Colour& right) {
    const auto run = read_file(folder.path(file));
    ASSERT_EQ(run.pictures.size(), 1U) << file;
    EXPECT_TRUE(is_near(run.pictures[0].pixel(2, 8), white, 0)) << file;
    EXPECT_TRUE(is_near(run.pictures[0].pixel(12, 8), right, 1)) << file;
  };
  check("rgba.png", half);
  check("a.webp", half);
  check("trns.png", half);
  check("a.gif", blue);
  check("key.png", blue);
  check("la.png", {132, 132, 132});
  auto options = every_picture();
  options.matte = 0;
  const auto dark = read_file(folder.path("rgba.png"), options);
  ASSERT_EQ(dark.pictures.size(), 1U);
  EXPECT_TRUE(is_near(dark.pictures[0].pixel(2, 8), {0, 0, 0}, 0));
}

class OrientationTest : public testing::TestWithParam<int> {};

TEST_P(OrientationTest, ExifTurnsThePictureUpright) {
  const TestFolder folder;
  const std::string turned = std::to_string(GetParam());
  // Pillow's own exif_transpose is the reference.
  ASSERT_TRUE(folder.python(
      std::string(kQuarters) + "from PIL import ImageOps\nq = q.resize((80, 48), P.NEAREST)\n" +
      "e = P.Exif(); e[0x0112] = " + turned + "\n" +
      "q.save('a.jpg', exif=e, quality=95, subsampling=0); q.save('a.png', exif=e)\n"
      "q.save('a.webp', exif=e.tobytes(), lossless=True); q.save('a.tif', tiffinfo={274: " +
      turned + "})\n" +
      "r = ImageOps.exif_transpose(P.open('a.png')); open('truth.bin', 'wb').write(r.tobytes())\n"
      "open('size.bin', 'wb').write(bytes(r.size))"));
  const auto truth = folder.load("truth.bin");
  const auto size = folder.load("size.bin");
  for (const char* file : {"a.png", "a.jpg", "a.webp", "a.tif"}) {
    const auto run = read_file(folder.path(file));
    ASSERT_EQ(run.pictures.size(), 1U) << file;
    const auto& picture = run.pictures[0];
    ASSERT_EQ(picture.at.width, size[0]) << file;
    ASSERT_EQ(picture.at.height, size[1]) << file;
    EXPECT_EQ(run.info.width, size[0]);
    int worst = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      worst = std::max(worst, std::abs(int{truth[i]} - int{picture.rgb[i]}));
    }
    EXPECT_LE(worst, std::string(file) == "a.jpg" ? 24 : 0) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Exif, OrientationTest, testing::Range(1, 9));

TEST(ReadStill, AnimationGivesTheFirstPictureOrAsManyAsAsked) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(
      "f = [P.new('RGB', (32, 32), (20 * i, 0, 0)) for i in range(8)]\n"
      "p = [x.convert('P') for x in f]\n"
      "p[0].save('a.gif', save_all=True, append_images=p[1:], duration=100)\n"
      "f[0].save('a.webp', save_all=True, append_images=f[1:], duration=100, lossless=True)\n"
      "f[0].save('a.png', save_all=True, append_images=f[1:], duration=100)\n"));
  for (const char* file : {"a.gif", "a.webp", "a.png"}) {
    auto options = every_picture();
    options.fps = 1;  // does not thin out animations
    EXPECT_EQ(read_file(folder.path(file), options).pictures.size(), 1U) << file;
    options.animation_frames_max = 3;
    EXPECT_EQ(read_file(folder.path(file), options).pictures.size(), 3U) << file;
    options.animation_frames_max = 0;
    const auto all = read_file(folder.path(file), options);
    EXPECT_FALSE(all.error);
    ASSERT_EQ(all.pictures.size(), 8U) << file;
    EXPECT_TRUE(all.well_formed());
    EXPECT_TRUE(is_near(all.pictures[5].pixel(9, 9), {100, 0, 0}, 3)) << file;
    EXPECT_NEAR(all.pictures[5].at.time.seconds(), 0.5, 0.02) << file;
  }
}

TEST(ReadStill, DamagedPicturesAreRefusedWithOneFixedSentence) {
  const TestFolder folder;
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=320x240 -frames:v 1 a.jpg"));
  ASSERT_TRUE(folder.ffmpeg("-f lavfi -i testsrc2=s=320x240 -frames:v 1 a.png"));
  auto jpeg = folder.load("a.jpg");
  jpeg.resize(jpeg.size() - 128);
  folder.store("cut.jpg", jpeg);
  auto png = folder.load("a.png");
  auto cut = png;
  cut.resize(cut.size() / 2);
  folder.store("cut.png", cut);
  ASSERT_TRUE(
      folder.python("P.new('RGB', (64, 64), 9).save('a.tif')\n"
                    "P.new('RGB', (64, 64), 9).save('a.bmp')\n"
                    "P.effect_noise((64, 64), 90).save('a.webp', lossless=True)"));
  for (const std::string kind : {"tif", "bmp", "webp"}) {
    auto bytes = folder.load("a." + kind);
    bytes.resize(bytes.size() / 2);
    folder.store("cut." + kind, bytes);
  }
  std::fill(png.begin() + static_cast<std::ptrdiff_t>(png.size() / 2),
            png.begin() + static_cast<std::ptrdiff_t>(png.size() / 2 + 64), std::uint8_t{0x5A});
  folder.store("broken.png", png);
  folder.store("empty.jpg", {});
  const std::string prose = "This is no picture at all, only a few words in a file.\n";
  folder.store("text.mp4", {prose.begin(), prose.end()});
  folder.store("zeros.png", std::vector<std::uint8_t>(4096, 0));
  for (const char* file : {"cut.jpg", "cut.png", "cut.tif", "cut.bmp", "cut.webp", "broken.png",
                           "empty.jpg", "text.mp4", "zeros.png"}) {
    const auto run = read_file(folder.path(file));
    ASSERT_TRUE(run.error) << file;
    EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable) << file;
    EXPECT_TRUE(run.error->message.starts_with(file)) << run.error->message;
    EXPECT_EQ(run.error->message.find("0x"), std::string::npos) << run.error->message;
    EXPECT_TRUE(run.pictures.empty()) << file;
  }
}

TEST(ReadStill, SmallAndOddSizesAreDecodedExactly) {
  const TestFolder folder;
  const std::vector<std::pair<int, int>> sizes = {{1, 1},   {1, 4},   {3, 1},     {17, 13},
                                                  {40, 39}, {127, 5}, {2000, 40}, {40, 2000}};
  for (const auto& [width, height] : sizes) {
    ASSERT_TRUE(folder.python("w, h = " + std::to_string(width) + ", " + std::to_string(height) +
                              "\nq = P.new('RGB', (w, h)); q.putdata([((x * 7 + y * 13) % 256, x % "
                              "256, y % 256) for y in range(h) for x in range(w)])\n"
                              "q.save('a.png'); open('truth.bin', 'wb').write(q.tobytes())"));
    const auto run = read_file(folder.path("a.png"));
    ASSERT_EQ(run.pictures.size(), 1U) << width << "x" << height;
    EXPECT_EQ(run.pictures[0].rgb, folder.load("truth.bin")) << width << "x" << height;
  }
}

TEST(ReadStill, BombsAreRefusedFromTheHeaderNamingValueAndLimit) {
  const TestFolder folder;
  // Headers only: nothing behind them could be decoded.
  ASSERT_TRUE(folder.python(
      "import zlib\n"
      "def chunk(t, d): return struct.pack('>I', len(d)) + t + d + struct.pack('>I', zlib.crc32(t "
      "+ "
      "d))\n"
      "def png(n, w, h): open(n, 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', "
      "struct.pack('>IIBBBBB', w, h, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(b'')) + "
      "chunk(b'IEND', b''))\n"
      "png('side.png', 50000, 50000); png('pixels.png', 16000, 16000); png('ratio.png', 1, 4096)\n"
      "open('a.gif', 'wb').write(b'GIF89a' + struct.pack('<HHBBB', 60000, 60000, 0, 0, 0) + "
      "b'\\x2c' + struct.pack('<HHHHB', 0, 0, 1, 1, 0) + b'\\x02\\x02D\\x01\\x00;')\n"
      "open('a.bmp', 'wb').write(b'BM' + struct.pack('<IHHIIiiHHIIiiII', 54, 0, 0, 54, 40, 40000, "
      "40000, 1, 24, 0, 0, 0, 0, 0, 0))\n"));
  const auto message = [&](const char* file) {
    const auto run = read_file(folder.path(file));
    EXPECT_TRUE(run.error) << file;
    if (!run.error) return std::string();
    EXPECT_EQ(run.error->code, ErrorCode::kMediaUnusable) << file;
    return run.error->message;
  };
  EXPECT_NE(message("side.png").find("50000x50000 pixels; allowed are sides up to 16384"),
            std::string::npos);
  EXPECT_NE(message("pixels.png").find("16000x16000 pixels; allowed are up to 64000000"),
            std::string::npos);
  EXPECT_NE(message("ratio.png").find("1x4096 pixels; allowed are sides up to 200:1"),
            std::string::npos);
  EXPECT_NE(message("a.gif").find("60000x60000"), std::string::npos);
  EXPECT_NE(message("a.bmp").find("40000x40000"), std::string::npos);
}

TEST(ProbeHeader, SurvivesEveryPrefixAndFlippedBytes) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(std::string(kQuarters) +
                            "e = P.Exif(); e[0x0112] = 6\n"
                            "for n in ('a.jpg', 'a.png', 'a.webp'): q.save(n, exif=e)\n"
                            "q.save('a.tif', tiffinfo={274: 6}); q.save('a.bmp')"));
  for (const char* file : {"a.jpg", "a.png", "a.webp", "a.tif", "a.bmp"}) {
    const auto whole = folder.load(file);
    const auto header = probe_still(whole);
    EXPECT_EQ(header.width, 40) << file;
    EXPECT_EQ(header.height, 24) << file;
    EXPECT_EQ(header.orientation, std::string(file) == "a.bmp" ? 1 : 6) << file;
    EXPECT_TRUE(header.complete) << file;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      // A copy of exact size, so that a read beyond it is seen.
      const std::vector<std::uint8_t> prefix(whole.begin(),
                                             whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_LE(probe_still(prefix).orientation, 8);
    }
    for (std::size_t at = 0; at < std::min<std::size_t>(whole.size(), 400); ++at) {
      auto flipped = whole;
      flipped[at] ^= 0xFF;
      const auto odd = probe_still(flipped);
      EXPECT_GE(odd.orientation, 1);
      EXPECT_GE(odd.width, 0) << file << " " << at;
    }
  }
}

}  // namespace
}  // namespace saccade::ingest
