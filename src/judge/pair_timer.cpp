#include "judge/pair_timer.hpp"

#include "base/value_or_throw.hpp"

namespace cudal1 {
namespace {

// Of four pairs one, nobody knows which, is on a derived distribution: a program that recognises the usual inputs must
// not look fast on them alone.
constexpr std::uint64_t derived_share = 4;
// After one call in so many the memory is looked at.
constexpr std::uint64_t memory_looks = 4;
constexpr std::chrono::milliseconds reference_limit{60000};

}  // namespace

PairTimer::PairTimer(TaskContext& context, PlanSession& candidate, const Verification& verified,
                     const MeasurementOptions& options, Random& random)
    : context_(context), candidate_(candidate), verified_(verified), options_(options), random_(random) {}

void PairTimer::hold_device(bool hold) {
  context_.reference().hold_device(hold);
  candidate_.hold_device(hold);
}

std::optional<Failure> PairTimer::use_processes(int reference, int candidate) {
  context_.set_reference_constants(verified_.constants, reference);
  candidate_.use_process(candidate);
  const auto placed = candidate_.set_constants(verified_.constants, options_.call_limit);
  if (!placed) return placed.failure();
  return std::nullopt;
}

std::optional<Failure> PairTimer::time_pair(PairTimes& times) { return time_pair_on(choose_distribution(), times); }

std::optional<Failure> PairTimer::time_pair_on(Distribution distribution, PairTimes& times) {
  times.on_derived_inputs = distribution != Distribution::native;
  const TensorTable leaves = context_.with_inputs(verified_.constants, distribution, random_.next());
  const bool reference_first = (random_.next() & 1) != 0;
  if (reference_first) times.reference = time_reference(leaves);
  const auto candidate = candidate_.call(leaves, Poison::not_a_number, options_.call_limit, true);
  if (!candidate) return candidate.failure();
  times.candidate = candidate.value();
  if (!reference_first) times.reference = time_reference(leaves);
  return check_outputs(leaves, distribution);
}

Distribution PairTimer::choose_distribution() {
  if (place_ == 0) derived_place_ = random_.below(derived_share);
  const bool derived = place_ == derived_place_;
  place_ = (place_ + 1) % derived_share;
  const auto& all = context_.distributions();
  if (all.size() < 2 || !derived) return Distribution::native;
  return all[1 + random_.below(all.size() - 1)];
}

CallTimes PairTimer::time_reference(const TensorTable& leaves) {
  return value_or_throw(context_.reference().call(leaves, Poison::not_a_number, reference_limit, true),
                        context_.task().name + ": the reference failed");
}

//! A sufficient test: the reference has just computed the same inputs in its own process.
bool PairTimer::looks_right(Distribution distribution) const {
  const auto budgets = verified_.budgets.find(distribution);
  if (budgets == verified_.budgets.end()) return false;
  const auto expected = results_in(context_, context_.reference()), given = results_in(context_, candidate_);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!surely_close(given[i], expected[i], budgets->second[i])) return false;
  return true;
}

// What does not look right at once, and some calls at random, are compared with the oracle like any other.
std::optional<Failure> PairTimer::check_outputs(const TensorTable& leaves, Distribution distribution) {
  if (random_.below(options_.oracle_looks) == 0 || !looks_right(distribution)) {
    const auto timing = context_.spent().time("oracle");
    Verification closer_look;
    const Expected exact = context_.rule().expect(leaves, distribution, random_.next());
    if (auto failure = check_results(context_, candidate_, exact, distribution, closer_look)) {
      failure->status = Status::wrong_when_timed;
      failure->message = "in a timed call: " + failure->message;
      errors_ = closer_look.worst;
      return failure;
    }
  }
  // A call cannot know whether it is looked at, so a look at some is enough; outputs are compared in every one.
  const bool constants_too = (random_.next() & 1) != 0;
  return random_.below(memory_looks) == 0 ? candidate_.find_violation(constants_too) : std::nullopt;
}

}  // namespace cudal1
