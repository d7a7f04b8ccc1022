#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

//! The module-scope variables (.global and .const) that no code of this PTX can write: each use of their address ends
//! in a plain load. Names that are stored to, stored somewhere, passed to a call, compared, or handled in any way that
//! this analysis does not know are left out, so that a doubt means "writable".
std::set<std::string> read_only_globals(std::string_view ptx);

//! A variable that outlives a launch and that code of this PTX might write, also one that inline assembly hides in a
//! function.
struct WritableVariable {
  std::string name;
  bool constant = false;  //!< in .const memory
};
std::vector<WritableVariable> writable_variables(std::string_view ptx);

//! Functions that are called from outside of this PTX's text: printf and the like.
std::vector<std::string> external_functions(std::string_view ptx);

}  // namespace cudal1
