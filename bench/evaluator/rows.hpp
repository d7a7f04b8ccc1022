// The measurements behind the evaluator's claims: one function a row of bench/results/evaluator.json.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "judge/backend.hpp"
#include "judge/evaluation.hpp"
#include "results_file.hpp"

namespace cudal1::bench {

struct ExampleProgram {
  std::filesystem::path task;
  std::string file;
  std::string text;
  std::string wanted_status;  //!< from the file's name, before the first '-'
};

//! All programs below a folder of tasks, sorted.
std::vector<ExampleProgram> programs_below(const std::filesystem::path& folder);

struct Setting {
  std::filesystem::path source_folder;  //!< of the repository
  std::filesystem::path scratch;        //!< an empty folder for caches
};

void compile_rows(Backend& backend, const Setting& setting, nlohmann::json& rows);
void throughput_row(const Setting& setting, nlohmann::json& rows);
void repeat_row(Backend& backend, const Setting& setting, nlohmann::json& rows);
void self_row(Backend& backend, const Setting& setting, nlohmann::json& rows);
void start_row(Backend& backend, nlohmann::json& rows);
void noise_row(Backend& backend, const Setting& setting, nlohmann::json& rows);
void host_row(Backend& backend, const Setting& setting, nlohmann::json& rows);
void call_row(Backend& backend, const Setting& setting, nlohmann::json& rows);
void hang_row(Backend& backend, const Setting& setting, nlohmann::json& rows);

}  // namespace cudal1::bench
