#include "base/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fts.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::string_view action) {
  throw Error(fmt::format("{}: cannot {}: {}", path.string(), action, std::strerror(errno)));
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

fs::path directory_from_environment(const char* own, const char* xdg, const char* below_home) {
  if (const char* value = std::getenv(own); value && *value) return value;
  if (const char* value = std::getenv(xdg); value && *value) return fs::path(value) / "cudal1";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / below_home / "cudal1";
  return fs::temp_directory_path() / fmt::format("cudal1-{}", ::getuid());
}

//! Everything below a folder and the folder itself, folders before and after what is in them; links are not followed.
template <class Visit>
void walk(const fs::path& folder, Visit visit) {
  char* const roots[] = {const_cast<char*>(folder.c_str()), nullptr};
  const std::unique_ptr<FTS, int (*)(FTS*)> tree(::fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, nullptr), &::fts_close);
  while (const FTSENT* entry = tree ? ::fts_read(tree.get()) : nullptr) visit(*entry);
}

// --- Temporary folders: "cudal1-PID-XXXXXX", locked while their owner lives ---

constexpr std::string_view temporary_prefix = "cudal1-";
constexpr std::size_t random_letters = 6;

//! The process in the name of a temporary folder; 0 if it is no such name.
pid_t process_in(std::string_view name) {
  if (!name.starts_with(temporary_prefix)) return 0;
  name.remove_prefix(temporary_prefix.size());
  pid_t process = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  const std::string_view letters = name.substr(static_cast<std::size_t>(rest - name.data()));
  return error == std::errc() && letters.size() == random_letters + 1 && letters.front() == '-' ? process : 0;
}

//! Processes of another container have other numbers, but their locks are seen. A number in use again: it stays.
bool is_orphan(const fs::path& folder, pid_t process) {
  if (process <= 0 || ::kill(process, 0) == 0 || errno != ESRCH) return false;
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || info.st_uid != ::getuid()) return false;
  return ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

//! What killed processes of this user left.
void remove_orphans(const fs::path& parent) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(parent.c_str()), &::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr)
    if (const pid_t process = process_in(entry->d_name); is_orphan(parent / entry->d_name, process))
      remove_folder(parent / entry->d_name);
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t max_bytes) {
  // Without O_NONBLOCK a pipe without a writer would be waited for; regular files take no notice of it.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) fail(path, "open");
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) fail(path, "read");
  if (!S_ISREG(info.st_mode)) throw Error(fmt::format("{}: is not a regular file", path.string()));
  if (static_cast<std::uintmax_t>(info.st_size) > max_bytes)
    throw Error(fmt::format("{}: has {} bytes; at most {} are read", path.string(), info.st_size, max_bytes));
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  const fs::path temporary = path.parent_path() / fmt::format(".{}.{}.{}.tmp", path.filename().string(), ::getpid(),
                                                              counter.fetch_add(1, std::memory_order_relaxed));
  try {
    const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!fd) fail(path, "write");
    write_all(fd.get(), bytes, path);
    if (::fsync(fd.get()) != 0) fail(path, "write");
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail(path, "write");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

fs::path cache_directory() { return directory_from_environment("CUDAL1_CACHE_DIR", "XDG_CACHE_HOME", ".cache"); }

fs::path data_directory() { return directory_from_environment("CUDAL1_DATA_DIR", "XDG_DATA_HOME", ".local/share"); }

fs::path executable_directory() { return fs::read_symlink("/proc/self/exe").parent_path(); }

UniqueFd make_sealed_memory(std::string_view name, std::string_view bytes) {
  UniqueFd fd(::memfd_create(std::string(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) fail(fs::path(name), "create memory file");
  write_all(fd.get(), bytes, fs::path(name));
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    fail(fs::path(name), "seal memory file");
  return fd;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  walk(folder, [&](const FTSENT& entry) {
    if (entry.fts_info == FTS_F) files.emplace_back(entry.fts_path);
  });
  std::sort(files.begin(), files.end());
  return files;
}

void remove_folder(const fs::path& folder) {
  walk(folder, [](const FTSENT& entry) {
    if (entry.fts_info == FTS_DP)
      ::rmdir(entry.fts_accpath);
    else if (entry.fts_info != FTS_D)
      ::unlink(entry.fts_accpath);
  });
}

TemporaryFolder::TemporaryFolder() {
  const fs::path parent = fs::temp_directory_path();
  remove_orphans(parent);
  std::string pattern = (parent / fmt::format("{}{}-XXXXXX", temporary_prefix, ::getpid())).string();
  if (!::mkdtemp(pattern.data()))
    throw Error(fmt::format("{}: cannot make a folder: {}", pattern, std::strerror(errno)));
  path_ = pattern;
  owned_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (owned_) ::flock(owned_.get(), LOCK_SH);
}

}  // namespace cudal1
