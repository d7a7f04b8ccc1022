// How far a search has come, in a file beside its results, so that the same command goes on where it was ended.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "optimize/search_run.hpp"

namespace cudal1 {

//! What a search is about: another device or policy has a budget of its own.
struct SearchIdentity {
  std::string task_hash, device, policy;
  bool operator==(const SearchIdentity&) const = default;
};

//! Nothing spent where there is no such file, or nothing of this search in it.
SearchRun::Spent read_progress(const std::filesystem::path& file, const SearchIdentity& identity);

//! Whole or not at all; what it says of other searches stays. Throws Error.
void write_progress(const std::filesystem::path& file, const SearchIdentity& identity, const SearchRun::Spent& spent);

}  // namespace cudal1
