#include "dialect/memory_guard.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "base/host_memory.hpp"

namespace cudal1 {
namespace {

constexpr int looks_between_families = 8;  // to find them reads all of /proc

}  // namespace

std::uint64_t memory_of_process(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/status", process));
  std::uint64_t kilobytes = 0;
  for (std::string line; std::getline(file, line);)
    for (const char* kind : {"RssAnon:", "RssShmem:", "VmSwap:"})
      if (line.starts_with(kind)) kilobytes += std::stoull(line.substr(line.find(':') + 1));
  return kilobytes << 10;
}

std::uint64_t MemoryGuard::others_bytes(const ProcessWatch& family) const {
  std::uint64_t total = 0;
  for (const pid_t process : family.descendants())
    if (process != solution_) total += memory_of_process(process);
  return total;
}

std::optional<MemoryGuard::Verdict> MemoryGuard::look(const ProcessWatch& family) {
  if (looks_++ % looks_between_families == 0) others_bytes_ = others_bytes(family);
  if (memory_of_process(solution_) + others_bytes_ > limit_bytes_) return Verdict::solution_took_too_much;
  if (free_memory_bytes() < least_free_memory_bytes()) return Verdict::machine_is_full;
  return std::nullopt;
}

}  // namespace cudal1
