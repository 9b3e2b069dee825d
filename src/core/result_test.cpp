#include "core/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace saccade::core {
namespace {

constexpr ErrorCode kAll[] = {
    ErrorCode::kUsage,     ErrorCode::kMediaUnusable, ErrorCode::kModelUnusable,
    ErrorCode::kExhausted, ErrorCode::kUnauthorized,  ErrorCode::kSourceUnreachable,
    ErrorCode::kTimeout,   ErrorCode::kCancelled,     ErrorCode::kClosed,
    ErrorCode::kInternal,  ErrorCode::kUnsupported,   ErrorCode::kNumeric};

TEST(Result, HoldsValueOrError) {
  Result<int> good(7);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  *good = 8;
  EXPECT_EQ(good.value(), 8);

  const Result<int> bad(error(ErrorCode::kTimeout, "nothing within 5 ms", "wait longer"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(bad.error().message, "nothing within 5 ms");
  EXPECT_EQ(bad.error().hint, "wait longer");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 3);
  Result<std::unique_ptr<int>> bad(error(ErrorCode::kClosed, "gone"));
  const Error gone = std::move(bad).error();
  EXPECT_EQ(gone.message, "gone");
}

TEST(Status, IsOkUntilItHoldsAnError) {
  EXPECT_TRUE(Status().ok());
  const Status bad = error(ErrorCode::kUsage, "fps is -1, allowed are 0 to 240");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(bad.error().hint.empty());
}

TEST(ErrorCodes, HaveDistinctNames) {
  std::set<std::string> names;
  for (const ErrorCode code : kAll) EXPECT_TRUE(names.insert(std::string(name_of(code))).second);
}

TEST(ErrorCodes, HaveThePublishedExitCodes) {
  EXPECT_EQ(exit_code(ErrorCode::kUsage), 2);
  EXPECT_EQ(exit_code(ErrorCode::kMediaUnusable), 3);
  EXPECT_EQ(exit_code(ErrorCode::kModelUnusable), 4);
  EXPECT_EQ(exit_code(ErrorCode::kSourceUnreachable), 5);
  EXPECT_EQ(exit_code(ErrorCode::kUnauthorized), 5);
  EXPECT_EQ(exit_code(ErrorCode::kExhausted), 6);
  EXPECT_EQ(exit_code(ErrorCode::kInternal), 1);
  for (const ErrorCode code : kAll) EXPECT_NE(exit_code(code), 0);
}

}  // namespace
}  // namespace saccade::core
