#include "bench/row_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "bridge/bridge_process.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

std::string program_identity(const ProgramChoice& program) {
  if (!program.file.empty()) return read_file(program.file);
  if (program.is_solution()) return program.solution;
  std::error_code problem;
  if (program.archive.empty() || !fs::exists(program.archive, problem)) return {};
  return sha256_hex(read_file(program.archive, std::size_t{1} << 40));
}

}  // namespace

std::string hash_of_code() {
  Sha256 hash;
  for (const char* name : {"cudal1", "cudal1-prepare", "cudal1-runner", "cudal1-vgpu-runner", "_cudal1_native.so",
                           "cudal1-solution", "libcudal1_restrict.so"}) {
    const fs::path file = executable_directory() / name;
    std::error_code problem;
    if (fs::exists(file, problem)) hash.add_field(read_file(file));
  }
  for (const fs::path& file : files_below(bridge_directory()))
    if (file.extension() == ".py") hash.add_field(read_file(file));
  return hash.hex();
}

std::string row_key(const BenchItem& item, const BenchOptions& options, const std::string& code) {
  Sha256 hash;
  hash.add_field(code).add_field(options.device).add_field(options.gpu).add_field(options.verify ? "v" : "");
  hash.add_field(
      fmt::format("{} {} {}", fmt::join(options.baselines, ","), options.timing.seconds, options.timing.half_width));
  for (const char* name : {"graph.json", "source.py", "imports.json"})
    if (const fs::path file = item.folder.folder / name; fs::exists(file)) hash.add_field(read_file(file));
  return hash.add_field(program_identity(*item.program)).hex().substr(0, 16);
}

}  // namespace cudal1
