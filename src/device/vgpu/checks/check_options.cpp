#include "device/vgpu/checks/check_options.hpp"

#include <fmt/format.h>

#include <sstream>

#include "base/result.hpp"

namespace cudal1::vgpu {

CheckOptions checks_named(const std::string& names) {
  if (names == "all") return {};
  CheckOptions options{false, false, false};
  if (names == "none") return options;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "shared-races")
      options.shared_races = true;
    else if (name == "global-races")
      options.global_races = true;
    else if (name == "uninitialised")
      options.uninitialised = true;
    else
      throw Error(fmt::format("'{}' is no check: there are shared-races, global-races and uninitialised", name));
  }
  return options;
}

}  // namespace cudal1::vgpu
