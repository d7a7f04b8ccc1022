#include "base/status.hpp"

#include <array>
#include <utility>

namespace cudal1 {
namespace {

constexpr std::array<std::pair<Status, std::string_view>, 22> names{{
    {Status::ok, "ok"},
    {Status::parse_error, "parse_error"},
    {Status::plan_error, "plan_error"},
    {Status::compile_error, "compile_error"},
    {Status::compile_timeout, "compile_timeout"},
    {Status::forbidden, "forbidden"},
    {Status::launch_error, "launch_error"},
    {Status::out_of_memory, "out_of_memory"},
    {Status::illegal_access, "illegal_access"},
    {Status::timeout, "timeout"},
    {Status::crashed, "crashed"},
    {Status::wrong_result, "wrong_result"},
    {Status::out_of_bounds, "out_of_bounds"},
    {Status::modified_input, "modified_input"},
    {Status::nondeterministic, "nondeterministic"},
    {Status::wrong_when_timed, "wrong_when_timed"},
    {Status::clock_mismatch, "clock_mismatch"},
    {Status::faster_than_possible, "faster_than_possible"},
    {Status::unstable, "unstable"},
    {Status::unsafe, "unsafe"},
    {Status::unsupported, "unsupported"},
    {Status::judge_error, "judge_error"},
}};

}  // namespace

std::string_view to_string(Status status) {
  for (const auto& [value, name] : names)
    if (value == status) return name;
  return "judge_error";
}

std::optional<Status> status_from_string(std::string_view text) {
  for (const auto& [value, name] : names)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace cudal1
