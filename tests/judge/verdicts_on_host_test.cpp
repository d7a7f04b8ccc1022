// Verdicts that an honest program on an honest device never gets, provoked by programs and devices that are not: the
// real judge and runner processes, with a device that misbehaves as told.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "host_backend.hpp"
#include "judge/gpu_lock.hpp"
#include "judge/judge.hpp"
#include "judge/nominal_host.hpp"

namespace cudal1 {
namespace {

constexpr const char* addition = R"json({
  "format": "cudal1.graph", "version": 1, "name": "addition",
  "inputs": [{"name": "x", "dtype": "f32", "shape": [4096], "draw": {"kind": "normal", "mean": 0, "std": 1}},
             {"name": "y", "dtype": "f32", "shape": [4096], "draw": {"kind": "normal", "mean": 0, "std": 1}}],
  "nodes": [{"name": "add_1", "op": "aten::add.Tensor", "args": ["x", "y"]}],
  "outputs": ["add_1"]})json";
constexpr double input_bytes = 2 * 4096 * 4;

constexpr const char* honest_program = R"cuda(
//! kernel add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
)cuda";

// The last of 65 columns is so large that an error of one is nothing beside it; the others are judged by themselves.
constexpr const char* padding = R"json({
  "format": "cudal1.graph", "version": 1, "name": "padding",
  "inputs": [{"name": "x", "dtype": "f32", "shape": [64, 64], "draw": {"kind": "normal", "mean": 0, "std": 1}}],
  "nodes": [{"name": "pad_1", "op": "aten::constant_pad_nd", "args": ["x", [0, 1], -1e9]}],
  "outputs": ["pad_1"]})json";

constexpr const char* padding_program = R"cuda(
//! kernel pad replaces pad_1 : grid=64 block=128 args=(x, pad_1)
extern "C" __global__ void pad(const float* x, float* y) {
  int column = threadIdx.x;
  if (column < 65) y[blockIdx.x * 65 + column] = column < 64 ? x[blockIdx.x * 64 + column] : -1e9f;
}
)cuda";

//! Reads scratch memory that nobody wrote; `result` may depend on whether it held a number.
std::string program_that_reads_stale_memory(const std::string& result) {
  return R"cuda(
//! buffer stale f32 [1]
//! kernel add replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, stale, i32:numel(x))
extern "C" __global__ void add(const float* a, const float* b, float* c, const float* stale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_number = stale[0] == stale[0];
  if (i < n) c[i] = )cuda" +
         result + ";\n}\n";
}

class VerdictOnHost : public ::testing::Test {
 protected:
  VerdictOnHost() {
    ::setenv("OMP_NUM_THREADS", "1", 1);
    std::ofstream(scratch_.path() / "graph.json") << addition;
    options_.mode = JudgeMode::fast;
    options_.call_limit_seconds = 10.0;
    options_.longest_measurement_seconds = 20.0;
    options_.seed = 7;
    backend_.set_quirks({.kernels_ms = 1.0, .library_ms = 1.0});
  }

  //! Made at its first use, so that quirks and options are set before.
  TaskJudge& judge() {
    if (!judge_) judge_ = std::make_unique<TaskJudge>(backend_, scratch_.path(), options_);
    return *judge_;
  }

  Evaluation evaluate(const std::string& program) { return judge().evaluate(judge().compile("program", program)); }

  TemporaryFolder scratch_;
  HostBackend backend_;
  JudgeOptions options_;
  std::unique_ptr<TaskJudge> judge_;
};

void expect_status(const Evaluation& evaluation, const std::string& wanted) {
  EXPECT_EQ(to_string(evaluation.status), wanted) << evaluation.failure.message;
}

TEST_F(VerdictOnHost, DoesNotWaitForALockThatItsCallerHolds) {
  const GpuLock lock(backend_.info().uuid);
  const auto guard = lock.alone();  // even this one: whoever took a guard of its own would wait for ever
  options_.caller_shares_gpu = true;
  options_.measure_time = false;
  expect_status(evaluate(honest_program), "ok");
}

TEST_F(VerdictOnHost, NothingIsMeasuredWhileTheCallerSharesTheDevice) {
  options_.caller_shares_gpu = true;
  expect_status(evaluate(honest_program), "judge_error");
}

TEST_F(VerdictOnHost, AnHonestProgramOnAnHonestDeviceIsOk) {
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "ok");
  EXPECT_DOUBLE_EQ(evaluation.reward.value_or(0.0), 1.0);
  EXPECT_EQ(evaluation.deterministic, true);
}

