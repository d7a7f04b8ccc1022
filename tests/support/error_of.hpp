#pragma once

#include <string>

#include "base/result.hpp"

namespace cudal1 {

//! What an action complains of; empty if it does not.
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace cudal1
