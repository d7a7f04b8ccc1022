// Several policies that take turns by shares: "local:6,search:2".
#pragma once

#include <memory>
#include <string>
#include <string_view>
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

//! Spreads turns evenly: with weights 2 and 1 the first proposes two of every three programs. Who has nothing to
//! propose passes, for this turn.
class PolicyMix : public Policy {
 public:
  struct Part {
    std::unique_ptr<Policy> policy;
    int weight = 1;
  };
  explicit PolicyMix(std::vector<Part> parts);

  std::optional<std::string> propose(const std::vector<ScoredProgram>& seen) override;

 private:
  std::size_t next_turn(const std::vector<bool>& passed);

  std::vector<Part> parts_;
  std::vector<int> credits_;
};

}  // namespace cudal1
