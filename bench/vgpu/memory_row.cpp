#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <memory>

#include "base/result.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace {

constexpr double megabyte = 1e6;
constexpr std::size_t floats = std::size_t{90} << 20;  // in each of three buffers: 1.1 GB in all

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / megabyte;
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  if (!pipe) throw Error("cannot run myself");
  std::array<char, 4096> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size(), pipe.get());
  return {text.data(), size};
}

}  // namespace

//! Everything the machine can look at, on buffers that are read and written all over.
void run_memory_process() {
  Workload workload(floats);
  const auto blocks = static_cast<std::uint32_t>(floats / 256);
  workload.run({"copy", 0, {blocks, 1, 1}, {256, 1, 1}}, {.threads = 2, .checks = {true, true, true}});
  fmt::print("{}\n", nlohmann::json{{"buffers_mb", 3.0 * 4 * floats / megabyte}, {"peak_mb", peak_mb()}}.dump());
}

void memory_row(nlohmann::json& rows) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const nlohmann::json found = nlohmann::json::parse(output_of(fmt::format("'{}' --memory-process", self)));
  const double buffers = found.at("buffers_mb"), peak = found.at("peak_mb"), most = 1.5 * buffers + 200;
  rows.push_back(row("memory with all checks, of which the buffers are 1.1 GB", peak, "MB",
                     fmt::format("at most 1.5 times the buffers plus 200 MB: {:.0f} MB", most), peak <= most, found));
}

}  // namespace cudal1::bench
