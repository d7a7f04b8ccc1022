// What a result was made from and how: a row with the same key need not be made again.
#pragma once

#include <string>

#include "bench/bench_item.hpp"
#include "bench/bench_run.hpp"

namespace cudal1 {

//! Changes whenever the code does that makes a result: executables, and the Python that they run.
std::string hash_of_code();

//! Throws Error when the program cannot be read.
std::string row_key(const BenchItem& item, const BenchOptions& options, const std::string& code);

}  // namespace cudal1
