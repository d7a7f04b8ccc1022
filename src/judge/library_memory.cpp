#include "judge/library_memory.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "device/op_runtime.hpp"

namespace cudal1 {
namespace {

constexpr std::uint64_t least_besides = std::uint64_t{1} << 30, ample_besides = std::uint64_t{8} << 30;

std::uint64_t bytes_of(const Plan& plan, int buffer) {
  return static_cast<std::uint64_t>(plan.buffers[static_cast<std::size_t>(buffer)].meta.span_bytes());
}

//! By step: the first op step after it, where what is no longer needed goes.
std::vector<std::size_t> next_op_steps(const Plan& plan) {
  std::vector<std::size_t> next(plan.call.size(), plan.call.size());
  for (std::size_t i = plan.call.size(); i-- > 1;)
    next[i - 1] = std::holds_alternative<OpStep>(plan.call[i]) ? i : next[i];
  return next;
}

//! Of the buffers that op steps make.
std::uint64_t most_alive(const Plan& plan) {
  constexpr std::size_t never = SIZE_MAX;
  std::vector<std::size_t> first(plan.buffers.size(), never);
  for (std::size_t i = plan.call.size(); i-- > 0;)
    for (const int buffer : buffers_of(plan, plan.call[i])) first[static_cast<std::size_t>(buffer)] = i;
  const std::vector<std::size_t> last = last_uses(plan);
  const std::vector<std::size_t> freed_at = next_op_steps(plan);
  std::vector<std::int64_t> change(plan.call.size() + 1, 0);
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (!buffer.allocated_by_op || first[i] == never) continue;
    change[first[i]] += buffer.meta.span_bytes();
    // On branches nobody can say in which order; what one of them frees no other gets.
    const bool stays = last[i] == SIZE_MAX || !plan.branches.empty();
    change[stays ? plan.call.size() : freed_at[last[i]]] -= buffer.meta.span_bytes();
  }
  std::int64_t alive = 0, most = 0;
  for (const std::int64_t bytes : change) most = std::max(most, alive += bytes);
  return static_cast<std::uint64_t>(most);
}

//! Operands packed, transposed, unfolded: several times their size, but of those that are huge hardly as much again.
std::uint64_t besides_for(std::uint64_t operands) {
  return std::max({least_besides, std::min(4 * operands, ample_besides), operands});
}

std::uint64_t largest_operands(const Plan& plan) {
  std::uint64_t largest = 0;
  for (const std::vector<Step>* steps : {&plan.prepare, &plan.call})
    for (const Step& step : *steps) {
      if (!std::holds_alternative<OpStep>(step)) continue;
      std::uint64_t bytes = 0;
      for (const int buffer : buffers_of(plan, step)) bytes += bytes_of(plan, buffer);
      largest = std::max(largest, bytes);
    }
  return largest;
}

//! A CUDA Graph reads and leaves what lies outside through buffers of its own.
std::uint64_t fixed_for_graph(const Plan& plan) {
  if (!plan.cuda_graph) return 0;
  return std::accumulate(plan.buffers.begin(), plan.buffers.end(), std::uint64_t{0},
                         [](auto sum, const Buffer& buffer) {
                           const bool outside = buffer.role == BufferRole::input || buffer.role == BufferRole::output;
                           return sum + (outside ? static_cast<std::uint64_t>(buffer.meta.span_bytes()) : 0);
                         });
}

}  // namespace

std::uint64_t library_bytes(const Plan& plan, std::uint64_t factor) {
  if (!plan.has_op_steps()) return 0;
  const std::uint64_t besides = factor * besides_for(largest_operands(plan));
  // Places are drawn at random, so pieces do not lie side by side.
  return most_alive(plan) * 5 / 4 + fixed_for_graph(plan) + besides + 2 * roaming_bytes;
}

bool is_short_of_library_memory(const Failure& failure) {
  return failure.status == Status::out_of_memory && failure.message.find(region_is_short) != std::string::npos;
}

}  // namespace cudal1
