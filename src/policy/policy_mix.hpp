// Several policies that take turns by shares: "local:6,search:2".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/policy.hpp"

namespace cudal1 {

struct PolicyShare {
  std::string name;
  int weight = 1;
  bool operator==(const PolicyShare&) const = default;
};

//! "search", or names with weights. Throws UsageError that names what is wrong: an unknown name (the known ones are
//! said), one that comes twice, a weight that is no number from 1 to 1000.
std::vector<PolicyShare> parse_policy_mix(std::string_view text, const std::vector<std::string>& known);

//! Whose turn it is. Everybody earns their weight, the richest pays all of it: as even as whole numbers allow.
class EvenTurns {
 public:
  //! `opening`: so many turns the first one has before all others, who have as many more after them.
  explicit EvenTurns(std::vector<int> weights, int opening = 0)
      : weights_(std::move(weights)), credits_(weights_.size(), 0), opening_(opening) {}
  //! Of those that have not passed; as many as there are weights: all have.
  std::size_t next(const std::vector<bool>& passed);

 private:
  std::vector<int> weights_, credits_;
  int opening_ = 0;  //!< turns that are left of it
};

//! Of the first `count` turns, each: which of the shares has it.
std::vector<std::size_t> first_turns(const std::vector<PolicyShare>& shares, std::size_t count);

//! Spreads turns evenly: with weights 2 and 1 the first proposes two of every three programs. Who has nothing to
//! propose passes, for this turn.
class PolicyMix : public Policy {
 public:
  struct Part {
    std::unique_ptr<Policy> policy;
    int weight = 1;
  };
  //! `opening`: see EvenTurns.
  explicit PolicyMix(std::vector<Part> parts, int opening = 0);

  std::optional<std::string> propose(const std::vector<ScoredProgram>& seen) override;

 private:
  std::vector<Part> parts_;
  EvenTurns turns_;
};

}  // namespace cudal1
