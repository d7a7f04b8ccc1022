#include "bridge/task_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

// Somebody may still read what was used lately.
constexpr std::chrono::hours least_age{24};

struct Entry {
  fs::path folder;
  fs::file_time_type used;
  std::uintmax_t bytes = 0;
};

//! Also what a killed export left behind.
std::vector<Entry> entries_of(const fs::path& folder) {
  std::map<fs::path, std::uintmax_t> sizes;
  std::error_code gone;
  for (const fs::path& file : files_below(folder)) {
    const std::uintmax_t bytes = fs::file_size(file, gone);
    if (!gone) sizes[folder / *file.lexically_relative(folder).begin()] += bytes;
  }
  std::vector<Entry> entries;
  for (const auto& [path, bytes] : sizes) entries.push_back({path, fs::last_write_time(path, gone), bytes});
  return entries;
}

void mark_used(const fs::path& folder) {
  std::error_code ignored;
  fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);
}

}  // namespace

fs::path TaskCache::get(const std::string& key, const std::function<bool(const fs::path&)>& is_current,
                        const std::function<void(const fs::path&)>& make) const {
  const fs::path wanted = folder_ / key;
  std::error_code problem;
  if (fs::is_directory(wanted, problem)) {
    if (is_current(wanted)) {
      mark_used(wanted);
      return wanted;
    }
    remove_folder(wanted);
  }
  fs::create_directories(folder_, problem);
  if (problem) throw Error(fmt::format("{}: {}", folder_.string(), problem.message()));
  const fs::path made = folder_ / fmt::format(".{}.{}", key, getpid());
  remove_folder(made);
  try {
    make(made);
  } catch (...) {
    remove_folder(made);
    throw;
  }
  // Another process may have made the same meanwhile: then its folder stays.
  if (std::rename(made.c_str(), wanted.c_str()) != 0) {
    const int reason = errno;
    remove_folder(made);
    if (!fs::is_directory(wanted, problem)) throw Error(fmt::format("{}: {}", wanted.string(), std::strerror(reason)));
  }
  return wanted;
}

void TaskCache::shrink_to(std::uintmax_t bytes) const {
  std::vector<Entry> entries = entries_of(folder_);
  std::ranges::sort(entries, {}, &Entry::used);
  std::uintmax_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  const fs::file_time_type latest = fs::file_time_type::clock::now() - least_age;
  for (const Entry& entry : entries) {
    if (total <= bytes || entry.used > latest) return;
    remove_folder(entry.folder);
    total -= entry.bytes;
  }
}

}  // namespace cudal1
