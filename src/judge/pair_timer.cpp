#include "judge/pair_timer.hpp"

#include <algorithm>

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
  const TensorTable leaves = [&] {
    const auto timing = context_.spent().time("draw");
    return context_.with_inputs(verified_.constants, distribution, random_.next());
  }();
  const bool reference_first = (random_.next() & 1) != 0;
  if (reference_first) times.reference = time_reference(leaves);
  const auto candidate = candidate_.call(leaves, Poison::not_a_number, options_.call_limit, true);
  if (!candidate) return candidate.failure();
  times.candidate = candidate.value();
  if (!reference_first) times.reference = time_reference(leaves);
  return check_outputs(leaves, distribution);
}

//! Of those that the program was verified on; native comes first among them.
Distribution PairTimer::choose_distribution() {
  if (place_ == 0) derived_place_ = random_.below(derived_share);
  const bool derived = place_ == derived_place_;
  place_ = (place_ + 1) % derived_share;
  const auto& seen = verified_.budgets;
  if (seen.size() < 2 || !derived) return Distribution::native;
  return std::next(seen.begin(), static_cast<std::ptrdiff_t>(1 + random_.below(seen.size() - 1)))->first;
}

CallTimes PairTimer::time_reference(const TensorTable& leaves) {
  return value_or_throw(context_.reference().call(leaves, Poison::not_a_number, reference_limit, true),
                        context_.task().name + ": the reference failed");
}

Closeness PairTimer::closeness_to_reference(Distribution distribution) const {
  const auto budgets = verified_.budgets.find(distribution);
  if (budgets == verified_.budgets.end()) return Closeness::no;
  const auto expected = results_in(context_, context_.reference()), given = results_in(context_, candidate_);
  Closeness least = Closeness::surely;
  for (std::size_t i = 0; i < given.size() && least != Closeness::no; ++i)
    least = std::max(least, closeness(given[i], expected[i], budgets->second[i]));
  return least;
}

PairTimer::Look PairTimer::look_at(Distribution distribution) {
  if (random_.below(options_.oracle_looks) == 0) return Look::with_oracle;
  switch (closeness_to_reference(distribution)) {
    case Closeness::surely:
      return Look::none;
    case Closeness::on_the_whole:
      return options_.closer_looks <= 1 || random_.below(options_.closer_looks) == 0 ? Look::with_oracle : Look::later;
    default:
      return Look::with_oracle;
  }
}

void PairTimer::keep_for_later(const TensorTable& leaves, Distribution distribution) {
  if (random_.below(++left_out_) != 0) return;
  unseen_ = TimedCall{leaves, distribution, {}};
  for (const at::Tensor& result : results_in(context_, candidate_)) unseen_->results.push_back(result.clone());
}

// What does not look right at once, and some calls at random, are compared with the oracle like any other.
std::optional<Failure> PairTimer::check_outputs(const TensorTable& leaves, Distribution distribution) {
  const auto timing = context_.spent().time("look");
  const Look look = look_at(distribution);
  if (look == Look::later) keep_for_later(leaves, distribution);
  if (look == Look::with_oracle) {
    const TimedCall call{leaves, distribution, results_in(context_, candidate_)};
    if (auto failure = check_timed_call(context_, call, random_, errors_)) return failure;
  }
  // A call cannot know whether it is looked at, so a look at some is enough; outputs are compared in every one.
  const bool constants_too = (random_.next() & 1) != 0;
  return random_.below(memory_looks) == 0 ? candidate_.find_violation(constants_too) : std::nullopt;
}

std::optional<Failure> check_timed_call(TaskContext& context, const TimedCall& call, Random& random,
                                        std::vector<OutputError>& errors) {
  const auto timing = context.spent().time("oracle");
  const Expected exact = context.rule().expect(call.leaves, call.distribution, random.next());
  Verification closer_look;
  auto failure = check_results(context.rule(), call.results, exact, call.distribution, closer_look);
  if (!failure) return std::nullopt;
  failure->status = Status::wrong_when_timed;
  failure->message = "in a timed call: " + failure->message;
  errors = closer_look.worst;
  return failure;
}

}  // namespace cudal1
