// Whose turn it is, and with which randomness: functions of the run's seed and the step alone, so that a run which is
// resumed goes on as if it had not been ended. But for answers that are written ahead (contrastive.ahead): those are
// not kept, and are written again by the weights of the checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace cudal1 {

//! A seed for each place in a run: the same numbers give the same one, others another.
std::uint64_t seed_of(std::uint64_t run_seed, std::initializer_list<std::uint64_t> place);

//! 0 to count - 1 in an order that depends on the seed.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed);

//! Which `width` of `count` things have their turn at this step: every one comes once before any comes again, in
//! another order each time. Throws Error where there is nothing to choose from.
std::vector<std::size_t> turns_of_step(std::size_t count, std::size_t width, std::int64_t step, std::uint64_t seed);

}  // namespace cudal1
