#include "model/sampling/stop_strings.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace cudal1 {

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
  for (const std::string& string : strings_) {
    if (string.empty()) throw Error("an empty stop string would end every text at once; leave it out");
    longest_ = std::max(longest_, string.size());
  }
}

std::optional<std::size_t> StopStrings::add(std::string_view bytes) {
  // What was there before holds no whole stop string, so one can begin this far back only.
  const std::size_t from = text_.size() + 1 > longest_ ? text_.size() + 1 - longest_ : 0;
  text_ += bytes;
  std::size_t first = std::string::npos;
  for (const std::string& string : strings_) first = std::min(first, text_.find(string, from));
  return first == std::string::npos ? std::nullopt : std::optional(first);
}

}  // namespace cudal1
