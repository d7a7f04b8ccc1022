#pragma once

#include "bench/preparation.hpp"

namespace cudal1 {

//! prepare() in a process of its own (`cudal1-prepare`), which may crash. Never throws: what went wrong is a status.
Preparation run_preparation_process(const PreparationRequest& request);

}  // namespace cudal1
