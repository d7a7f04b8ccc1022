// What an ablation compares: arms and controls by name, each a row of a table that says which weights write its programs
// and what its prompts show. Nothing else tells them apart.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/exemplar_pool.hpp"

namespace cudal1 {

//! Which programs prompts show, and what is said of their speed.
struct ShownExemplars {
  ExemplarChoice choice = ExemplarChoice::none;
  ExemplarScores scores = ExemplarScores::measured;
};

//! A run of stage 3. All begin with the same stages 1 and 2.
struct ContrastiveRun {
  std::string_view name;  //!< also of its folder
  ShownExemplars shown;
};

//! The paper's figures, over 250 tasks of KernelBench on an A100.
struct PublishedFigures {
  double mean_speedup = 0.0;
  std::optional<double> median_speedup;
  std::optional<int> successes;
  int faster = 0;  //!< by over 1%
  static constexpr int tasks = 250;
};

struct AblationArm {
  std::string_view name, title;
  std::string_view run;    //!< of stage 3 whose weights it has; empty: those after `stage`
  std::string_view stage;  //!< its last one; empty: the model as training begins
  ShownExemplars shown;    //!< in its trial
  bool is_control = false;
  bool copies_best = false;
  std::optional<PublishedFigures> published = {};
};

//! Of two arms, pair by pair.
struct AblationDifference {
  std::string_view first, second;
};

std::span<const ContrastiveRun> contrastive_runs();
std::span<const AblationArm> ablation_arms();
//! What the table prints: what the prompt is worth, then every arm against stage 2.
std::vector<AblationDifference> ablation_differences();

//! In the table's order, each once; no names: all. Throws UsageError, with the nearest name there is.
std::vector<AblationArm> chosen_arms(const std::vector<std::string>& names);

}  // namespace cudal1
