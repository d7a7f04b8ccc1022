#include "rows.hpp"

#include <algorithm>
#include <map>

namespace cudal1::bench {
namespace {

constexpr int repetitions = 20;

//! The slowest of them, with all in the details.
nlohmann::json speed_row(Workload& workload, const std::string& what, const std::vector<Case>& cases) {
  constexpr double bar_ns = 10;
  nlohmann::json details;
  double slowest = 0;
  for (const Case& one : cases) {
    const double ns = workload.best_of(repetitions, one).ns_per_instruction();
    details[one.kernel] = ns;
    slowest = std::max(slowest, ns);
  }
  return row(what, slowest, "ns", "at most 10 ns", slowest <= bar_ns, details);
}

double median_of(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

//! Each check alone, and all together, against none: the median of rounds in which they follow each other, since a core
//! that others use too is now faster and now slower.
nlohmann::json check_costs(Workload& workload, const Case& one) {
  constexpr int rounds = 21;
  const std::vector<std::pair<const char*, vgpu::CheckOptions>> choices{{"shared-races", {true, false, false}},
                                                                        {"global-races", {false, true, false}},
                                                                        {"uninitialised", {false, false, true}},
                                                                        {"all", {true, true, true}}};
  std::map<std::string, std::vector<double>> ratios;
  for (int i = 0; i < rounds; ++i) {
    const double without = workload.run(one).cpu_seconds;
    for (const auto& [name, checks] : choices)
      ratios[name].push_back(workload.run(one, {.checks = checks}).cpu_seconds / without);
  }
  nlohmann::json costs;
  for (const auto& [name, values] : ratios) costs[name] = median_of(values);
  return costs;
}

}  // namespace

void speed_rows(Workload& workload, nlohmann::json& rows) {
  rows.push_back(
      speed_row(workload, "a warp instruction, counters on, one core: slowest tiled GEMM", tiled_products()));
  rows.push_back(speed_row(workload, "a warp instruction, counters on, one core: slowest reduction", reductions()));
}

void product_rows(Workload& workload, nlohmann::json& rows) {
  constexpr double bar_full_s = 8, bar_sampled_s = 1;
  nlohmann::json full_details, sampled_details;
  double full = 0, sampled = 0;
  for (const Case& one : large_products()) {
    const double full_s = workload.best_of(2, one, {.threads = 2}).seconds;
    const double sampled_s = workload.best_of(2, one, {.threads = 2, .sample = 8}).seconds;
    full_details[one.kernel] = full_s;
    sampled_details[one.kernel] = sampled_s;
    full = std::max(full, full_s);
    sampled = std::max(sampled, sampled_s);
  }
  rows.push_back(row("1024x1024x1024 fp32 product, all blocks, two threads: slowest of three kernels", full, "s",
                     "at most 8 s", full <= bar_full_s, full_details));
  rows.push_back(row("1024x1024x1024 fp32 product, 8 blocks sampled: slowest of three kernels", sampled, "s",
                     "under 1 s", sampled < bar_sampled_s, sampled_details));
}

void checks_row(Workload& workload, nlohmann::json& rows) {
  constexpr double bar = 3;
  nlohmann::json details;
  double most = 0;
  for (const Case& one : all_cases()) {
    details[one.kernel] = check_costs(workload, one);
    most = std::max(most, details[one.kernel]["all"].get<double>());
  }
  rows.push_back(row("time with all checks against none, most of all kernels", most, "times", "less than 3 times",
                     most < bar, details));
}

}  // namespace cudal1::bench
