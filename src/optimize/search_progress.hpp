// How far a search has come, in a file beside its results, so that the same command goes on where it was ended.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "optimize/search_run.hpp"

namespace cudal1 {

//! What a search is about; another one begins anew.
struct SearchIdentity {
  std::string task_hash, device, policy;
  bool operator==(const SearchIdentity&) const = default;
};

//! Nothing spent where there is no such file, or it is of another search.
SearchRun::Spent read_progress(const std::filesystem::path& file, const SearchIdentity& identity);

//! Whole or not at all. Throws Error.
void write_progress(const std::filesystem::path& file, const SearchIdentity& identity, const SearchRun::Spent& spent);

}  // namespace cudal1
