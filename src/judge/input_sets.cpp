#include "judge/input_sets.hpp"

#include <algorithm>
#include <utility>

#include "judge/task_context.hpp"

namespace cudal1 {
namespace {

std::uint64_t bytes_of(const std::vector<at::Tensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += tensor.defined() ? tensor.nbytes() : 0;
  return bytes;
}

}  // namespace

bool InputSetStore::serves_again() {
  if (left_ > 0 && !distributions_.empty()) {
    --left_;
    return true;
  }
  sets_.clear();
  bytes_ = 0;
  lacks_room_ = false;
  return false;
}

void InputSetStore::begin_with(std::vector<Distribution> distributions) {
  distributions_ = std::move(distributions);
  left_ = verifications_ - 1;
}

std::shared_ptr<const InputSet> InputSetStore::find(std::size_t index) const {
  return index < sets_.size() ? sets_[index] : nullptr;
}

void InputSetStore::offer(std::size_t index, std::shared_ptr<const InputSet> set, std::uint64_t bytes) {
  if (verifications_ < 2 || index != sets_.size()) return;
  lacks_room_ = bytes_ + bytes > most_bytes_;
  if (lacks_room_) return;
  bytes_ += bytes;
  sets_.push_back(std::move(set));
}

std::vector<Distribution> choose_sets(const std::vector<Distribution>& distributions, int native_sets, Random& random) {
  std::vector<Distribution> sets(static_cast<std::size_t>(native_sets), Distribution::native);
  sets.insert(sets.end(), distributions.begin() + 1, distributions.end());
  const auto native = static_cast<std::size_t>(native_sets);
  for (std::size_t i = sets.size(); i > native + 1; --i)
    std::swap(sets[i - 1], sets[native + random.below(i - native)]);
  return sets;
}

InputSets::InputSets(TaskContext& context, int native_sets, Random& random)
    : context_(context), store_(context.input_sets()), random_(random.fork()) {
  if (!store_.serves_again()) store_.begin_with(choose_sets(context.distributions(), native_sets, random));
  if (!store_.find(0)) begin({});
}

bool InputSets::has_new_weights(std::size_t index) const {
  return index == 0 || (index == 1 && context_.has_weights());
}

std::shared_ptr<const InputSet> InputSets::next() {
  std::shared_ptr<const InputSet> set = store_.find(next_);
  if (!set) {
    set = pending_.get();
    store_.offer(next_, set, bytes_of(*set, next_));
  }
  if (++next_ < count() && !store_.find(next_)) begin(set->constants);
  return set;
}

void InputSets::begin(const TensorTable& constants) {
  const auto make = [this, index = next_, kept = constants]() mutable {
    if (has_new_weights(index)) kept = context_.draw_constants(random_.next(), index == 1);
    auto set = std::make_shared<InputSet>();
    set->distribution = store_.distributions()[index];
    set->leaves = context_.with_inputs(kept, set->distribution, random_.next());
    set->constants = std::move(kept);
    set->expected = context_.rule().expect(set->leaves, set->distribution, random_.next());
    return std::shared_ptr<const InputSet>(std::move(set));
  };
  pending_ = std::async(context_.works_ahead() ? std::launch::async : std::launch::deferred, make);
}

//! Budgets know single elements and parts: half as much again as the results, at most.
std::uint64_t InputSets::bytes_of(const InputSet& set, std::size_t index) const {
  std::uint64_t bytes = (cudal1::bytes_of(set.expected.oracle) + cudal1::bytes_of(set.expected.reference)) / 2 * 3;
  for (const ValueId id : context_.task().graph.inputs) bytes += set.leaves[static_cast<std::size_t>(id)].nbytes();
  if (has_new_weights(index)) bytes += cudal1::bytes_of(set.constants);
  return bytes;
}

}  // namespace cudal1
