// What took a bench how long: a line for each task and stage, as it happens.
#pragma once

#include <filesystem>

#include "bench/bench_run.hpp"

namespace cudal1 {

//! Writes to `file` for as long as it is kept; its times count from now.
decltype(BenchEvents::took) stage_log(const std::filesystem::path& file);

}  // namespace cudal1
