// Jobs that wait for room: the first that may begin does, but none is passed for ever.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <optional>
#include <utility>

namespace cudal1 {

//! Not thread-safe.
template <class Job>
class PassingQueue {
 public:
  //! So often others may go before one that was there first; then they wait for it.
  static constexpr int most_passed = 8;

  //! Before all of lower priority, behind all others.
  void add(Job job, int priority = 0) {
    const auto place = std::ranges::find_if(waiting_, [&](const Waiting& other) { return other.priority < priority; });
    waiting_.insert(place, {std::move(job), priority, 0});
  }

  //! The first for which `may_begin(job)` holds. It is asked in order, and for none behind the one that it takes.
  template <class MayBegin>
  std::optional<Job> take(const MayBegin& may_begin) {
    const auto place = first_that(may_begin);
    if (place == waiting_.end()) return std::nullopt;
    for (auto other = waiting_.begin(); other != place; ++other) ++other->passed;
    return take_from(place);
  }

  bool empty() const { return waiting_.empty(); }
  void clear() { waiting_.clear(); }

 private:
  struct Waiting {
    Job job;
    int priority = 0;
    int passed = 0;
  };

  using Place = typename std::list<Waiting>::iterator;

  template <class MayBegin>
  Place first_that(const MayBegin& may_begin) {
    for (Place place = waiting_.begin(); place != waiting_.end(); ++place) {
      if (may_begin(std::as_const(place->job))) return place;
      if (place->passed >= most_passed) break;
    }
    return waiting_.end();
  }

  std::optional<Job> take_from(Place place) {
    std::optional<Job> job(std::move(place->job));
    waiting_.erase(place);
    return job;
  }

  std::list<Waiting> waiting_;
};

}  // namespace cudal1
