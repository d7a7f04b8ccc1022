#include "cli/policy_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/line_log.hpp"
#include "bench/row_key.hpp"
#include "cli/bench_device.hpp"
#include "cli/policy_choice.hpp"
#include "cli/printable.hpp"
#include "cli/progress.hpp"
#include "report/sample_report.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

//! Options that change what an answer costs and how long it takes to come, not what it says.
bool changes_no_answer(const std::string& argument) {
  constexpr const char* names[] = {"--samples",         "--price-in",        "--price-out",
                                   "--max-cost",        "--concurrency",     "--samples-per-request",
                                   "--attempts",        "--connect-timeout", "--idle-timeout",
                                   "--request-timeout", "--ca-file",         "--allow-http",
                                   "--no-stream",       "--no-answer-cache", "--key-variable"};
  const std::string name = argument.substr(0, argument.find('='));
  return std::ranges::any_of(names, [&](const char* known) { return name == known; });
}

//! Everything that answers and verdicts depend on, but for the task.
std::string key_of_all(const PolicyBenchOptions& options) {
  Sha256 hash;
  hash.add_field(hash_of_code()).add_field(read_file(executable_directory() / "cudal1-search", std::size_t{1} << 40));
  hash.add_field(options.pool.device).add_field(options.pool.gpu);
  for (const std::string& argument : options.pool.policy_arguments)
    if (!changes_no_answer(argument)) hash.add_field(argument);
  add_local_model(hash, options.policies);
  if (!options.archive.empty()) hash.add_field(read_file(options.archive, std::size_t{1} << 40));
  return hash.hex();
}

std::string key_of_task(const std::string& key_of_all, const fs::path& task) {
  Sha256 hash;
  hash.add_field(key_of_all);
  for (const char* name : {"graph.json", "source.py"})
    if (fs::exists(task / name)) hash.add_field(read_file(task / name));
  return hash.hex().substr(0, 16);
}

class PolicyBench {
 public:
  PolicyBench(const std::vector<SuiteTask>& tasks, const PolicyBenchOptions& options)
      : tasks_(tasks),
        options_(options),
        key_of_all_(cudal1::key_of_all(options)),
        keys_(tasks.size()),
        rows_(tasks.size(),
              std::vector<std::optional<SampleRow>>(static_cast<std::size_t>(options.policies.samples_a_prompt))) {
    if (options.output.empty()) return;
    fs::create_directories(options.output);
    known_ = read_samples({options.output / samples_file});
    log_.emplace(options.output / samples_file);
  }

  std::vector<SampleRow> run() {
    SearchPoolUse use;
    use.complete = [this](std::size_t task, SearchRequest& request) { return complete(task, request); };
    use.sample = [this](std::size_t task, const SampleRow& sample) { take(task, sample); };
    use.ended = [this](std::size_t task, const TaskReport& report) { ended(task, report); };
    run_search_pool(tasks_, options_.pool, use);
    std::vector<SampleRow> rows;
    for (const auto& samples : rows_)
      for (const std::optional<SampleRow>& row : samples)
        if (row) rows.push_back(*row);
    return rows;
  }

 private:
  //! Asks for the samples that are not there yet; there may be some from before, or from a process that gave up.
  bool complete(std::size_t task, SearchRequest& request) {
    if (keys_[task].empty()) {
      keys_[task] = key_of_task(key_of_all_, request.task);
      take_over_known(task);
    }
    request.archive = options_.archive;
    for (std::size_t number = 0; number < rows_[task].size(); ++number)
      if (const auto& row = rows_[task][number])
        request.sampled.push_back(*row);
      else
        request.samples.push_back(static_cast<int>(number));
    return !request.samples.empty();
  }

  void take_over_known(std::size_t task) {
    for (const SampleRow& row : known_) {
      const bool is_wanted = row.sample >= 0 && static_cast<std::size_t>(row.sample) < rows_[task].size();
      if (is_wanted && row.key == keys_[task] && row.is_final() && identified(task, row).label() == row.label())
        rows_[task][static_cast<std::size_t>(row.sample)] = identified(task, row);
    }
  }

  SampleRow identified(std::size_t task, SampleRow row) const {
    row.suite = tasks_[task].suite;
    row.level = tasks_[task].level;
    row.id = tasks_[task].id;
    row.name = tasks_[task].name;
    row.key = keys_[task];
    return row;
  }

