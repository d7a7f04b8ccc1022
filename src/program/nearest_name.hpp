#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

//! The candidate that `name` is most likely a slip of; empty if none is close.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

//! "; did you mean 'relu_1'?", or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

//! "a, b, c"; past `limit` names only their number is said.
std::string listed(const std::vector<std::string>& names, std::size_t limit = 12);

}  // namespace cudal1
