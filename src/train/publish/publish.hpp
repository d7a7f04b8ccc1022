// The folder of an adapter that others are to use, made of a finished run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace cudal1 {

//! Of weights: what a repository should carry, and what none should.
inline constexpr std::int64_t wanted_adapter_bytes = std::int64_t{12} << 20;
inline constexpr std::int64_t most_adapter_bytes = std::int64_t{40} << 20;

struct PublishedAdapter {
  std::filesystem::path folder;
  std::string base_name, base_sha256;
  std::int64_t bytes = 0;  //!< of its weights

  bool is_large() const { return bytes > wanted_adapter_bytes; }
};

//! Writes the adapter in bf16, how it was asked (prompt.json), the run's configuration without paths of this machine,
//! and a model card (README.md). The folder is there whole or not at all. Throws Error in one line: for a run that has
//! not come to its end, an adapter that is too large, and a folder that is there already.
PublishedAdapter publish_run(const std::filesystem::path& run, const std::filesystem::path& folder);

}  // namespace cudal1
