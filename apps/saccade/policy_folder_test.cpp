#include "policy_folder.h"

#include <gtest/gtest.h>

#include "folder_for_test.h"

namespace saccade::app {
namespace {

std::string refused(const std::string& text, const std::string& path = "d/night.toml") {
  const auto policy = parse_policy(text, path);
  return policy ? "" : policy.error().message;
}

TEST(PolicyFile, BeginsWithItsBaseAndChangesWhatItNames) {
  const auto policy = parse_policy(
      "based_on = \"reading\"\nslo_ms = 700\npace = 0.25\nstart = \"calm\"\n"
      "max_new_tokens = 12\nslower = false\n",
      "d/night.toml");
  ASSERT_TRUE(policy.ok()) << policy.error().message;
  EXPECT_EQ("night", policy->name);
  EXPECT_EQ(700, policy->slo_ms);
  EXPECT_EQ(0.25, policy->pace);
  EXPECT_EQ(governor::Rung::kCalm, policy->start);
  EXPECT_EQ(12, policy->max_new_tokens);
  EXPECT_FALSE(policy->slower);
  EXPECT_FALSE(policy->prune);  // of reading
}

TEST(PolicyFile, ChangesTheBuiltInOneOfItsName) {
  EXPECT_EQ(150, parse_policy("slo_ms = 150", "d/alert.toml")->slo_ms);
  EXPECT_EQ(4, parse_policy("slo_ms = 150", "d/alert.toml")->pace);
  EXPECT_EQ(2, parse_policy("", "d/other.toml")->pace);  // of captions
}

TEST(PolicyFile, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ("d/night.toml:2: 'slo_ms' is 0; allowed is 1..600000", refused("pace = 1\nslo_ms = 0"));
  EXPECT_EQ("d/night.toml:1: 'slo_ms' is 2.5; allowed is 1..600000", refused("slo_ms = 2.5"));
  EXPECT_NE("", refused("pace = nan"));
  EXPECT_NE("", refused("pace = -1"));
  EXPECT_NE("", refused("prune = 1"));
  EXPECT_NE("", refused("start = \"refusing\""));
  EXPECT_NE("", refused("based_on = \"mine\""));
  EXPECT_NE("", refused("based_on = 3"));
  EXPECT_NE("", refused("max_new_tokens = [1]"));
  EXPECT_NE("", refused("purpose = \"" + std::string(201, 'x') + "\""));
  EXPECT_EQ("d/night.toml:1: 'slo' is no part of a policy", refused("slo = 3"));
  for (const char* path : {"d/auto.toml", "d/Night.toml", "d/.toml", "d/a b.toml"}) {
    EXPECT_NE("", refused("", path)) << path;
  }
}

TEST(PolicyFolder, ANewFileIsReadAndABadOneLeavesWhatWasThere) {
  FolderForTest folder;
  folder.write("night.toml", "slo_ms = 700");
  folder.write("notes.txt", "not a policy");
  auto policies = PolicyFolder::open(folder / ".");
  ASSERT_TRUE(policies.ok()) << policies.error().message;
  EXPECT_EQ(700, policies->book()->find("night")->slo_ms);
  EXPECT_TRUE(policies->book()->find("captions").ok());

  core::SteadyTime now{10'000'000};
  EXPECT_FALSE(policies->renew(now, false));
  folder.write("night.toml", "slo_ms = 1700");
  folder.write("day.toml", "slo_ms = 100");
  EXPECT_FALSE(policies->renew(now, false)) << "looked at a moment ago";
  now.us += 2'000'000;
  const auto renewed = policies->renew(now, false);
  ASSERT_TRUE(renewed && renewed->ok());
  EXPECT_EQ(1700, policies->book()->find("night")->slo_ms);
  EXPECT_TRUE(policies->book()->find("day").ok());

  folder.write("day.toml", "slo_ms = ");
  const auto bad = policies->renew(now, true);
  ASSERT_TRUE(bad);
  EXPECT_FALSE(bad->ok());
  EXPECT_EQ(100, policies->book()->find("day")->slo_ms);
}

TEST(PolicyFolder, MissingFolderAndTooManyPoliciesAreErrors) {
  EXPECT_FALSE(PolicyFolder::open("/nowhere/at/all").ok());
  FolderForTest folder;
  for (int i = 0; i < 60; ++i) folder.write("p" + std::to_string(i) + ".toml", "");
  EXPECT_FALSE(PolicyFolder::open(folder / ".").ok());
}

}  // namespace
}  // namespace saccade::app
