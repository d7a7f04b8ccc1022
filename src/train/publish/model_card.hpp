// The README.md of an adapter that is published: all of it from what the run's folder says.
#pragma once

#include <cstdint>
#include <string>

#include "train/publish/finished_run.hpp"

namespace cudal1 {

//! `name`: of the folder that it is published in. `bytes`: of its weights.
std::string model_card(const FinishedRun& run, const std::string& name, std::int64_t bytes);

//! "18.6 MiB"
std::string size_text(std::int64_t bytes);

}  // namespace cudal1
