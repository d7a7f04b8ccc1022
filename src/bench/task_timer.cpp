#include "bench/task_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "judge/timing_statistics.hpp"
#include "report/speedups.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int untimed_rounds = 3;  // memory is taken, graphs are recorded, clocks rise
constexpr int fewest_rounds = bucket_count;

//! The first of the ways, whenever it is made.
void make_program(PreparedWorker& prepared, const std::filesystem::path& package) {
  if (package.empty()) return;
  const double seconds = prepared.worker->make_program(package);
  prepared.ways.insert(prepared.ways.begin(), {program_way, {}, 0.0, seconds, {}});
}

//! A baseline that cannot be made is a remark; memory that is short is not its fault, and worth another try.
void make_baseline(PreparedWorker& prepared, const std::string& baseline) {
  WayTimes way{baseline, {}, 0.0, 0.0, {}};
  try {
    way.make_seconds = prepared.worker->make(baseline);
  } catch (const Error& problem) {
    if (baseline == "eager" || says_short_of_memory(problem.what()) || !prepared.worker->is_running()) throw;
    way.why_not = problem.what();
  }
  prepared.ways.push_back(std::move(way));
}

// The judge has looked at every digit of a program; this is about a package that is wired wrongly, or a compiler that
// went wrong. Convolutions in TF32 are off by a thousandth, and networks enlarge that.
constexpr double most_unlike = 0.05;
// What eager makes of rounding others may make of it, too.
constexpr double most_beside_own_error = 3.0;

//! What computes something else than eager is no way to run the module.
void leave_out_wrong_ways(PreparedWorker& prepared) {
  for (WayTimes& way : prepared.ways) {
    if (way.way == "eager" || !way.why_not.empty()) continue;
    try {
      const auto [error, scale, own_error] = prepared.worker->compare(way.way);
      if (error > std::max(most_unlike * scale, most_beside_own_error * own_error))
        throw Error(
            fmt::format("its results are not eager's: off by {:.3g} where numbers are up to {:.3g}", error, scale));
    } catch (const Error& problem) {
      if (way.way == program_way || says_short_of_memory(problem.what()) || !prepared.worker->is_running()) throw;
      way.why_not = problem.what();
    }
  }
}

std::vector<std::string> runnable(const PreparedWorker& prepared) {
  std::vector<std::string> names;
  for (const WayTimes& way : prepared.ways)
    if (way.why_not.empty()) names.push_back(way.way);
  return names;
}

//! Calls every way by itself, to see which of them cannot be timed.
void leave_out_broken_ways(PreparedWorker& prepared) {
  for (WayTimes& way : prepared.ways) {
    if (!way.why_not.empty()) continue;
    try {
      prepared.worker->time(way.way);
    } catch (const Error& problem) {
      if (way.way == "eager" || way.way == program_way || !prepared.worker->is_running()) throw;
      way.why_not = problem.what();
    }
  }
}

std::vector<ModuleWorker::Round> drawn_rounds(const std::vector<std::string>& names, int count, Random& random) {
  std::vector<ModuleWorker::Round> rounds;
  for (int i = 0; i < count; ++i) {
    ModuleWorker::Round round{random.next() >> 1, names};
    for (std::size_t last = names.size(); last > 1; --last)
      std::swap(round.order[last - 1], round.order[random.below(last)]);
    rounds.push_back(std::move(round));
  }
  return rounds;
}

void warm_up(PreparedWorker& prepared, Random& random) {
  try {
    prepared.worker->time_rounds(drawn_rounds(runnable(prepared), untimed_rounds, random), 0.0, untimed_rounds);
  } catch (const Error&) {
    if (!prepared.worker->is_running()) throw;
    leave_out_broken_ways(prepared);
  }
}

std::vector<double> ratios(const WayTimes& baseline, const WayTimes& program) {
  std::vector<double> values;
  for (std::size_t i = 0; i < program.device_ms.size(); ++i)
    values.push_back(baseline.device_ms[i] / program.device_ms[i]);
  return values;
}

