// Bookkeeping that all assessors share.
#pragma once

#include "train/assess/assessor.hpp"

namespace cudal1 {

//! Of statuses that only a program gets which tries what no honest one does.
bool is_cheat(Status status);

void count(AssessorCounts& counts, const Assessment& assessment);

//! Of the program that says nothing. Throws Error where there is none.
std::string hash_of_empty_plan(const TrainingTask& task);

}  // namespace cudal1
