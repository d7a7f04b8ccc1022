#include "model/sampling/token_sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/random.hpp"
#include "base/result.hpp"
#include "model/sampling/scores_not_numbers.hpp"

namespace cudal1 {
namespace {

struct Candidate {
  std::int32_t id = 0;
  double weight = 0.0;  //!< e^((score - largest) / temperature): 1 for the most probable
};

bool more_probable(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
}

double total_weight(std::span<const Candidate> candidates) {
  double total = 0.0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  return total;
}

//! Calls visit(id) for each token that may come, in their order; most words of a grammar's masks are empty.
template <class Visit>
void for_allowed(std::span<const float> logits, const TokenDraw& draw, const Visit& visit) {
  if (!draw.allowed) {
    for (std::size_t id = 0; id < logits.size(); ++id) visit(id);
    return;
  }
  for (std::size_t word = 0; word < draw.allowed->words.size(); ++word)
    for (std::uint64_t left = draw.allowed->words[word]; left != 0; left &= left - 1)
      if (const std::size_t id = word * 64 + static_cast<std::size_t>(std::countr_zero(left)); id < logits.size())
        visit(id);
}

std::int32_t most_probable(std::span<const float> logits, const TokenDraw& draw) {
  std::int32_t best = -1;
  for_allowed(logits, draw, [&](std::size_t id) {
    if (best < 0 || logits[id] > logits[static_cast<std::size_t>(best)]) best = static_cast<std::int32_t>(id);
  });
  if (best < 0) throw Error("no token is allowed to come next; the grammar has reached a dead end");
  return best;
}

//! log of the sum of e^score
double log_normaliser(std::span<const float> logits, const TokenDraw& draw, float largest) {
  double sum = 0.0;
  for_allowed(logits, draw, [&](std::size_t id) { sum += std::exp(logits[id] - largest); });
  if (!std::isfinite(largest) || !std::isfinite(sum)) throw ScoresNotNumbers();
  return static_cast<double>(largest) + std::log(sum);
}

std::vector<Candidate> weighted(std::span<const float> logits, const TokenDraw& draw, float largest) {
  std::vector<Candidate> candidates;
  candidates.reserve(draw.allowed ? 1024 : logits.size());
  const float inverse = 1.0F / draw.parameters.temperature;
  for_allowed(logits, draw, [&](std::size_t id) {
    const float weight = std::exp((logits[id] - largest) * inverse);
    if (weight > 0.0F) candidates.push_back({static_cast<std::int32_t>(id), weight});
  });
  return candidates;
}

//! Sorts only as many of the most probable as it takes.
std::size_t count_of_nucleus(std::vector<Candidate>& candidates, double wanted) {
  std::size_t sorted = 0;
  double sum = 0.0;
  while (sorted < candidates.size()) {
    const std::size_t next = std::min(candidates.size(), std::max<std::size_t>(64, sorted * 4));
    const auto begin = candidates.begin();
    std::partial_sort(begin + static_cast<std::ptrdiff_t>(sorted), begin + static_cast<std::ptrdiff_t>(next),
                      candidates.end(), more_probable);
    for (; sorted < next; ++sorted) {
      sum += candidates[sorted].weight;
      if (sum >= wanted) return sorted + 1;
    }
  }
  return candidates.size();
}

void keep_filtered(std::vector<Candidate>& candidates, const SamplingParameters& parameters) {
  if (const auto top = static_cast<std::size_t>(parameters.top_k); top > 0 && top < candidates.size()) {
    std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(top), candidates.end(),
                     more_probable);
    candidates.resize(top);
  }
  if (parameters.top_p < 1.0F)
    candidates.resize(count_of_nucleus(candidates, parameters.top_p * total_weight(candidates)));
  if (parameters.min_p > 0.0F)
    std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.weight < parameters.min_p; });
}

//! Where chance falls if the candidates lie side by side in the order of their ids.
const Candidate& chosen(std::vector<Candidate>& candidates, double total, double chance) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  double sum = 0.0;
  for (const Candidate& candidate : candidates) {
    sum += candidate.weight;
    if (sum > chance * total) return candidate;
  }
  return candidates.back();
}

}  // namespace

void check_parameters(const SamplingParameters& parameters) {
  if (!(parameters.temperature >= 0.0F) || !std::isfinite(parameters.temperature))
    throw Error("temperature must be 0 or larger");
  if (parameters.top_k < 0) throw Error("top_k must be 0 (all tokens) or larger");
  if (!(parameters.top_p > 0.0F && parameters.top_p <= 1.0F)) throw Error("top_p must be above 0 and at most 1");
  if (!(parameters.min_p >= 0.0F && parameters.min_p <= 1.0F)) throw Error("min_p must be from 0 to 1");
}

double uniform_at(std::uint64_t seed, std::int64_t position) {
  const std::uint64_t mixed = Random(seed).next() ^ (static_cast<std::uint64_t>(position) * 0x9e3779b97f4a7c15U);
  return Random(Random(mixed).next()).uniform();
}

DrawnToken draw_token(std::span<const float> logits, const TokenDraw& draw) {
  if (draw.allowed && draw.allowed->words.size() != (logits.size() + 63) / 64)
    throw Error("the mask of allowed tokens is of another vocabulary");
  const std::int32_t best = most_probable(logits, draw);
  const double normaliser = log_normaliser(logits, draw, logits[static_cast<std::size_t>(best)]);
  const auto result = [&](std::int32_t id, double sampled, bool forced) {
    const double policy = static_cast<double>(logits[static_cast<std::size_t>(id)]) - normaliser;
    return DrawnToken{id, static_cast<float>(sampled), static_cast<float>(policy), forced};
  };
  const bool forced = draw.allowed && draw.allowed->count() == 1;
  if (forced || draw.parameters.temperature == 0.0F) return result(best, 0.0, forced);
  std::vector<Candidate> candidates = weighted(logits, draw, logits[static_cast<std::size_t>(best)]);
  keep_filtered(candidates, draw.parameters);
  const double total = total_weight(candidates);
  const Candidate& candidate = chosen(candidates, total, uniform_at(draw.seed, draw.position));
  return result(candidate.id, std::log(candidate.weight / total), false);
}

}  // namespace cudal1
