#include "base/line_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path) { throw Error(path.string() + ": " + std::strerror(errno)); }

void write_all(int file, const std::string& bytes, const fs::path& path) {
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path);
    written += static_cast<std::size_t>(count);
  }
}

bool ends_within_a_line(const fs::path& file) {
  const std::string text = read_file(file);
  return !text.empty() && text.back() != '\n';
}

std::string first_lines(const std::string& text, std::int64_t count) {
  std::size_t end = 0;
  for (; count > 0 && end < text.size(); --count) end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

}  // namespace

LineLog::LineLog(const fs::path& file)
    : file_(file), descriptor_(::open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644)) {
  if (!descriptor_) fail(file);
  if (ends_within_a_line(file)) write_all(descriptor_.get(), "\n", file_);
}

void LineLog::append(const std::string& line) {
  const std::lock_guard lock(mutex_);
  write_all(descriptor_.get(), line + "\n", file_);
  if (::fsync(descriptor_.get()) != 0) fail(file_);
}

void keep_first_lines(const fs::path& file, std::int64_t lines) {
  std::error_code unknown;
  if (fs::exists(file, unknown)) write_file_atomically(file, first_lines(read_file(file), lines));
}

}  // namespace cudal1
