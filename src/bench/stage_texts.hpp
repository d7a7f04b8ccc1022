// What the log of a bench says of a stage, besides how long it took.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/bench_item.hpp"
#include "bench/preparation.hpp"

namespace cudal1 {

//! "judge 46.5 GiB, worker 9.1 GiB"; nothing where nobody has estimated it.
std::string memory_text(const BenchItem& item);

//! "reference 3.1, program 0.9"
std::string stages_text(const std::vector<std::pair<std::string, double>>& stages);

//! ", tensors 12.3 GiB"; nothing where they were not on a GPU.
std::string peak_text(const Preparation& made);

}  // namespace cudal1