TEST_F(VerdictOnHost, RunsThatDifferInTheLastBitAreNotedAndRefusedOnDemand) {
  const std::string program = program_that_reads_stale_memory(
      "i == 77 && is_number ? __int_as_float(__float_as_int(a[i] + b[i]) ^ 1) : a[i] + b[i]");
  const Evaluation tolerated = evaluate(program);
  expect_status(tolerated, "ok");
  EXPECT_EQ(tolerated.deterministic, false);
  judge_.reset();
  options_.demand_equal_bits = true;
  const Evaluation refused = evaluate(program);
  expect_status(refused, "nondeterministic");
  EXPECT_EQ(refused.deterministic, false);
  EXPECT_FALSE(refused.errors.empty());
}

TEST_F(VerdictOnHost, RunsThatAreEachCloseButNotToEachOtherAreNondeterministic) {
  options_.precision = Precision::paper;  // allows an error of 1e-2 whatever the inputs
  const Evaluation evaluation = evaluate(program_that_reads_stale_memory("a[i] + b[i] + (is_number ? 9e-3f : -9e-3f)"));
  expect_status(evaluation, "nondeterministic");
  EXPECT_FALSE(evaluation.reward);
}

TEST_F(VerdictOnHost, AResultThatIsWrongOnlyInLaterCallsIsWrongWhenTimed) {
  backend_.set_quirks({.kernels_ms = 1.0, .library_ms = 1.0, .last_right_call = 20});  // verification makes about nine
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "wrong_when_timed");
  EXPECT_TRUE(evaluation.failure.message.starts_with("in a timed call: ")) << evaluation.failure.message;
  ASSERT_EQ(evaluation.errors.size(), 1u);
  EXPECT_FALSE(evaluation.errors[0].matches()) << "the accuracy must be that of the call that failed";
  EXPECT_FALSE(evaluation.reward);
}

// Of calls whose results are right only beside the largest number, a search compares some with the oracle at once.
class RightAtAGlance : public VerdictOnHost {
 protected:
  static constexpr int verified_calls = 40;  // no more than that

  RightAtAGlance() {
    std::ofstream(scratch_.path() / "graph.json") << padding;
    options_.bytes_for_input_sets = std::uint64_t{1} << 30;
  }

  HostQuirks wrong_after(int calls) const {
    return {.kernels_ms = 1.0, .library_ms = 1.0, .last_right_call = calls, .wrong_by = 1.0f};
  }

  //! By a judge that is made for it.
  Evaluation evaluated_with_seed(std::uint64_t seed, double best_known = 0.0) {
    options_.seed = seed;
    judge_.reset();
    return judge().evaluate(judge().compile("program", padding_program), best_known);
  }
};

TEST_F(RightAtAGlance, IsOkWhereItIsRight) { expect_status(evaluate(padding_program), "ok"); }

TEST_F(RightAtAGlance, NeverMakesARecordInASearch) {
  backend_.set_quirks(wrong_after(20));
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Evaluation evaluation = evaluated_with_seed(seed);
    expect_status(evaluation, "wrong_when_timed");
    ASSERT_EQ(evaluation.errors.size(), 1u);
    EXPECT_FALSE(evaluation.errors[0].matches());
    EXPECT_FALSE(evaluation.reward);
  }
}

TEST_F(RightAtAGlance, IsFoundInEveryCallThatMakesAFigure) {
  options_.mode = JudgeMode::result;
  HostQuirks quirks = wrong_after(30);
  quirks.wrong_calls = 2;
  backend_.set_quirks(quirks);
  constexpr double far_better = 100.0;  // so that nobody looks later
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    expect_status(evaluated_with_seed(seed, far_better), "wrong_when_timed");
}

TEST_F(RightAtAGlance, IsFoundWhereWhatWasMeasuredIsVerifiedAgain) {
  expect_status(evaluate(padding_program), "ok");
  const CompiledProgram program = judge().compile("program", padding_program);
  Evaluation again;
  int right_calls = 1;  // until all of those that verify are
  do {
    backend_.set_quirks(wrong_after(right_calls));
    again = judge().verify_again(program);
  } while (again.status == Status::wrong_result && ++right_calls < verified_calls);
  expect_status(again, "wrong_when_timed");
  backend_.set_quirks({.kernels_ms = 1.0, .library_ms = 1.0});
  expect_status(judge().verify_again(program), "ok");
}

