#include "cli/stage_log.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <memory>

#include "base/seconds_since.hpp"
#include "cli/printable.hpp"

namespace cudal1 {

decltype(BenchEvents::took) stage_log(const std::filesystem::path& file) {
  const auto begin = std::chrono::steady_clock::now();
  return [begin, log = std::make_shared<std::ofstream>(file)](const std::string& what, double seconds,
                                                              const std::string& task, const std::string& details) {
    *log << fmt::format("{:7.1f} s  {:<8} {:6.1f} s  {}  {}\n", seconds_since(begin), what, seconds, one_line(task),
                        details)
         << std::flush;
  };
}

}  // namespace cudal1
