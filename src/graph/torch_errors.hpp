// LibTorch's exceptions as ours: one line, without a stack of C++ frames.
#pragma once

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cudal1 {

//! The device has no memory left for a tensor or the workspace of an operator.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

//! Libraries below LibTorch run out of memory in words only.
inline bool says_out_of_memory(const c10::Error& problem) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&problem)) return true;
  const std::string_view message = problem.what_without_backtrace();
  for (const char* words : {"out of memory", "can't allocate memory", "STATUS_ALLOC_FAILED"})
    if (message.find(words) != std::string_view::npos) return true;
  return false;
}

//! Calls `work`; what LibTorch throws becomes an Error that starts with `label`.
template <class Work>
auto with_torch_errors(std::string_view label, const Work& work) {
  const auto describe = [&](const c10::Error& problem) {
    const std::string_view message = problem.what_without_backtrace();
    return fmt::format("{}: {}", label, message.substr(0, message.find('\n')));
  };
  try {
    return work();
  } catch (const c10::Error& problem) {
    if (says_out_of_memory(problem)) throw OutOfMemoryError(describe(problem));
    throw Error(describe(problem));
  }
}

}  // namespace cudal1
