#include "policy/search/population.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t drawn = 3;              // of so many the best becomes a parent
constexpr double migration = 0.1;             // share of parents that are the best of all
constexpr std::size_t members_an_island = 6;  // fewer programs than this live together on one

}  // namespace

void Population::add(Proposal proposal, double reward) {
  ++count_;
  const std::size_t inhabited = std::clamp<std::size_t>(count_ / members_an_island, 1, islands_.size());
  const std::size_t place = std::hash<std::string>()(to_text(proposal)) % inhabited;
  islands_[place].push_back({std::move(proposal), reward});
}

const Population::Member& Population::best_of_all() const {
  const Member* best = nullptr;
  for (const Island& island : islands_)
    for (const Member& member : island)
      if (best == nullptr || member.reward > best->reward) best = &member;
  return *best;
}

const Proposal& Population::tournament(const Island& island, Random& random) const {
  const Member* best = &island[random.below(island.size())];
  for (std::size_t i = 1; i < drawn; ++i)
    if (const Member& other = island[random.below(island.size())]; other.reward > best->reward) best = &other;
  return best->proposal;
}

const Proposal& Population::parent(Random& random) {
  do last_ = (last_ + 1) % islands_.size();
  while (islands_[last_].empty());
  if (random.uniform() < migration) return best_of_all().proposal;
  return tournament(islands_[last_], random);
}

const Proposal& Population::partner(Random& random) { return tournament(islands_[last_], random); }

}  // namespace cudal1
