#include "dialect/process_watch.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace cudal1 {
namespace {

constexpr int most_rounds = 50;

//! The names in a folder of /proc that are numbers.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> numbers;
  DIR* directory = ::opendir(folder.c_str());
  if (!directory) return numbers;
  while (const dirent* entry = ::readdir(directory)) {
    pid_t number = 0;
    const std::string name = entry->d_name;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  ::closedir(directory);
  return numbers;
}

struct ProcessEntry {
  pid_t parent = 0;
  bool zombie = false;
};

//! The name in the second field may hold anything, so fields count from the last parenthesis.
std::optional<ProcessEntry> entry_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos || end + 4 >= line.size()) return std::nullopt;
  ProcessEntry entry;
  entry.zombie = line[end + 2] == 'Z' || line[end + 2] == 'X';
  entry.parent = static_cast<pid_t>(std::strtol(line.c_str() + end + 4, nullptr, 10));
  return entry;
}

std::int64_t nanoseconds_on_a_core(pid_t process, pid_t thread) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/schedstat", process, thread));
  std::int64_t nanoseconds = 0;
  file >> nanoseconds;
  return nanoseconds;
}

bool is_unfiltered(pid_t process, pid_t thread) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/status", process, thread));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Seccomp:")) return line.back() == '0';
  return false;
}

}  // namespace

std::vector<pid_t> ProcessWatch::descendants() const {
  if (root_ <= 0) return {};
  std::multimap<pid_t, pid_t> children;
  for (const pid_t process : numbers_in("/proc"))
    if (const auto entry = entry_of(process); entry && !entry->zombie) children.emplace(entry->parent, process);
  std::vector<pid_t> found, waiting{root_};
  while (!waiting.empty()) {
    const pid_t parent = waiting.back();
    waiting.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto child = begin; child != end; ++child) {
      found.push_back(child->second);
      waiting.push_back(child->second);
    }
  }
  return found;
}

ProcessCount ProcessWatch::count() const {
  ProcessCount count;
  for (const pid_t process : descendants()) {
    ++count.processes;
    count.threads += static_cast<int>(numbers_in(fmt::format("/proc/{}/task", process)).size());
  }
  return count;
}

std::int64_t ProcessWatch::background_nanoseconds() const {
  std::int64_t total = 0;
  for (const pid_t process : descendants())
    for (const pid_t thread : numbers_in(fmt::format("/proc/{}/task", process)))
      if (thread != process) total += nanoseconds_on_a_core(process, thread);
  return total;
}

double ProcessWatch::background_load(std::chrono::milliseconds window) const {
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t before = background_nanoseconds();
  std::this_thread::sleep_for(window);
  const std::int64_t used = background_nanoseconds() - before;
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(std::max<std::int64_t>(used, 0)) / passed.count();
}

bool ProcessWatch::has_unfiltered_thread() const {
  const std::vector<pid_t> processes = descendants();
  std::set<pid_t> parents;
  for (const pid_t process : processes)
    if (const auto entry = entry_of(process)) parents.insert(entry->parent);
  for (const pid_t process : processes) {
    if (parents.contains(process)) continue;
    for (const pid_t thread : numbers_in(fmt::format("/proc/{}/task", process)))
      if (is_unfiltered(process, thread)) return true;
  }
  return false;
}

void ProcessWatch::kill_descendants() const {
  for (int round = 0; round < most_rounds; ++round) {
    const std::vector<pid_t> left = descendants();
    if (left.empty()) return;
    for (const pid_t process : left) ::kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace cudal1
