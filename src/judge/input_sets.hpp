// What programs are verified on, and what must come out of them.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "graph/inputs.hpp"
#include "judge/match.hpp"

namespace cudal1 {

class TaskContext;

struct InputSet {
  Distribution distribution = Distribution::native;
  TensorTable constants, leaves;
  Expected expected;
};

//! Sets of one verification that serve later ones as well: what must come out takes far longer to compute than a
//! program does, and programs cannot tell each other what they saw. As many of the first ones as there is room for.
class InputSetStore {
 public:
  //! Every set serves so many verifications, then new ones are drawn.
  explicit InputSetStore(int verifications = 1, std::uint64_t most_bytes = 0)
      : verifications_(verifications), most_bytes_(most_bytes) {}

  //! Whether the sets in store serve a further verification, which begins now. If not, there are none any more, and
  //! `distributions` are those of the new ones.
  bool serves_again();
  void begin_with(std::vector<Distribution> distributions);
  const std::vector<Distribution>& distributions() const { return distributions_; }

  //! Null: it is to be made.
  std::shared_ptr<const InputSet> find(std::size_t index) const;
  //! The next one after those in store, `bytes` of memory large; kept if there is room.
  void offer(std::size_t index, std::shared_ptr<const InputSet> set, std::uint64_t bytes);
  //! Sets that were to be kept had no room: what is not in store is made anew for each verification.
  bool lacks_room() const { return lacks_room_; }
  std::size_t kept() const { return sets_.size(); }

 private:
  int verifications_, left_ = 0;
  bool lacks_room_ = false;
  std::uint64_t most_bytes_, bytes_ = 0;
  std::vector<Distribution> distributions_;
  std::vector<std::shared_ptr<const InputSet>> sets_;
};

//! The native sets, then every derived distribution (`distributions` has native first) in random order.
std::vector<Distribution> choose_sets(const std::vector<Distribution>& distributions, int native_sets, Random& random);

//! The sets of one verification, one after the other, from the context's store as far as they are there. Where the
//! context says so, each is made by another thread while the runner has the one before.
class InputSets {
 public:
  InputSets(TaskContext& context, int native_sets, Random& random);

  std::size_t count() const { return store_.distributions().size(); }
  //! The second set comes with new weights: whatever was computed from the old ones must be computed again.
  bool has_new_weights(std::size_t index) const;
  std::shared_ptr<const InputSet> next();

 private:
  void begin(const TensorTable& constants);
  std::uint64_t bytes_of(const InputSet& set, std::size_t index) const;

  const TaskContext& context_;
  InputSetStore& store_;
  Random random_;
  std::size_t next_ = 0;
  std::future<std::shared_ptr<const InputSet>> pending_;  // last: it uses the others, and waits when it is destroyed
};

}  // namespace cudal1
