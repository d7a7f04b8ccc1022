// The parser against arbitrary bytes: libFuzzer drives it with -DCUDAL1_BUILD_FUZZERS=ON, program_fuzz_smoke.cpp in
// the ordinary tests.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "program/plan.hpp"
#include "program/plan_hash.hpp"
#include "sample_graphs.hpp"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "invariant broken: %s\n", what);
  std::abort();
}

void check_failure(const cudal1::Failure& failure) {
  using cudal1::Status;
  require(!failure.message.empty(), "a failure says why");
  require(failure.message.find('\n') == std::string::npos, "a message is one line");
  require(failure.at.line >= 1 && failure.at.column >= 1, "a failure has its place");
  require(failure.status == Status::parse_error || failure.status == Status::plan_error ||
              failure.status == Status::launch_error || failure.status == Status::unsupported ||
              failure.status == Status::out_of_memory,
          "the status is one of a program's faults");
  nlohmann::json(failure.message).dump();  // throws on broken UTF-8
}

void check_plan(const cudal1::Plan& plan) {
  const nlohmann::json json = cudal1::plan_to_json(plan);
  const cudal1::Plan again = cudal1::plan_from_json(nlohmann::json::parse(json.dump()));
  require(cudal1::plan_to_json(again) == json, "a plan survives JSON");
  require(cudal1::plan_hash(again) == plan.hash, "the hash survives JSON");
  require(plan.has_launches() == !plan.code.empty(), "code goes with launches");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const cudal1::OpGraph graphs[] = {cudal1::sample::chain(), cudal1::sample::views(),
                                           cudal1::sample::with_state(), cudal1::sample::several_outputs()};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const cudal1::OpGraph& graph = graphs[size % 4];
  const cudal1::Result<cudal1::Plan> result = cudal1::make_plan(graph, text);
  if (result.ok())
    check_plan(result.value());
  else
    check_failure(result.failure());
  return 0;
}
