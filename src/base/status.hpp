// What became of a program: the one list of verdicts. docs/evaluator.md says which fields of an
// Evaluation each of them fills.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudal1 {

enum class Status {
  ok,                    //!< verified and timed
  parse_error,           //!< the text is not a program: unknown directive, bad expression, binary garbage
  plan_error,            //!< a directive does not fit the task: unknown node, non-convex group, wrong arguments
  compile_error,         //!< the compiler refused the source
  compile_timeout,       //!< the compiler ran past its time or memory limit, or crashed
  forbidden,             //!< uses what no program may: a device global, device malloc, a header that is not offered
  launch_error,          //!< the device refused a launch: grid, block, cluster or shared memory beyond its limits
  out_of_memory,         //!< buffers of the program do not fit the device
  illegal_access,        //!< the device reported a fault: illegal address, misaligned access, trap
  timeout,               //!< a call ran past its limit and was killed
  crashed,               //!< the runner process died for another reason
  wrong_result,          //!< an output does not match on some input set
  out_of_bounds,         //!< memory outside every tensor was written
  modified_input,        //!< an input, a weight or a prepared buffer was changed
  nondeterministic,      //!< two runs on the same inputs differ by more than the budget (or at all, if asked)
  wrong_when_timed,      //!< correct when verified, wrong in a timed call
  clock_mismatch,        //!< device events and the host clock tell different stories
  faster_than_possible,  //!< below the physical floor, and not confirmed by a fresh process and a dependence test
  unstable,              //!< correct, but the timing did not settle; no reward
  unsafe,       //!< right results, but a device that sees every access saw a race or a read of unwritten memory
  unsupported,  //!< the device or this version cannot run it; says what is missing
  judge_error,  //!< our own failure (disk full, reference does not run); never the program's fault
};

std::string_view to_string(Status status);
std::optional<Status> status_from_string(std::string_view name);

//! Correct results with or without a usable time.
inline bool is_correct(Status status) { return status == Status::ok || status == Status::unstable; }

}  // namespace cudal1
