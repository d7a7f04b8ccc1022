// The forms that a suite may have.
#pragma once

#include "suite/suite.hpp"

namespace cudal1 {

//! One JSON object a line: `code`, `name`, and perhaps `suite`, `level`, `id`.
void read_jsonl_suite(const std::filesystem::path& file, Suite& suite);

//! Modules and task folders below a folder; of a KernelBench checkout, the benchmark's own.
void read_folder_suite(const std::filesystem::path& folder, Suite& suite);

//! A module or a task folder by its path, of the suite that is called like `root`. The innermost folder that is called
//! like `level2` says which level it is of.
SuiteTask task_of_path(const std::filesystem::path& path, const std::filesystem::path& root);

//! The number that a name begins with: 19 of "19_ReLU".
std::optional<int> leading_number(const std::string& name);

}  // namespace cudal1
