// The programs of one task that a training run has found, as exemplars of its next prompts. Scores are the logarithm of
// the speed-up, or whatever else the run shows; the run says which, here they are numbers.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "policy/prompt/exemplar_selection.hpp"

namespace cudal1 {

//! What a prompt says of its exemplars' speed. All but the first are controls of an experiment.
enum class ExemplarScores {
  measured,
  shuffled,  //!< those of the exemplars in the prompt, dealt out at random: which is faster nobody can tell
  hidden,
};

std::string_view to_string(ExemplarScores scores);
std::optional<ExemplarScores> exemplar_scores_from_string(std::string_view name);

struct ExemplarPoolOptions {
  ExemplarOptions selection{.temperature = 0.2};
  ExemplarScores scores = ExemplarScores::measured;
  //! Of prompts that show none, so that the first sample of a new task is trained too.
  double share_without = 0.0;
  std::size_t migrate_every = 8;  //!< additions, after which the best of each island moves on to the next; 0: never
  std::size_t reset_every = 64;   //!< additions, after which the worst island starts again; 0: never
};

//! Throws Error for options that make no sense: shares outside [0, 1], widths and temperatures that are not above 0.
void check(const ExemplarPoolOptions& options);

//! What a prompt shows.
struct DrawnExemplars {
  std::vector<std::size_t> plans;     //!< numbers of plans, in the order of the prompt, which is random
  std::vector<std::size_t> scored_as;  //!< whose score each of them is shown with: its own, unless scores are shuffled
  std::optional<std::size_t> island;  //!< to which belongs what is written after that prompt
};

//! Everything follows from the order of additions, so that a run which is resumed gets the same pool by adding again.
class ExemplarPool {
 public:
  explicit ExemplarPool(const ExemplarPoolOptions& options);

  //! Adds a plan that was a success, or gives a known one its new score; returns its number, counted from 0. Without an
  //! island they take turns. Throws Error for a score that is not finite and an island that is not there.
  std::size_t add(const std::string& plan_hash, double score, std::optional<std::size_t> island = {});

  //! Distinct plans, fewer than asked for where there are not as many. The same Random draws the same ones.
  DrawnExemplars draw(Random& random) const;

  std::size_t size() const { return scores_.size(); }
  double score(std::size_t plan) const { return scores_[plan]; }
  //! Members of each island, in the order in which they came.
  const std::vector<std::vector<std::size_t>>& islands() const { return islands_; }

 private:
  std::size_t best_of(const std::vector<std::size_t>& members) const;
  void join(std::size_t island, std::size_t plan);
  void migrate();
  void reset_worst();
  DrawnExemplars draw_from_an_island(Random& random) const;

  ExemplarPoolOptions options_;
  std::map<std::string, std::size_t> numbers_;  //!< by plan hash
  std::vector<double> scores_;
  std::vector<std::vector<std::size_t>> islands_;
};

}  // namespace cudal1
