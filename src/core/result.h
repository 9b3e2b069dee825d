#pragma once
// One way to say "this expected thing went wrong": a value with a code from a closed list.
// Goals: no exceptions across rooms, no printing below apps, an error a person can act on.
// Non-goals: stack traces, error chains. Broken invariants are asserted, never returned.
#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace saccade::core {

// The closed list. Each code has one exit code (see exit_code) and later one HTTP status.
enum class ErrorCode {
  kUsage,              // the caller's option or value is wrong
  kMediaUnusable,      // the bytes are no media we can or may decode
  kModelUnusable,      // a model file is missing, broken or does not fit its partner
  kSourceUnreachable,  // a host, device or file cannot be opened or went away
  kUnauthorized,       // the other side refuses our credentials
  kExhausted,          // a named limit is reached
  kTimeout,            // a deadline passed
  kCancelled,          // somebody asked us to stop
  kClosed,             // the queue or stream has ended
  kUnsupported,        // valid, but this build or model cannot do it
  kNumeric,            // NaN or infinity where a number must be
  kInternal,           // our own fault
};

// A sentence for people: what is wrong with what, and the next step.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // names the input, the value and the allowed range
  std::string hint;     // the next step; may be empty
};

// Stable lower-case name of a code, for JSON and logs.
std::string_view name_of(ErrorCode code);

// Process exit code: 0 ok, 1 runtime, 2 usage, 3 media, 4 model, 5 source, 6 resources.
int exit_code(ErrorCode code);

// Either a value or an Error. Reading the absent side is a broken invariant.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() & {
    assert(ok());
    return std::get<T>(state_);
  }
  const T& value() const& {
    assert(ok());
    return std::get<T>(state_);
  }
  T&& value() && {
    assert(ok());
    return std::get<T>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& {
    assert(!ok());
    return std::get<Error>(state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::get<Error>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    assert(error_.has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

inline Error error(ErrorCode code, std::string message, std::string hint = {}) {
  return Error{code, std::move(message), std::move(hint)};
}

}  // namespace saccade::core
