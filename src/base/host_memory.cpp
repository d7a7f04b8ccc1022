#include "base/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace cudal1 {
namespace {

constexpr std::uint64_t least_free = std::uint64_t{256} << 20, part_of_machine = 50;

std::optional<std::uint64_t> number_in(const char* file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;  // "max" is no number
}

//! What the container holds of files only to have them at hand: it counts as used and is given back when needed.
std::uint64_t cached_in_container() {
  std::ifstream file("/sys/fs/cgroup/memory.stat");
  std::string key;
  std::uint64_t bytes = 0, total = 0;
  while (file >> key >> bytes)
    if (key == "active_file" || key == "inactive_file") total += bytes;
  return total;
}

std::uint64_t free_in_container() {
  const auto most = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (!most || !used) return UINT64_MAX;
  const std::uint64_t needed = *used - std::min(*used, cached_in_container());
  return *most - std::min(*most, needed);
}

std::optional<std::uint64_t> bytes_of_machine(std::string_view wanted) {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::uint64_t kilobytes = 0;
  while (file >> key >> kilobytes) {
    if (key == wanted) return kilobytes << 10;
    std::getline(file, unit);
  }
  return std::nullopt;  // nobody says
}

}  // namespace

std::uint64_t free_memory_bytes() {
  return std::min(bytes_of_machine("MemAvailable:").value_or(UINT64_MAX), free_in_container());
}

std::uint64_t least_free_memory_bytes() {
  return std::max(least_free, bytes_of_machine("MemTotal:").value_or(0) / part_of_machine);
}

std::uint64_t share_of_free_memory_bytes() { return free_memory_bytes() / 4 * 3; }

}  // namespace cudal1