TEST_F(VerdictOnHost, WorkThatDeviceEventsDoNotSeeIsAClockMismatch) {
  backend_.set_quirks({.kernels_ms = 0.5, .library_ms = 1.0, .unseen_ms = 0.5});
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "clock_mismatch");
  EXPECT_FALSE(evaluation.reward);
  EXPECT_FALSE(evaluation.errors.empty());
}

TEST_F(VerdictOnHost, ResultsAreTakenOverSeveralProcesses) {
  options_.mode = JudgeMode::result;
  backend_.set_quirks({.kernels_ms = 0.5, .library_ms = 1.0});
  for (int program = 0; program < 2; ++program) {
    const Evaluation evaluation = evaluate(honest_program);
    expect_status(evaluation, "ok");
    ASSERT_TRUE(evaluation.timing);
    EXPECT_EQ(evaluation.timing->processes, 4);
    EXPECT_DOUBLE_EQ(evaluation.timing->speedup, 2.0);
  }
}

TEST_F(VerdictOnHost, ThePapersProtocolTakesEveryPairOfItsWindow) {
  options_.protocol = TimingProtocol::paper;
  options_.paper_window_seconds = 0.5;
  backend_.set_quirks({.kernels_ms = 0.5, .library_ms = 1.0, .slow_host_factor = 1.001, .gate_expires = true});
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "ok");
  ASSERT_TRUE(evaluation.timing);
  EXPECT_GE(evaluation.timing->pairs, bucket_count);
  EXPECT_EQ(evaluation.timing->dropped_pairs, 0);  // the device is never held back
}

//! One call of three is enqueued late: where the device waits in time, and where it starts too early.
class SlowHost : public VerdictOnHost, public ::testing::WithParamInterface<bool> {};

TEST_P(SlowHost, DoesNotShowInTheSpeedUp) {
  bool is_reference = true;
  backend_.choose_quirks([&] {
    HostQuirks quirks{.kernels_ms = 0.5, .library_ms = 1.0, .gate_expires = GetParam()};
    quirks.slow_host_factor = std::exchange(is_reference, false) ? 3.0 : 1.0;
    return quirks;
  });
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "ok");
  ASSERT_TRUE(evaluation.timing);
  EXPECT_DOUBLE_EQ(evaluation.timing->low, 2.0);
  EXPECT_DOUBLE_EQ(evaluation.timing->high, 2.0);
  EXPECT_EQ(evaluation.timing->dropped_pairs > 0, GetParam());
}

INSTANTIATE_TEST_SUITE_P(WhereTheDeviceWaitsAndNot, SlowHost, ::testing::Bool());

//! Held back, the candidate alone would look twice as fast as it is.
TEST_F(VerdictOnHost, WhereOneCannotBeHeldBackNeitherIs) {
  backend_.set_quirks({.kernels_ms = 0.5, .library_ms = 1.0, .cannot_be_held = true});
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "ok");
  ASSERT_TRUE(evaluation.timing);
  EXPECT_FALSE(evaluation.timing->device_held);
  EXPECT_DOUBLE_EQ(evaluation.timing->reference_ms, 2.0);
  EXPECT_DOUBLE_EQ(evaluation.timing->low, 2.0);
  EXPECT_DOUBLE_EQ(evaluation.timing->high, 2.0);
  EXPECT_GE(evaluation.timing->pairs, 21);
}

TEST_F(VerdictOnHost, ALaunchBoundCallCostsWhatTheNominalHostTakes) {
  const NominalHost host;
  backend_.set_quirks({.kernels_ms = 0.001, .library_ms = 0.001});
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "ok");
  ASSERT_TRUE(evaluation.timing);
  EXPECT_TRUE(evaluation.timing->reference_is_launch_bound());
  EXPECT_TRUE(evaluation.timing->candidate_is_launch_bound());
  EXPECT_TRUE(evaluation.timing->device_held);
  EXPECT_DOUBLE_EQ(evaluation.timing->reference_ms, host.op_ms);
  EXPECT_DOUBLE_EQ(evaluation.timing->candidate_ms, host.launch_ms);
  EXPECT_DOUBLE_EQ(evaluation.timing->speedup, host.op_ms / host.launch_ms);
}

