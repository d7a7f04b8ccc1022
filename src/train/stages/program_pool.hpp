// What a run has found for one task, as exemplars of its next prompts: an ExemplarPool with the programs' texts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "policy/prompt/prompt.hpp"
#include "train/exemplar_pool.hpp"

namespace cudal1 {

//! A success.
struct PooledProgram {
  std::string plan_hash, text;
  double speedup = 1.0;
  std::optional<std::size_t> island = {};  //!< to which it belongs; nothing: islands take turns
};

//! What a prompt shows.
struct ShownPrograms {
  std::vector<PromptExemplar> exemplars;  //!< in the order of the prompt
  std::vector<std::string> plan_hashes;
  std::optional<std::size_t> island;  //!< of what is written after that prompt

  //! Only those at these places stay, which rise.
  void keep(const std::vector<std::size_t>& places);
};

class ProgramPool {
 public:
  explicit ProgramPool(const ExemplarPoolOptions& options)
      : pool_(options), shows_scores_(options.scores != ExemplarScores::hidden) {}

  //! Of a plan that is known already only the score changes. Throws Error for a speed-up that is not above 0.
  void add(const PooledProgram& program);
  ShownPrograms draw(Random& random) const;
  std::size_t size() const { return pool_.size(); }

  //! Everything that was added, in its order: from() makes the same pool of it.
  nlohmann::json to_json() const;
  static ProgramPool from(const nlohmann::json& said, const ExemplarPoolOptions& options);  //!< throws json::exception

 private:
  ExemplarPool pool_;
  bool shows_scores_;
  std::vector<PooledProgram> programs_;   //!< by number of the plan, with their last speed-up
  std::vector<PooledProgram> additions_;  //!< as they came
};

}  // namespace cudal1
