// What `tasks --generate` does: training tasks, listed or written as task folders (docs/generated_tasks.md).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace cudal1 {

struct GeneratedTasksOptions {
  std::size_t count = 0;  //!< 0: nothing is generated
  std::uint64_t seed = 1;
  std::optional<double> difficulty;
  std::string split;  //!< empty: all
  std::pair<double, double> reference_us{15.0, 200.0};
  std::string gpu = "h200";
};

void add_generation_options(CLI::App& command, GeneratedTasksOptions& options);

//! `folder` is empty: only says which there would be. Throws Error, UsageError.
int run_generation(const GeneratedTasksOptions& options, const std::filesystem::path& folder, bool as_json);

}  // namespace cudal1
