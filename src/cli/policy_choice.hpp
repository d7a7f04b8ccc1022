// Who writes programs where the command line leaves it open: the model that is shipped (docs/models.md) beside the
// search, where both its adapter and the model under it are at hand; else the search alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "cli/policy_options.hpp"

namespace cudal1 {

//! What the search with a shipped model is called. The search comes first: its openings are strong, and the model
//! learned to improve on programs that it is shown with their scores.
inline constexpr const char* mix_with_shipped_model = "search:1,local:1";

struct ChoiceSurroundings {
  std::function<void(const std::string& line)> report;
  std::function<bool()> stop = [] { return false; };  //!< of a download
};

//! Where no policy was named. Puts into `options` what is chosen and returns it as arguments for processes that search.
//! The model under a shipped adapter is fetched where it is missing; where that, or anything else about them, does not
//! work, a line says so and the search works alone. Without a shipped adapter for the model nothing is said.
std::vector<std::string> choose_policy(PolicyOptions& options, const ChoiceSurroundings& surroundings);

//! Where a policy was named: a local model without an adapter gets the one that is shipped for it, if there is one.
std::vector<std::string> choose_adapter(PolicyOptions& options);

//! What answers of the local model depend on, if the options ask one: the bytes of model and adapter. Throws Error.
void add_local_model(Sha256& hash, const PolicyOptions& options);

}  // namespace cudal1
