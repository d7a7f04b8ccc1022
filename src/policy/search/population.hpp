// Programs that were right, as parents of new ones: on islands that seldom meet, so that one early success does not
// become the ancestor of all.
#pragma once

#include <optional>
#include <vector>

#include "base/random.hpp"
#include "policy/search/proposal.hpp"

namespace cudal1 {

class Population {
 public:
  explicit Population(int islands) : islands_(static_cast<std::size_t>(islands)) {}

  //! The island follows from the text, so that a search that begins again finds the same ones.
  void add(Proposal proposal, double reward);
  bool is_empty() const { return count_ == 0; }
  //! A good one: of a few drawn from one island the best; now and then the best of all, who so migrates.
  const Proposal& parent(Random& random);
  //! Another one of the same island as the last parent.
  const Proposal& partner(Random& random);

 private:
  struct Member {
    Proposal proposal;
    double reward = 0.0;
  };
  using Island = std::vector<Member>;
  const Proposal& tournament(const Island& island, Random& random) const;
  const Member& best_of_all() const;

  std::vector<Island> islands_;
  std::size_t count_ = 0, last_ = 0;
};

}  // namespace cudal1
