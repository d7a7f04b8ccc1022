// Leaves the parser and the planner from any depth. make_plan turns it into a Failure, so nothing outside this
// folder ever sees it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {

struct Rejection {
  Failure failure;
};

[[noreturn]] inline void reject(Status status, SourcePosition at, std::string message) {
  throw Rejection{Failure{status, std::move(message), at, {}}};
}

//! 'name', cut at a character's end when it is too long for a message.
std::string quoted(std::string_view name);

}  // namespace cudal1
