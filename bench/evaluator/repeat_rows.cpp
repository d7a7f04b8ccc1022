#include <algorithm>
#include <cmath>

#include "judge/judge.hpp"
#include "judge/timing_statistics.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace {

constexpr int repeats = 20;
constexpr std::size_t programs_repeated = 3;
constexpr int self_comparisons = 100;

//! Correct programs with this in their name, in the order of their tasks.
std::vector<ExampleProgram> correct_programs(const Setting& setting, const std::string& name_part) {
  std::vector<ExampleProgram> programs = programs_below(setting.source_folder / "examples");
  std::erase_if(programs, [&](const ExampleProgram& program) {
    return program.wanted_status != "ok" || program.file.find(name_part) == std::string::npos;
  });
  return programs;
}

//! What a row shows of every evaluation, so that its result can be traced to one of the two.
struct Trace {
  std::vector<double> speedups;
  nlohmann::json reference_device_us = nlohmann::json::array(), candidate_device_us = nlohmann::json::array();

  void add(const TimingSummary& timing) {
    speedups.push_back(timing.speedup);
    reference_device_us.push_back(rounded(1e3 * timing.reference_device_ms, 100.0));
    candidate_device_us.push_back(rounded(1e3 * timing.candidate_device_ms, 100.0));
  }

  nlohmann::json to_json() const {
    nlohmann::json list = nlohmann::json::array();
    for (const double speedup : speedups) list.push_back(rounded(speedup, 1e4));
    return {
        {"speedups", list}, {"reference_device_us", reference_device_us}, {"candidate_device_us", candidate_device_us}};
  }

 private:
  static double rounded(double value, double places) { return std::round(value * places) / places; }
};

}  // namespace

// One program for each of several tasks, spread over the examples; those with kernels under 10 us do not count.
void repeat_row(Backend& backend, const Setting& setting, nlohmann::json& rows) {
  int fewest = repeats, total = 0;
  double worst = 0.0;
  nlohmann::json details = nlohmann::json::array();
  const auto programs = correct_programs(setting, "naive");
  for (std::size_t i = 0; i < programs.size(); i += (programs.size() + programs_repeated - 1) / programs_repeated) {
    const ExampleProgram& program = programs[i];
    Trace trace;
    double candidate_ms = 0.0;
    int unstable = 0;
    for (int k = 0; k < repeats; ++k) {
      TaskJudge judge(backend, program.task, {});  // a new one each time, as for a user who calls the command again
      const CompiledProgram compiled = judge.compile(program.file, program.text);
      const Evaluation evaluation = judge.evaluate(compiled);
      if (!evaluation.timing) throw Error(program.file + ": " + evaluation.failure.message);
      unstable += evaluation.status == Status::unstable ? 1 : 0;
      trace.add(*evaluation.timing);
      candidate_ms = evaluation.timing->candidate_device_ms;
      if (candidate_ms < 0.010) break;
    }
    if (candidate_ms < 0.010) continue;
    const double center = median(trace.speedups);
    int close = 0;
    double farthest = 0.0;
    for (const double speedup : trace.speedups) {
      const double distance = std::abs(speedup / center - 1.0);
      close += distance <= 0.01 ? 1 : 0;
      farthest = std::max(farthest, distance);
    }
    fewest = std::min(fewest, close);
    total += repeats;
    worst = std::max(worst, farthest);
    details.push_back({{"task", program.task.filename().string()},
                       {"program", program.file},
                       {"median_speedup", center},
                       {"evaluations", trace.to_json()},
                       {"candidate_ms", candidate_ms},
                       {"within_1_percent", close},
                       {"farthest", farthest},
                       {"unstable", unstable}});
  }
  const double share = 100.0 * fewest / repeats;
  rows.push_back(
      row("the same program evaluated 20 times (kernels of 10 us and more), share within 1% of the median, of "
          "the program that repeats worst",
          share, "%", "95% within 1% of the median", total > 0 && share >= 95.0,
          {{"evaluations", total}, {"farthest", worst}, {"programs", details}}));
}

// The empty program against the reference, which is the empty program.
void self_row(Backend& backend, const Setting& setting, nlohmann::json& rows) {
  const auto programs = correct_programs(setting, "empty");
  int ties = 0, done = 0;
  double highest = 0.0;
  std::vector<double> distances, half_widths;
  nlohmann::json details = nlohmann::json::array();
  for (std::size_t i = 0; i < programs.size(); ++i) {
    TaskJudge judge(backend, programs[i].task, {});
    const CompiledProgram compiled = judge.compile(programs[i].file, programs[i].text);
    const int share = self_comparisons * static_cast<int>(i + 1) / static_cast<int>(programs.size()) -
                      self_comparisons * static_cast<int>(i) / static_cast<int>(programs.size());
    Trace trace;
    for (int k = 0; k < share; ++k, ++done) {
      const Evaluation evaluation = judge.evaluate(compiled);
      if (!evaluation.timing) throw Error(programs[i].file + ": " + evaluation.failure.message);
      ties += evaluation.status == Status::ok && evaluation.timing->tie ? 1 : 0;
      highest = std::max(highest, evaluation.reward.value_or(0.0));
      distances.push_back(std::abs(evaluation.timing->speedup - 1.0));
      half_widths.push_back(0.5 * (evaluation.timing->high - evaluation.timing->low));
      trace.add(*evaluation.timing);
    }
    details.push_back({{"task", programs[i].task.filename().string()}, {"evaluations", trace.to_json()}});
  }
  rows.push_back(row("a program against itself, 100 times: ties", ties, "of 100", "at least 98 ties",
                     done == self_comparisons && ties >= 98, details));
  rows.push_back(row("a program against itself, 100 times: highest reward", highest, "x", "no reward above 1.01",
                     highest <= 1.01));
  // A tie is easy with a wide interval, so these are shown beside it.
  rows.push_back(row("a program against itself, 100 times: median distance of the speed-up from 1",
                     100.0 * median(distances), "%", "none", true,
                     {{"largest", 100.0 * *std::max_element(distances.begin(), distances.end())}}));
  rows.push_back(row("a program against itself, 100 times: median half width of the interval",
                     100.0 * median(half_widths), "%", "none", true,
                     {{"largest", 100.0 * *std::max_element(half_widths.begin(), half_widths.end())}}));
}

}  // namespace cudal1::bench
