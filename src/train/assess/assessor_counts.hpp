// Bookkeeping that all assessors share.
#pragma once

#include "train/assess/assessor.hpp"

namespace cudal1 {

void count(AssessorCounts& counts, const Assessment& assessment);

//! Of the program that says nothing. Throws Error where there is none.
std::string hash_of_empty_plan(const TrainingTask& task);

}  // namespace cudal1
