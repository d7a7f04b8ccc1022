#include "report/sample_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace cudal1 {
namespace {

using TaskIdentity = std::tuple<std::string, int, std::string>;

TaskIdentity task_of(const SampleRow& row) { return {row.suite, row.level.value_or(-1), row.name}; }

//! Of one task: how many samples, and how many of them are a success by some rule.
struct Tally {
  int samples = 0, successes = 0;
};

template <class IsSuccess>
std::vector<Tally> tallies(const std::vector<SampleRow>& rows, const IsSuccess& is_success) {
  std::map<TaskIdentity, Tally> tasks;
  for (const SampleRow& row : rows) {
    Tally& task = tasks[task_of(row)];
    ++task.samples;
    if (is_success(row)) ++task.successes;
  }
  std::vector<Tally> made;
  for (const auto& [identity, task] : tasks) made.push_back(task);
  return made;
}

std::vector<double> means_at(const std::vector<int>& sizes, const std::vector<Tally>& tasks) {
  std::vector<double> means;
  for (const int size : sizes) {
    double sum = 0.0;
    for (const Tally& task : tasks) sum += pass_at(size, task.samples, task.successes);
    means.push_back(sum / static_cast<double>(tasks.size()));
  }
  return means;
}

AnswerCounts counts_of(const std::vector<SampleRow>& rows) {
  AnswerCounts counts;
  for (const SampleRow& row : rows) {
    if (row.answer == nothing_proposed) continue;  // nobody answered, since nobody was asked
    ++counts.all;
    if (row.answer == "program")
      ++counts.programs;
    else if (row.answer == "refusal")
      ++counts.refusals;
    else if (row.answer.empty() || row.answer == not_answered)
      ++counts.not_answered;
    else
      ++counts.without_program;
  }
  return counts;
}

int samples_of_every_task(const std::vector<Tally>& tasks) {
  const auto fewest = std::ranges::min_element(tasks, {}, &Tally::samples);
  return fewest == tasks.end() ? 0 : fewest->samples;
}

//! Only who ran a program of a task knows whether it is: all its samples go.
std::vector<SampleRow> not_degenerate(const std::vector<SampleRow>& rows) {
  std::set<TaskIdentity> degenerate;
  for (const SampleRow& row : rows)
    if (row.degenerate) degenerate.insert(task_of(row));
  std::vector<SampleRow> kept;
  std::ranges::copy_if(rows, std::back_inserter(kept),
                       [&](const SampleRow& row) { return !degenerate.contains(task_of(row)); });
  return kept;
}

template <class NameOf>
std::vector<SampleFigures> by_name(const std::vector<SampleRow>& rows, const NameOf& name_of) {
  std::map<std::string, std::vector<SampleRow>> groups;
  for (const SampleRow& row : not_degenerate(rows)) groups[name_of(row)].push_back(row);
  std::vector<SampleFigures> figures;
  for (const auto& [name, members] : groups) figures.push_back(figures_of_samples(name, members));
  return figures;
}

}  // namespace

double pass_at(int k, int n, int c) {
  if (n - c < k) return 1.0;
  double all_fail = 1.0;  // C(n - c, k) / C(n, k), as a product that does not overflow
  for (int i = n - c + 1; i <= n; ++i) all_fail *= 1.0 - static_cast<double>(k) / i;
  return 1.0 - all_fail;
}

std::vector<int> sizes_up_to(int last) {
  std::vector<int> sizes;
  for (int size = 1; size < last; size *= 2) sizes.push_back(size);
  if (last > 0) sizes.push_back(last);
  return sizes;
}

SampleFigures figures_of_samples(const std::string& name, const std::vector<SampleRow>& all) {
  const std::vector<SampleRow> rows = not_degenerate(all);
  SampleFigures figures;
  figures.name = name;
  const std::vector<Tally> tasks = tallies(rows, [](const SampleRow& row) { return row.is_right(); });
  figures.tasks = static_cast<int>(tasks.size());
  figures.sizes = sizes_up_to(samples_of_every_task(tasks));
  figures.pass = means_at(figures.sizes, tasks);
  for (const double p : fast_p_of_samples)
    figures.fast.push_back(
        means_at(figures.sizes, tallies(rows, [p](const SampleRow& row) { return row.is_faster_than(p); })));
  figures.answers = counts_of(rows);
  for (const SampleRow& row : rows) {
    if (row.is_right()) ++figures.right;
    ++figures.statuses[row.status];
    figures.prompt_tokens += row.prompt_tokens;
    figures.new_tokens += row.new_tokens;
    figures.cost += row.cost;
  }
  return figures;
}

std::vector<SampleFigures> sample_figures_by_level(const std::vector<SampleRow>& rows) {
  std::vector<SampleFigures> figures =
      by_name(rows, [](const SampleRow& row) { return row.level ? fmt::format("level {}", *row.level) : "no level"; });
  if (figures.size() != 1) figures.push_back(figures_of_samples("all", rows));
  return figures;
}

std::vector<SampleFigures> sample_figures_by_policy(const std::vector<SampleRow>& rows) {
  std::vector<SampleRow> asked;
  std::ranges::copy_if(rows, std::back_inserter(asked), [](const SampleRow& row) { return !row.policy.empty(); });
  std::vector<SampleFigures> figures = by_name(asked, [](const SampleRow& row) { return row.policy; });
  if (figures.size() < 2) figures.clear();
  return figures;
}

}  // namespace cudal1