  void take(std::size_t task, const SampleRow& sample) {
    SampleRow row = identified(task, sample);
    keep(row);
    rows_[task].at(static_cast<std::size_t>(sample.sample)) = std::move(row);
  }

  //! What never came is a row as well.
  void ended(std::size_t task, const TaskReport& report) {
    if (!report.error.empty()) report_problem(fmt::format("{}: {}", tasks_[task].label(), report.error));
    for (std::size_t number = 0; number < rows_[task].size(); ++number) {
      if (rows_[task][number]) continue;
      SampleRow missing;
      missing.sample = static_cast<int>(number);
      missing.status = keys_[task].empty() ? no_task_status : failed_status;
      missing.error = report.error;
      take(task, missing);
    }
  }

  //! A row that cannot be kept is still reported in the end. The first reason is said; then no more is kept.
  void keep(const SampleRow& row) {
    try {
      if (log_) log_->append(to_json(row).dump(-1, ' ', false, json::error_handler_t::replace));
    } catch (const Error& problem) {
      report_problem(fmt::format("{} (sampling goes on; results are not kept)", problem.what()));
      log_.reset();
    }
  }

  const std::vector<SuiteTask>& tasks_;
  const PolicyBenchOptions& options_;
  const std::string key_of_all_;
  std::vector<std::string> keys_;  //!< of each task; empty: it is not exported
  std::vector<std::vector<std::optional<SampleRow>>> rows_;
  std::vector<SampleRow> known_;
  std::optional<LineLog> log_;
};

//! "3 tasks of examples, 8 samples each of local on NVIDIA H200"
std::string title_of(const std::vector<SampleRow>& rows, const PolicyBenchOptions& options) {
  const auto judged = std::ranges::find_if(rows, [](const SampleRow& row) { return !row.device.empty(); });
  const bool predicted = std::ranges::any_of(rows, &SampleRow::predicted);
  return fmt::format("{} samples{}{} on {}{}", rows.size(),
                     options.pool.policy.empty() ? "" : fmt::format(" of {}", options.pool.policy),
                     options.suite.empty() ? "" : fmt::format(" for {}", options.suite.filename().string()),
                     judged == rows.end() ? options.pool.gpu : judged->device, predicted ? " (predicted)" : "");
}

void print_tables(const std::vector<SampleRow>& rows) {
  fmt::print("{}\n{}\n{}\n{}\n{}", printable_lines(sampled_tasks_table(rows).plain()), pass_table(rows).plain(),
             fast_p_at_table(rows).plain(), answers_table(rows).plain(), statuses_table(rows).plain());
  for (const std::string& remark : sample_remarks(rows)) fmt::print("{}\n", one_line(remark));
}

void print_json(const std::vector<SampleRow>& rows, std::uint64_t seed, const std::vector<std::string>& problems) {
  json samples = json::array();
  for (const SampleRow& row : rows) samples.push_back(to_json(row));
  const json all{{"seed", seed}, {"samples", samples}, {"figures", sample_summary_json(rows)}, {"problems", problems}};
  fmt::print("{}\n", all.dump(1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

int run_policy_bench(const ChosenTasks& chosen, PolicyBenchOptions options) {
  choose_seed(options.pool.seed);
  options.pool.programs_each = options.policies.samples_a_prompt;
  if (!options.archive.empty() && !fs::exists(options.archive))
    throw Error(fmt::format("{}: there is no such archive", options.archive.string()));
  if (!options.output.empty() && fs::exists(options.output / "results.jsonl"))
    throw UsageError(fmt::format("{} holds what a bench of programs found: samples of policies go into another folder",
                                 options.output.string()));
  std::vector<SampleRow> rows = PolicyBench(chosen.tasks, options).run();
  clear_progress();
  return report_samples(std::move(rows), options, chosen.problems);
}

int report_samples(std::vector<SampleRow> rows, const PolicyBenchOptions& options,
                   const std::vector<std::string>& problems) {
  sort_samples(rows);
  if (!options.output.empty()) write_sample_report(rows, title_of(rows, options), options.output);
  if (options.as_json) {
    print_json(rows, options.pool.seed, problems);
  } else {
    print_tables(rows);
    if (!options.output.empty()) fmt::print("report: {}\n", (options.output / "report.md").string());
    if (options.pool.seed != 0) fmt::print("seed {}\n", options.pool.seed);
  }
  return std::ranges::any_of(rows, &SampleRow::is_final) ? 0 : 1;
}

}  // namespace cudal1
