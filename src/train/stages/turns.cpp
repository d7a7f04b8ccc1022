#include "train/stages/turns.hpp"

#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "base/result.hpp"

namespace cudal1 {

std::uint64_t seed_of(std::uint64_t run_seed, std::initializer_list<std::uint64_t> place) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  std::uint64_t seed = Random(run_seed).next();
  for (const std::uint64_t number : place) seed = Random(seed * odd + number).next();
  return seed;
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

std::vector<std::size_t> turns_of_step(std::size_t count, std::size_t width, std::int64_t step, std::uint64_t seed) {
  if (count == 0) throw Error("there is nothing to choose from");
  std::vector<std::size_t> turns;
  std::size_t place = static_cast<std::size_t>(step) * width;
  std::size_t round = place / count;
  std::vector<std::size_t> order = shuffled(count, seed_of(seed, {round}));
  for (; turns.size() < width; ++place) {
    if (place / count != round) order = shuffled(count, seed_of(seed, {round = place / count}));
    turns.push_back(order[place % count]);
  }
  return turns;
}

}  // namespace cudal1
