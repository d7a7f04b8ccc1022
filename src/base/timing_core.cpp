#include "base/timing_core.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace cudal1 {
namespace {

constexpr int fewest_cores = 4;  // to reserve one of
constexpr int most_reserved = 4;

//! Reads lists like "3,11" and "6-7".
std::vector<int> siblings_of(int core) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", core));
  std::vector<int> siblings{core};
  std::string part;
  while (std::getline(file, part, ',')) {
    int first = 0, last = 0;
    char dash = 0;
    std::istringstream text(part);
    if (!(text >> first)) continue;
    last = (text >> dash >> last) ? last : first;
    for (int sibling = first; sibling <= last; ++sibling) siblings.push_back(sibling);
  }
  return siblings;
}

std::vector<int> reserve() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < fewest_cores) return {};
  const int wanted = std::min(most_reserved, CPU_COUNT(&allowed) / fewest_cores);
  std::vector<int> cores;
  cpu_set_t rest = allowed;
  for (int core = CPU_SETSIZE - 1; core > 0 && static_cast<int>(cores.size()) < wanted; --core) {
    if (!CPU_ISSET(core, &rest)) continue;
    cores.push_back(core);
    for (const int sibling : siblings_of(core)) CPU_CLR(sibling, &rest);
  }
  if (CPU_COUNT(&rest) == 0 || ::sched_setaffinity(0, sizeof rest, &rest) != 0) return {};
  return cores;
}

}  // namespace

const std::vector<int>& reserve_timing_cores() {
  static const std::vector<int> cores = std::getenv("CUDAL1_NO_TIMING_CORE") ? std::vector<int>{} : reserve();
  return cores;
}

void move_to_core(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  ::sched_setaffinity(0, sizeof only, &only);
}

}  // namespace cudal1
