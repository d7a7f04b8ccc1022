// Many samples of a policy in a few numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/sample_row.hpp"

namespace cudal1 {

//! The chance that one of k samples is a success, estimated without bias from n samples of which c are: of all ways to
//! choose k of the n, the share in which one is (HumanEval's 1 - C(n - c, k) / C(n, k)). k is at most n.
double pass_at(int k, int n, int c);

//! 1, 2, 4 … and the last itself.
std::vector<int> sizes_up_to(int last);

inline constexpr double fast_p_of_samples[] = {1.0, 1.5, 2.0};

struct AnswerCounts {
  int all = 0;
  int programs = 0, refusals = 0;
  int without_program = 0;  //!< nothing that could be read as a program, an empty one, or one that was cut off
  int not_answered = 0;     //!< or never asked for
};

struct SampleFigures {
  std::string name;                       //!< "level 1", "all"
  int tasks = 0, right = 0;               //!< right: samples
  std::vector<int> sizes;                 //!< up to the number of samples that every task has
  std::vector<double> pass;               //!< at each size, the mean over tasks
  std::vector<std::vector<double>> fast;  //!< for each of fast_p_of_samples, at each size
  AnswerCounts answers;
  std::map<std::string, int> statuses;
  std::int64_t prompt_tokens = 0, new_tokens = 0;
  double cost = 0.0;
};

//! Degenerate tasks are in none. `name` for people.
SampleFigures figures_of_samples(const std::string& name, const std::vector<SampleRow>& rows);

//! By level, and "all" where there are several.
std::vector<SampleFigures> sample_figures_by_level(const std::vector<SampleRow>& rows);
//! Of mixtures; nothing where one policy gave all of them.
std::vector<SampleFigures> sample_figures_by_policy(const std::vector<SampleRow>& rows);

}  // namespace cudal1
