#pragma once

#include <string>

#include "bench/bench_run.hpp"

namespace cudal1 {

//! `--device auto|cuda|vgpu|cpu` as a bench wants it; `gpu`: whose times the virtual one predicts. Throws Error where
//! there is no such device.
void set_bench_device(BenchOptions& bench, const std::string& device, const std::string& gpu);

//! A secret seed where none is chosen.
void choose_seed(std::uint64_t& seed);

}  // namespace cudal1