TEST_F(VerdictOnHost, AShortCutOnTheUsualInputsDoesNotCount) {
  options_.mode = JudgeMode::result;
  backend_.set_quirks({.kernels_ms = 0.25, .library_ms = 1.0, .unusual_factor = 4.0});
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "ok");
  ASSERT_TRUE(evaluation.timing);
  EXPECT_DOUBLE_EQ(evaluation.timing->speedup, 1.0);
}

//! Few pairs are enough there: those on other inputs show, or the timing does not settle.
TEST_F(VerdictOnHost, AShortCutOnTheUsualInputsEarnsNothingInFastModeEither) {
  backend_.set_quirks({.kernels_ms = 0.25, .library_ms = 1.0, .unusual_factor = 4.0});
  EXPECT_LE(evaluate(honest_program).reward.value_or(1.0), 1.0);
}

TEST_F(VerdictOnHost, ASpeedThatJumpsIsUnstable) {
  backend_.set_quirks({.kernels_ms = 1.0, .library_ms = 1.0, .calls_per_phase = 15});
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "unstable");
  EXPECT_FALSE(evaluation.reward);
  ASSERT_TRUE(evaluation.timing);
  EXPECT_GT(evaluation.timing->bucket_variance, 0.005);
}

TEST_F(VerdictOnHost, ASpeedUpThatAFreshProcessDoesNotConfirmIsUnstable) {
  double kernels_ms = 0.05;
  backend_.choose_quirks([&] {
    kernels_ms *= 2.0;  // each process slower than the one before
    return HostQuirks{.kernels_ms = kernels_ms, .library_ms = 10.0};
  });
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "unstable");
  EXPECT_EQ(evaluation.fresh_process_checks, 1);
  EXPECT_FALSE(evaluation.reward);
}

TEST_F(VerdictOnHost, WhereOnlyRecordsAreConfirmedOthersAreMeasuredOnce) {
  options_.confirm_only_records = true;
  backend_.set_quirks({.kernels_ms = 0.25, .library_ms = 2.0});
  const CompiledProgram program = judge().compile("program", honest_program);
  EXPECT_EQ(judge().evaluate(program, 2.0).fresh_process_checks, 1) << "better than the best so far";
  EXPECT_EQ(judge().evaluate(program, 50.0).fresh_process_checks, 0) << "far from the best so far";
}

//! Each further process is four times slower than the one before, until so many have been started. A process asks
//! twice.
ChooseQuirks slowing_down(int processes) {
  return [processes, asked = 0]() mutable {
    const int started = std::min(asked++ / 2, processes - 1);
    return HostQuirks{.kernels_ms = 0.0125 * (1 << 2 * started), .library_ms = 2.0};
  };
}

TEST_F(VerdictOnHost, ASearchTakesTheLowestOfWhatProcessesMeasureOnceTwoAgree) {
  options_.confirm_only_records = true;
  backend_.choose_quirks(slowing_down(3));  // the first is the reference's
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "ok");
  EXPECT_EQ(evaluation.fresh_process_checks, 2);
  EXPECT_NEAR(evaluation.timing->speedup, 10.0, 0.5) << "the first said 40";
}

TEST_F(VerdictOnHost, WhereNoTwoProcessesAgreeASearchKnowsTheLowestAndGivesNoReward) {
  options_.confirm_only_records = true;
  backend_.choose_quirks(slowing_down(10));
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "unstable");
  EXPECT_FALSE(evaluation.reward);
  EXPECT_NEAR(evaluation.timing->speedup, 2.5, 0.2) << "after 40 and 10";
}

TEST_F(VerdictOnHost, OutsideASearchOneContradictionIsEnough) {
  backend_.choose_quirks(slowing_down(3));
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "unstable");
  EXPECT_EQ(evaluation.fresh_process_checks, 1);
}

// Input sets that there is no room for are drawn for each program anew, so most programs see few of them.
class WithoutRoomForSets : public VerdictOnHost {
 protected:
  //! Wrong where inputs are large, which is on derived inputs alone.
  static std::string wrong_on_large_inputs() {
    return program_that_reads_stale_memory("a[i] > 50.0f || a[i] < -50.0f ? 0.0f : a[i] + b[i]");
  }

  //! By a judge that has judged another program before.
  Evaluation second_evaluation(std::uint64_t seed, const std::string& program, double best_known) {
    options_.bytes_for_input_sets = 1;
    options_.seed = seed;
    judge_.reset();
    expect_status(evaluate(honest_program), "ok");
    return judge().evaluate(judge().compile("program", program), best_known);
  }
};