bool are_known(const std::vector<WayTimes>& ways, const TimingLimits& limits) {
  const auto program = std::ranges::find(ways, program_way, &WayTimes::way);
  const WayTimes& common = program == ways.end() ? ways.front() : *program;
  const std::optional<std::string> best = best_baseline(ways);
  return std::ranges::all_of(ways, [&](const WayTimes& way) {
    const double allowed = way.way == "eager" || way.way == best ? limits.half_width : limits.half_width_of_others;
    return !way.why_not.empty() || median_interval(ratios(way, common)).relative_half_width() <= allowed;
  });
}

using HostTimes = std::map<std::string, std::vector<double>>;

void add_rounds(PreparedWorker& prepared, const std::vector<std::map<std::string, ModuleWorker::Times>>& rounds,
                HostTimes& host) {
  for (const auto& round : rounds)
    for (WayTimes& way : prepared.ways) {
      const auto times = round.find(way.way);
      if (times == round.end()) continue;
      way.device_ms.push_back(times->second.device_ms);
      host[way.way].push_back(times->second.host_ms);
    }
}

//! Times of an earlier measurement, and the program that followed from them.
void forget_times(std::vector<WayTimes>& ways, bool program_is_by_ratios) {
  if (program_is_by_ratios) std::erase_if(ways, [](const WayTimes& way) { return way.way == program_way; });
  for (WayTimes& way : ways) way.device_ms.clear();
}

//! Until the ratios are known well enough, or the time is up.
void time_rounds(PreparedWorker& prepared, const TimingLimits& limits, Random& random) {
  warm_up(prepared, random);
  const std::vector<std::string> names = runnable(prepared);
  if (names.empty()) throw Error("there is nothing to time");
  HostTimes host;
  const auto begin = Clock::now();
  for (int done = 0; done < limits.most_rounds;) {
    const double left = std::max(0.0, limits.seconds - seconds_since(begin));
    const auto rounds = prepared.worker->time_rounds(drawn_rounds(names, limits.rounds_at_once, random), left,
                                                     std::max(1, fewest_rounds - done));
    add_rounds(prepared, rounds, host);
    done += static_cast<int>(rounds.size());
    if (done >= fewest_rounds && (seconds_since(begin) >= limits.seconds || are_known(prepared.ways, limits))) break;
  }
  for (WayTimes& way : prepared.ways)
    if (!way.device_ms.empty()) way.host_ms = median(host[way.way]);
}

}  // namespace

bool PreparedWorker::has(const std::string& name) const {
  return std::ranges::any_of(ways, [&](const WayTimes& way) { return way.way == name && way.why_not.empty(); });
}

std::shared_future<std::filesystem::path> known_package(std::filesystem::path package) {
  std::promise<std::filesystem::path> given;
  given.set_value(std::move(package));
  return given.get_future().share();
}

void make_ways(PreparedWorker& prepared, const std::shared_future<std::filesystem::path>& package,
               const std::vector<std::string>& baselines) {
  const bool is_known = package.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  if (is_known) make_program(prepared, package.get());
  for (const std::string& baseline : baselines) make_baseline(prepared, baseline);
  if (!is_known) make_program(prepared, package.get());
  leave_out_wrong_ways(prepared);
}

void add_program_by_ratios(std::vector<WayTimes>& ways, const std::vector<double>& ratios) {
  const auto eager = std::ranges::find(ways, "eager", &WayTimes::way);
  if (eager == ways.end() || eager->device_ms.empty() || ratios.empty()) throw Error("eager was not timed");
  WayTimes program{program_way, {}, 0.0, 0.0, {}};
  const std::size_t rounds = eager->device_ms.size();
  const auto place = [&](std::size_t round) {
    return ratios.begin() + static_cast<std::ptrdiff_t>(round * ratios.size() / rounds);
  };
  // Every round has its share of them, since their number is another one.
  for (std::size_t i = 0; i < rounds; ++i) {
    const std::vector<double> share(place(i), std::max(place(i + 1), place(i) + 1));
    program.device_ms.push_back(eager->device_ms[i] / median(share));
  }
  program.host_ms = median(program.device_ms);
  ways.insert(ways.begin(), std::move(program));
}

std::string time_ways(PreparedWorker& prepared, const std::vector<double>& ratios, const TimingLimits& limits,
                      Random& random) {
  forget_times(prepared.ways, !ratios.empty());
  time_rounds(prepared, limits, random);
  if (!ratios.empty()) add_program_by_ratios(prepared.ways, ratios);
  return why_unstable(prepared.ways);
}

}  // namespace cudal1
