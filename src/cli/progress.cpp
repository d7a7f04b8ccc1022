#include "cli/progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "cli/printable.hpp"

namespace cudal1 {

void show_progress(std::size_t done, std::size_t total, const std::string& name) {
  if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K%zu/%zu %s", done, total, printable(name).c_str());
}

void clear_progress() {
  if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K");
}

void report_problem(const std::string& message) {
  clear_progress();
  std::fprintf(stderr, "cudal1: %s\n", one_line(message).c_str());
}

}  // namespace cudal1
