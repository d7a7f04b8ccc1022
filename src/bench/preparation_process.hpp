#pragma once

#include "bench/preparation.hpp"

namespace cudal1 {

//! prepare() in a process of its own (`cudal1-prepare`), which may crash. Never throws: what went wrong is a status.
Preparation run_preparation_process(const PreparationRequest& request);

//! Did it come to nothing because others had the memory, as far as can be told? A device that is full shows in many
//! ways, and looks like the program's fault in some.
bool is_short_of_memory(const Preparation& preparation);

}  // namespace cudal1
