#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {

//! For what has to work whatever the program is: a failure ends the command, `what` says of which part.
template <class T>
T value_or_throw(Result<T> result, const std::string& what) {
  if (!result) throw Error(what + ": " + result.failure().message);
  return std::move(result).value();
}

}  // namespace cudal1
