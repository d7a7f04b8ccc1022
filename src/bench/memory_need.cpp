#include "bench/memory_need.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.hpp"
#include "bench/graph_bytes.hpp"
#include "judge/library_memory.hpp"
#include "judge/perturbation_draws.hpp"
#include "judge/placement.hpp"
#include "judge/value_facts.hpp"

namespace cudal1 {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t context_bytes = 700 * mebibyte;          // with the kernels of PyTorch that are used
constexpr std::uint64_t python_context_bytes = 1200 * mebibyte;  // and workspaces, and compiled kernels
constexpr std::uint64_t flush_bytes = 256 * mebibyte;
constexpr std::uint64_t free_for_an_arena = 1024 * mebibyte;  // what a session wants to see besides (plan_session.cpp)
constexpr std::uint64_t reference_variants = 3;
// In fp64, of the same size, beside a value that moves or a result that is compared. The judge walks
// (device_walks.hpp): most takes a norm, which is kept without its bias, with how far it moves, and moved. What jumps
// is found by operators, and elsewhere they do all of it.
constexpr std::uint64_t temporaries_of_walks = 3, temporaries_of_operators = 5;

//! The allocator of PyTorch keeps pieces that fit nobody.
std::uint64_t with_fragments(std::uint64_t bytes) { return bytes / 8 * 9; }

bool has_jumps(const Task& task) {
  return std::ranges::any_of(facts_of_results(task, facts_of(task)), &ValueFacts::jumps);
}

std::uint64_t temporaries_of_judge(const Task& task) {
  return has_jumps(task) ? temporaries_of_operators : temporaries_of_walks;
}

//! What MatchRule::expect holds at its worst moment: results of the reference's variants, of the oracle and of its
//! draws; behind steps the latter once more, without what jumped. And one run of the oracle, or the comparisons.
std::uint64_t expectation_bytes(const Task& task, std::uint64_t temporaries) {
  const GraphBytes own = graph_bytes(task.graph, Width::own), wide = graph_bytes(task.graph, Width::fp64);
  const std::uint64_t draws = has_jumps(task) ? 2 * 2 * pairs_behind_steps : perturbation_draws;
  const std::uint64_t results = (1 + draws) * wide.results + reference_variants * own.results;
  const std::uint64_t run = wide.leaves() + wide.most_alive + temporaries * wide.largest;
  return results + std::max(run, temporaries * wide.results);
}

//! For the reference, which goes before the candidate comes, and as much for that: one that needs less is not known to.
std::uint64_t arena_bytes(const Task& task) {
  const auto plan = make_plan(task.graph, "");
  if (!plan) throw Error(fmt::format("{}: {}", task.name, plan.failure().message));
  return plan_arena(plan.value(), library_bytes(plan.value()), roaming_bytes).total_bytes();
}

}  // namespace

std::uint64_t judge_bytes(const Task& task) {
  const GraphBytes own = graph_bytes(task.graph, Width::own), wide = graph_bytes(task.graph, Width::fp64);
  const std::uint64_t temporaries = temporaries_of_judge(task);
  const std::uint64_t sets = 2 * own.leaves();  // the next one is made while the runner has one
  // Results of the set before are compared meanwhile; that both are at their worst at one time is rare.
  const std::uint64_t compared = (1 + temporaries / 2) * wide.results + 2 * own.results;
  return context_bytes + free_for_an_arena + arena_bytes(task) +
         with_fragments(sets + compared + expectation_bytes(task, temporaries));
}

std::uint64_t input_sets_bytes(const Task& task) {
  constexpr std::uint64_t most_sets = 10;  // three native ones, and every derived distribution
  const GraphBytes own = graph_bytes(task.graph, Width::own), wide = graph_bytes(task.graph, Width::fp64);
  return 2 * own.weights + most_sets * (own.inputs + (wide.results + own.results) / 2 * 3);
}

std::uint64_t worker_bytes(const Task& task, const std::vector<std::string>& baselines) {
  const GraphBytes own = graph_bytes(task.graph, Width::own);
  // A recorded graph has inputs and intermediates of its own, for good.
  const auto graphs = static_cast<std::uint64_t>(std::ranges::count_if(
      baselines, [](const std::string& way) { return way == "cuda-graph" || way == "compile-reduce-overhead"; }));
  const std::uint64_t models = baselines.size() + 2;  // the program's, and a copy of the first one's weights
  const std::uint64_t inputs = 3 + graphs;            // of this round, of the one before, fresh copies
  // Besides: what one convolution or product asks for, as large as what it works on.
  const std::uint64_t calls = (1 + graphs) * (own.most_alive + own.results) + own.largest;
  return python_context_bytes + flush_bytes + models * own.weights + with_fragments(inputs * own.inputs + calls);
}

std::uint64_t comparison_bytes(const Task& task) {
  const GraphBytes own = graph_bytes(task.graph, Width::own);
  const std::uint64_t eager = python_context_bytes + own.leaves() + own.most_alive + own.largest;
  const std::uint64_t rule = 2 * own.results + expectation_bytes(task, temporaries_of_operators);
  return context_bytes + with_fragments(2 * own.leaves() + std::max(eager, rule));
}

}  // namespace cudal1
