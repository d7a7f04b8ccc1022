// A value or the reason why there is none. Failure of a program is data here, never an exception;
// exceptions (Error) are for what ends a command.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "base/status.hpp"

namespace cudal1 {

//! A place in a program text; line and column count from 1, 0 means "no place".
struct SourcePosition {
  int line = 0;
  int column = 0;
  bool operator==(const SourcePosition&) const = default;
};

struct Failure {
  Status status = Status::judge_error;
  std::string message;  //!< one line: what happened and what to do about it
  SourcePosition at = {};
  std::string details = {};  //!< compiler log and the like, shown with --verbose
};

template <class T>
class Result {
 public:
  Result(T value) : content_(std::move(value)) {}
  Result(Failure failure) : content_(std::move(failure)) {}
  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(content_); }
  const T& value() const& { return std::get<0>(content_); }
  T&& value() && { return std::get<0>(std::move(content_)); }
  const Failure& failure() const { return std::get<1>(content_); }

 private:
  std::variant<T, Failure> content_;
};

//! Ends a command with exit code 1; what() is one line for a person.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

//! The command was used wrongly: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace cudal1
