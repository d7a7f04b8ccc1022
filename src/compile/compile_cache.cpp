#include "compile/compile_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

// "cudal1 cache 1\n", the SHA-256 of the content as 64 digits, "\n", the content.
constexpr std::string_view magic = "cudal1 cache 1\n";
constexpr std::size_t digest_digits = 64;
constexpr std::size_t max_entry_bytes = std::size_t{256} << 20;
constexpr auto abandoned_after = std::chrono::hours(1);

std::string wrap(std::string_view content) {
  std::string bytes(magic);
  bytes += sha256_hex(content);
  bytes += '\n';
  bytes += content;
  return bytes;
}

std::optional<std::string> unwrap(std::string_view bytes) {
  const std::size_t head = magic.size() + digest_digits + 1;
  if (bytes.size() < head || !bytes.starts_with(magic)) return std::nullopt;
  const std::string_view content = bytes.substr(head);
  if (bytes.substr(magic.size(), digest_digits) != sha256_hex(content)) return std::nullopt;
  return std::string(content);
}

bool write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Not write_file_atomically: its fsync costs more than most compiles save, and the digest finds torn files anyway.
bool write_entry(const fs::path& path, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  const fs::path temporary = path.parent_path() / fmt::format("{}.{}.{}.tmp", path.filename().string(), ::getpid(),
                                                              counter.fetch_add(1, std::memory_order_relaxed));
  const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return false;
  if (write_whole(fd.get(), bytes) && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int reason = errno;
  ::unlink(temporary.c_str());
  errno = reason;
  return false;
}

struct Entry {
  fs::path path;
  std::uint64_t bytes;
  fs::file_time_type used;
};

void collect(const fs::path& shard, std::vector<Entry>& entries) {
  std::error_code error;
  for (const auto& file : fs::directory_iterator(shard, error)) {
    const auto used = file.last_write_time(error);
    if (error) continue;
    if (file.path().extension() == ".tmp") {
      if (fs::file_time_type::clock::now() - used > abandoned_after) fs::remove(file.path(), error);
      continue;
    }
    const std::uint64_t bytes = file.file_size(error);
    if (!error) entries.push_back({file.path(), bytes, used});
  }
}

std::vector<Entry> all_entries(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (const auto& shard : fs::directory_iterator(folder, error))
    if (shard.is_directory(error)) collect(shard.path(), entries);
  return entries;
}

std::optional<std::uint64_t> read_number(int fd) {
  char text[32];
  const ssize_t bytes = ::pread(fd, text, sizeof text, 0);
  std::uint64_t value = 0;
  if (bytes <= 0) return std::nullopt;
  const auto [end, failure] = std::from_chars(text, text + bytes, value);
  if (failure != std::errc() || end == text + bytes || *end != '\n') return std::nullopt;
  return value;
}

void write_number(int fd, std::uint64_t value) {
  const std::string text = fmt::format("{}\n", value);
  // A failure leaves an empty file, which the next writer answers with a new count.
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) return;
}

}  // namespace

CompileCache::CompileCache(fs::path folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

fs::path CompileCache::path_of(const std::string& key) const { return folder_ / key.substr(0, 2) / key.substr(2); }

std::optional<std::string> CompileCache::load(const std::string& key) {
  const fs::path path = path_of(key);
  std::string bytes;
  try {
    bytes = read_file(path, max_entry_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
  auto content = unwrap(bytes);
  if (content) {
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // recently used
  } else {
    ::unlink(path.c_str());
  }
  return content;
}

void CompileCache::store(const std::string& key, std::string_view content) {
  const std::string bytes = wrap(content);
  if (bytes.size() > std::min<std::uint64_t>(limit_bytes_ / 2, max_entry_bytes)) return;
  const fs::path path = path_of(key);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return warn_once(error.message());
  if (!write_entry(path, bytes)) return warn_once(std::strerror(errno));
  count_bytes(bytes.size());
}

// The running total lies in one small file, so that a write need not look at the others. It may be too high (an entry
// written twice, one removed); then the next count puts it right.
void CompileCache::count_bytes(std::uint64_t added) {
  const UniqueFd total(::open((folder_ / "total").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!total || ::flock(total.get(), LOCK_EX) != 0) return;
  const auto known = read_number(total.get());
  std::uint64_t bytes = known.value_or(limit_bytes_) + added;
  if (bytes > limit_bytes_) bytes = evict();
  write_number(total.get(), bytes);
}

//! Removes the least recently used entries until an eighth of the limit is free; returns what is left.
std::uint64_t CompileCache::evict() {
  std::vector<Entry> entries = all_entries(folder_);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  std::uint64_t bytes = 0;
  for (const auto& entry : entries) bytes += entry.bytes;
  if (bytes <= limit_bytes_) return bytes;
  for (const auto& entry : entries) {
    if (bytes <= limit_bytes_ - limit_bytes_ / 8) break;
    std::error_code error;
    if (fs::remove(entry.path, error)) bytes -= entry.bytes;
  }
  return bytes;
}

void CompileCache::warn_once(const std::string& reason) {
  const std::lock_guard lock(warning_mutex_);
  if (warned_) return;
  warned_ = true;
  fmt::print(stderr, "cudal1: compiled programs are not kept in {}: {}\n", folder_.string(), reason);
}

}  // namespace cudal1
