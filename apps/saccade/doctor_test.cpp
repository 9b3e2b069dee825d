#include "doctor.h"

#include <gtest/gtest.h>

#include "folder_for_test.h"

namespace saccade::app {
namespace {

class DoctorTest : public ::testing::Test {
 protected:
  DoctorTest() {
    folder.write("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   8000000 kB\n");
    input.system_root = folder / "";
    input.inspect = [](const std::string&) {
      return core::Result<engine::GgufFacts>({"llama", "tiny", "", 10, 1, 1, 3});
    };
    input.paths = ModelPaths{folder.write("m.gguf", "x"), folder.write("p.gguf", "x"),
                             folder.write("s.bin", "x"),  folder.write("v.onnx", "x"),
                             folder.write("d.onnx", "x"), folder.write("r.onnx", "x")};
  }
  const Check& find(const std::vector<Check>& checks, const std::string& name) {
    for (const Check& check : checks) {
      if (check.name == name) return check;
    }
    ADD_FAILURE() << "no check " << name;
    return checks.front();
  }
  FolderForTest folder;
  DoctorInput input;
};

TEST_F(DoctorTest, AMachineThatWorksIsReady) {
  const auto checks = run_checks(input);
  EXPECT_EQ(doctor_exit_code(checks), 0) << checks_text(checks, {});
  EXPECT_NE(checks_text(checks, {}).find("Ready."), std::string::npos);
  EXPECT_NE(find(checks, "memory").detail.find("8192.0 MB available"), std::string::npos);
}

TEST_F(DoctorTest, EachProblemHasOneFix) {
  folder.write("d.onnx", "");
  input.paths->vad = "";
  input.inspect = [](const std::string& path) -> core::Result<engine::GgufFacts> {
    return core::error(core::ErrorCode::kModelUnusable, path + " is cut short");
  };
  input.more.push_back({"sandbox", false, "no user namespaces", "sysctl x=1", false});
  const auto checks = run_checks(input);
  EXPECT_EQ(doctor_exit_code(checks), 1);
  for (const Check& check : checks) EXPECT_EQ(check.ok, check.fix.empty()) << check.name;
  EXPECT_NE(find(checks, "language model").detail.find("cut short"), std::string::npos);
  EXPECT_EQ(find(checks, "voice detector").detail, "not found");
  EXPECT_NE(find(checks, "text detector").detail.find("empty"), std::string::npos);
}

TEST_F(DoctorTest, WhatIsNotRequiredDoesNotFail) {
  input.more.push_back({"sandbox", false, "weak", "do x", false});
  EXPECT_EQ(doctor_exit_code(run_checks(input)), 0);
}

TEST_F(DoctorTest, LittleMemoryIsTold) {
  folder.write("sys/fs/cgroup/memory.max", "1000000000");
  folder.write("sys/fs/cgroup/memory.current", "400000000");
  const auto checks = run_checks(input);
  EXPECT_FALSE(find(checks, "memory").ok);
  EXPECT_NE(find(checks, "memory").detail.find("600.0 MB under the group's limit"),
            std::string::npos);
}

TEST_F(DoctorTest, JsonIsOneObject) {
  input.more.push_back({"odd \"name\"", true, "line\nbreak", "", true});
  const std::string json = checks_json(run_checks(input));
  EXPECT_TRUE(json.starts_with("{\"ok\":true,\"checks\":[{\"name\":\"processor\""));
  EXPECT_EQ(json.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace saccade::app
