// bench/results/*.json: rows that say what was measured, against which bar, of which commit.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace cudal1::bench {

nlohmann::json row(const std::string& what, double value, const std::string& unit, const std::string& bar, bool holds,
                   nlohmann::json details = nullptr);

struct Measured {
  std::string command, commit, gpu;
};

//! What a result of the virtual GPU was made on: its processor and cores.
std::string this_processor();

//! Rows of earlier runs on the same GPU stay, but for those that are measured again.
void write_results(const std::filesystem::path& output, const Measured& by, nlohmann::json rows);
void print(const nlohmann::json& rows);

}  // namespace cudal1::bench
