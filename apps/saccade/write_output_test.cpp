#include "write_output.h"

#include <gtest/gtest.h>

#include "folder_for_test.h"

namespace saccade::app {
namespace {

using emit::Event;
using emit::EventKind;

Event event(EventKind kind, double t0, double t1, std::string text, std::string id) {
  Event out;
  out.kind = kind;
  out.t0 = core::MediaTime::from_us(static_cast<std::int64_t>(t0 * 1e6));
  out.t1 = core::MediaTime::from_us(static_cast<std::int64_t>(t1 * 1e6));
  out.text = std::move(text);
  out.id = std::move(id);
  return out;
}

TEST(WriteOutput, SubtitlesHoldWholeSpansOnce) {
  const FolderForTest folder;
  const std::string path = folder / "x.vtt";
  auto file = OutputFile::create(path);
  ASSERT_TRUE(file.ok());
  (*file)->on_event(event(EventKind::kCaption, 0, 0, "A lamp.", "caption-1"));
  (*file)->on_event(event(EventKind::kSpeech, 1, 2, "Hello", "speech-1"));
  (*file)->on_event(event(EventKind::kSpeech, 3, 3, "", "speech-2"));  // words taken back
  (*file)->on_event(event(EventKind::kCaption, 0, 4, "A lamp.", "caption-1"));
  (*file)->on_event(event(EventKind::kCaption, 5, 5, "A door.", "caption-2"));
  Event partial = event(EventKind::kText, 0, 1, "PUMP", "text-1");
  partial.final = false;
  (*file)->on_event(partial);
  EXPECT_FALSE(std::filesystem::exists(path));  // nothing under its name before the end
  ASSERT_TRUE((*file)->finish().ok());
  EXPECT_EQ(FolderForTest::read(path),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nA lamp.\n\n"
            "00:00:01.000 --> 00:00:02.000\nA lamp.\nHello\n\n"
            "00:00:02.000 --> 00:00:04.000\nA lamp.\n\n"
            "00:00:05.000 --> 00:00:06.000\nA door.\n\n");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WriteOutput, JsonLinesHoldEveryEvent) {
  const FolderForTest folder;
  auto file = OutputFile::create(folder / "x.jsonl");
  ASSERT_TRUE(file.ok());
  (*file)->on_event(event(EventKind::kSpeech, 1, 2, "a\nb", "speech-1"));
  (*file)->on_event(event(EventKind::kScene, 3, 3, "", ""));
  ASSERT_TRUE((*file)->finish().ok());
  const std::string text = FolderForTest::read(folder / "x.jsonl");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(WriteOutput, WithoutFinishTheOldFileStaysAndNothingIsLeft) {
  const FolderForTest folder;
  const std::string path = folder.write("x.srt", "old");
  {
    auto file = OutputFile::create(path);
    ASSERT_TRUE(file.ok());
    (*file)->on_event(event(EventKind::kSpeech, 1, 2, "new", "speech-1"));
  }
  EXPECT_EQ(FolderForTest::read(path), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WriteOutput, WhatCannotBeWrittenIsNamed) {
  const FolderForTest folder;
  const auto absent = OutputFile::create(folder / "no/such/out.vtt");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, core::ErrorCode::kUsage);
  EXPECT_NE(absent.error().message.find("out.vtt"), std::string::npos);
  EXPECT_FALSE(OutputFile::create(folder / "x.mp4").ok());
  std::filesystem::create_directory(folder / "d.vtt");
  EXPECT_FALSE(OutputFile::create(folder / "d.vtt").ok());
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(WriteOutput, AFullDiskIsToldAtTheEnd) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const FolderForTest folder;
  auto file = OutputFile::create(folder / "x.jsonl");
  ASSERT_TRUE(file.ok());
  std::filesystem::remove_all(folder / "");  // the rename must fail
  EXPECT_EQ((*file)->finish().error().code, core::ErrorCode::kExhausted);
}

}  // namespace
}  // namespace saccade::app
