// Evaluations on their way into the archive.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "archive/archive.hpp"
#include "judge/evaluation.hpp"

namespace cudal1 {

EvaluationRecord to_record(const Evaluation& evaluation);

//! The status that is on record, and what was said of it; details are not kept there.
Failure failure_of(const EvaluationRecord& record);

//! Where the program's time went, as Evaluation::profile; empty where that is not on record.
std::string profile_of(const EvaluationRecord& record);

//! The file that was asked for, else the user's own.
std::filesystem::path archive_file(const std::filesystem::path& asked);

//! None where it cannot be opened; the reason is then in `why_none`.
std::unique_ptr<Archive> open_archive(const std::filesystem::path& asked, std::string& why_none);

//! The best reward on record; 0 if there is none.
double best_known(Archive& archive, const std::string& task_hash, const std::string& gpu);

}  // namespace cudal1