TEST_F(WithoutRoomForSets, OfTheFastestAllAreSeen) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    expect_status(second_evaluation(seed, wrong_on_large_inputs(), 0.0), "wrong_result");
}

TEST_F(WithoutRoomForSets, OthersSeeAFew) {
  constexpr double far_better = 100.0;
  int passed = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    passed += second_evaluation(seed, wrong_on_large_inputs(), far_better).status == Status::ok ? 1 : 0;
  EXPECT_GT(passed, 0);
  expect_status(second_evaluation(1, program_that_reads_stale_memory("a[i] - b[i]"), far_better), "wrong_result");
}

TEST_F(VerdictOnHost, WhatIsVerifiedAgainHasAProcessAndInputsOfItsOwnAndIsNotMeasured) {
  options_.bytes_for_input_sets = std::uint64_t{1} << 30;
  int processes = 0;
  backend_.choose_quirks([&] {
    ++processes;
    return HostQuirks{.kernels_ms = 0.5, .library_ms = 0.5};
  });
  const Evaluation first = evaluate(honest_program);
  const int before = processes;
  const Evaluation again = judge().verify_again(judge().compile("program", honest_program));
  expect_status(again, "ok");
  EXPECT_EQ(processes, before + before / 2) << "until then the reference and a candidate had one each";
  EXPECT_FALSE(again.timing);
  EXPECT_EQ(again.mode, "result");
  ASSERT_FALSE(first.errors.empty());
  EXPECT_NE(again.errors[0].rms_error, first.errors[0].rms_error) << "the same inputs would have the same rounding";
  const Evaluation later = evaluate(honest_program);
  EXPECT_EQ(later.mode, "fast");
  EXPECT_TRUE(later.timing) << "and what comes later is judged as before";
}

// At this bandwidth reading the inputs takes 4 ms.
constexpr double slow_memory = input_bytes / 4e-3;

TEST_F(VerdictOnHost, ATimeBelowTheFloorThatAFreshProcessDoesNotConfirmIsFasterThanPossible) {
  double kernels_ms = 0.5;
  backend_.set_peak_bytes_per_second(slow_memory);
  backend_.choose_quirks([&] {
    kernels_ms *= 1.2;
    return HostQuirks{.kernels_ms = kernels_ms, .library_ms = 1.0};
  });
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "faster_than_possible");
  EXPECT_FALSE(evaluation.reward);
  EXPECT_TRUE(evaluation.timing);
}

TEST_F(VerdictOnHost, ATimeBelowTheFloorCountsWhenAFreshProcessConfirmsItAndOutputsFollowTheInputs) {
  backend_.set_peak_bytes_per_second(slow_memory);
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "ok");
  EXPECT_EQ(evaluation.fresh_process_checks, 1);
}

TEST_F(VerdictOnHost, ATimeAboveTheFloorIsNotQuestioned) {
  backend_.set_peak_bytes_per_second(10.0 * slow_memory);
  backend_.set_quirks({.kernels_ms = 8.0, .library_ms = 8.0});
  const Evaluation evaluation = evaluate(honest_program);
  expect_status(evaluation, "ok");
  EXPECT_EQ(evaluation.fresh_process_checks, 0);
}

std::vector<pid_t> children_of_this_process() {
  std::ifstream list(fmt::format("/proc/self/task/{}/children", ::getpid()));
  return {std::istream_iterator<pid_t>(list), {}};
}

TEST_F(VerdictOnHost, AReferenceThatDiedBetweenProgramsIsStartedAgain) {
  judge();
  const std::vector<pid_t> runners = children_of_this_process();  // the reference's only: nothing was evaluated yet
  if (runners.empty()) GTEST_SKIP() << "this kernel does not list children in /proc";
  for (const pid_t runner : runners) ::kill(-runner, SIGKILL);  // the group: bubblewrap and what runs inside
  expect_status(evaluate(honest_program), "ok");
}

TEST_F(VerdictOnHost, AReferenceThatDiesWhileItIsTimedCostsOneProgramItsVerdict) {
  bool is_first_runner = true;
  backend_.choose_quirks([&] {
    HostQuirks quirks{.kernels_ms = 1.0, .library_ms = 1.0};
    quirks.last_library_call = std::exchange(is_first_runner, false) ? 20 : 0;
    return quirks;
  });
  expect_status(evaluate(honest_program), "judge_error");
  for (int program = 0; program < 3; ++program) expect_status(evaluate(honest_program), "ok");
}

}  // namespace
}  // namespace cudal1
