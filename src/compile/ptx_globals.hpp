#pragma once

#include <set>
#include <string>
#include <string_view>

namespace cudal1 {

//! The module-scope variables (.global and .const) that no code of this PTX can write: each use of their address ends
//! in a plain load. Names that are stored to, stored somewhere, passed to a call, compared, or handled in any way that
//! this analysis does not know are left out, so that a doubt means "writable".
std::set<std::string> read_only_globals(std::string_view ptx);

}  // namespace cudal1
