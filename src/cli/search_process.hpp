// A search, or samples of policies, in a process of its own, `cudal1-search`: what its judge does to a GPU, and how it
// ends, is no other's business.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/task_report.hpp"
#include "optimize/search_board.hpp"
#include "report/sample_row.hpp"

namespace cudal1 {

struct SearchRequest {
  std::string name;                    //!< for people
  std::filesystem::path task, module;  //!< the task's folder; what a package stands in for, or nothing
  std::filesystem::path folder;        //!< for what is found, and how far the search has come
  std::filesystem::path archive;       //!< empty: none
  std::string device = "vgpu", gpu = "h200", policy = "search";
  std::vector<std::string> policy_arguments;  //!< docs/optimize.md: options of policies and the models behind them
  std::vector<std::string> environment;       //!< variables that the process has beside the few that all have
  int tasks = 1;                              //!< of the whole command
  int evaluations = 20;
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 0;
  int jobs = 1;  //!< compilers at once
  std::uint64_t bytes_for_input_sets = 0;
  bool explain = true;
  bool best_is_timed_later = false;  //!< if it has a package
  bool ends_with_its_gpu = true;     //!< where the judge's own work fails, another process may be asked to go on
  int judged = 0, right = 0;         //!< by processes before this one, of the same run
  double seconds_before = 0.0;       //!< that they took
  bool beside_others = false;        //!< on the same device
  std::vector<int> samples;          //!< not empty: nothing is searched for; these answers are drawn, each is judged
  std::vector<SampleRow> sampled;    //!< of these policies, before
};

nlohmann::json to_json(const SearchRequest& request);
SearchRequest search_request_from_json(const nlohmann::json& said);  //!< throws json::exception

//! What the process says while it searches, a line each; the last one is its report.
nlohmann::json news_message(const SearchNews& news);
nlohmann::json problem_message(const std::string& problem);
nlohmann::json sample_message(const SampleRow& sample);
nlohmann::json report_message(const TaskReport& report);

struct SearchEvents {
  std::function<void(const SearchNews&)> news = [](const SearchNews&) {};
  std::function<void(const std::string& problem)> problem = [](const std::string&) {};
  std::function<void(const SampleRow&)> sample = [](const SampleRow&) {};
  //! Whether it is to end its search and report what it has. Asked again and again.
  std::function<bool()> stop = [] { return false; };
};

//! Never throws: what went wrong is the report's error. `threads`: that PyTorch may use; 0: as many as it wants.
TaskReport search_in_own_process(const SearchRequest& request, int threads, const SearchEvents& events);

}  // namespace cudal1
