#pragma once

#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "judge/judge.hpp"
#include "policy/policy.hpp"

namespace cudal1 {

//! Programs of a task that were judged on this GPU with this budget of errors, the oldest first.
std::vector<ScoredProgram> recorded_programs(Archive& archive, const std::string& task_hash, const std::string& gpu,
                                             Precision precision);

}  // namespace cudal1
