// The policy that learns nothing: it fuses as much as it can, then varies what was fast.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/vgpu/model/gpu_profile.hpp"
#include "policy/policy.hpp"
#include "policy/search/population.hpp"
#include "policy/search/search_space.hpp"
#include "policy/search/variation.hpp"

namespace cudal1 {

class SearchPolicy : public Policy {
 public:
  //! The graph must have its metas. `gpu`: proposals that cannot be fast there are not made.
  SearchPolicy(OpGraph graph, vgpu::GpuProfile gpu, Random random);

  //! A program that becomes a plan which none of those proposed before, or seen, becomes. Nothing: none is found.
  std::optional<std::string> propose(const std::vector<ScoredProgram>& seen) override;

  //! Proposals that were dropped because they could not be as fast as what is known.
  int hopeless() const { return hopeless_; }

 private:
  void look_at(const std::vector<ScoredProgram>& seen);
  Proposal variation();
  bool is_hopeless(const Proposal& proposal);
  std::optional<std::string> accepted(const Proposal& proposal);

  SearchSpace space_;
  vgpu::GpuProfile gpu_;
  Random random_;
  Population population_;
  Variation variation_;
  std::vector<Proposal> openings_;  //!< still to be proposed, the last first
  std::set<std::string> plans_;     //!< hashes of those that were proposed or seen
  std::size_t looked_at_ = 0;
  double best_ms_ = 0.0;  //!< 0: nothing is known
  int hopeless_ = 0;
};

}  // namespace cudal1
