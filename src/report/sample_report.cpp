#include "report/sample_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "report/csv.hpp"
#include "report/markdown.hpp"
#include "report/sample_figures.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::vector<SampleFigures> all_figures(const std::vector<SampleRow>& rows) {
  std::vector<SampleFigures> figures = sample_figures_by_level(rows);
  std::ranges::move(sample_figures_by_policy(rows), std::back_inserter(figures));
  return figures;
}

std::vector<int> all_sizes(const std::vector<SampleFigures>& figures) {
  std::set<int> sizes;
  for (const SampleFigures& group : figures) sizes.insert(group.sizes.begin(), group.sizes.end());
  return {sizes.begin(), sizes.end()};
}

//! Under each of `sizes`: of a group with fewer samples a dash.
void add_shares(std::vector<std::string>& line, const std::vector<int>& sizes, const std::vector<int>& known,
                const std::vector<double>& shares) {
  for (const int size : sizes) {
    const auto found = std::ranges::find(known, size);
    line.push_back(
        found == known.end() ? "-" : fmt::format("{:.3f}", shares[static_cast<std::size_t>(found - known.begin())]));
  }
}

std::string share_text(int part, int all) { return all > 0 ? fmt::format("{:.1f}%", 100.0 * part / all) : "-"; }

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; }

std::string number_text(const std::optional<int>& value) { return value ? std::to_string(*value) : ""; }

std::string found_out(const SampleRow& row, bool value) { return row.device.empty() ? "" : value ? "1" : "0"; }

std::string samples_csv(const std::vector<SampleRow>& rows) {
  std::string text = csv_line(
      {"suite",        "level",        "id",         "name",          "sample",     "policy",      "answer",
       "status",       "device",       "degenerate", "predicted",     "speedup",    "speedup_low", "speedup_high",
       "reference_ms", "candidate_ms", "repairs",    "prompt_tokens", "new_tokens", "cost",        "error"});
  for (const SampleRow& row : rows)
    text += csv_line({row.suite,
                      number_text(row.level),
                      number_text(row.id),
                      row.name,
                      std::to_string(row.sample),
                      row.policy,
                      row.answer,
                      row.status,
                      row.device,
                      found_out(row, row.degenerate),
                      found_out(row, row.predicted),
                      number(row.speedup),
                      number(row.speedup_low),
                      number(row.speedup_high),
                      number(row.reference_ms),
                      number(row.candidate_ms),
                      std::to_string(row.repairs),
                      std::to_string(row.prompt_tokens),
                      std::to_string(row.new_tokens),
                      fmt::format("{:.6g}", row.cost),
                      row.error});
  return text;
}

json figures_json(const SampleFigures& figures) {
  json pass = json::array(), fast = json::array(), statuses = json::array();
  for (std::size_t i = 0; i < figures.sizes.size(); ++i) {
    pass.push_back({{"k", figures.sizes[i]}, {"share", figures.pass[i]}});
    for (std::size_t p = 0; p < std::size(fast_p_of_samples); ++p)
      fast.push_back({{"p", fast_p_of_samples[p]}, {"k", figures.sizes[i]}, {"share", figures.fast[p][i]}});
  }
  for (const auto& [status, samples] : figures.statuses) statuses.push_back({{"status", status}, {"samples", samples}});
  const AnswerCounts& answers = figures.answers;
  return {{"samples_of", figures.name},
          {"tasks", figures.tasks},
          {"answers", answers.all},
          {"programs", answers.programs},
          {"refusals", answers.refusals},
          {"without_program", answers.without_program},
          {"not_answered", answers.not_answered},
          {"right", figures.right},
          {"pass_at", pass},
          {"fast_p_at", fast},
          {"statuses", statuses},
          {"prompt_tokens", figures.prompt_tokens},
          {"new_tokens", figures.new_tokens},
          {"cost", figures.cost}};
}

constexpr const char* definitions =
    "pass@k is the chance that one of k samples is right, estimated without bias from all samples of a task "
    "(1 - C(n - c, k) / C(n, k) of n samples of which c are right) and averaged over tasks. fast_p@k is the same with "
    "samples that are right and more than p times as fast as the reference, PyTorch's library calls.\n\n";

std::string report_text(const std::vector<SampleRow>& rows, const std::string& title) {
  std::string text = fmt::format("# {}\n\n", title);
  for (const std::string& remark : sample_remarks(rows)) text += fmt::format("- {}\n", quoted_in_markdown(remark));
  text += fmt::format("\n## pass@k\n\n{}{}\n", definitions, pass_table(rows).markdown());
  text += fmt::format("## fast_p@k\n\n{}\n", fast_p_at_table(rows).markdown());
  text += fmt::format("## Answers\n\n{}\n", answers_table(rows).markdown());
  text += fmt::format("## Statuses\n\n{}\n", statuses_table(rows).markdown());
  return fmt::format("{}## Tasks\n\n{}", text, sampled_tasks_table(rows).markdown());
}

}  // namespace

TextTable pass_table(const std::vector<SampleRow>& rows) {
  const std::vector<SampleFigures> figures = all_figures(rows);
  const std::vector<int> sizes = all_sizes(figures);
  TextTable table{{{"samples of", "tasks", "right"}}, 1};
  for (const int size : sizes) table.rows.front().push_back(fmt::format("pass@{}", size));
  for (const SampleFigures& group : figures) {
    std::vector<std::string> line{group.name, std::to_string(group.tasks), std::to_string(group.right)};
    add_shares(line, sizes, group.sizes, group.pass);
    table.rows.push_back(std::move(line));
  }
  return table;
}

TextTable fast_p_at_table(const std::vector<SampleRow>& rows) {
  const std::vector<SampleFigures> figures = all_figures(rows);
  const std::vector<int> sizes = all_sizes(figures);
  TextTable table{{{"fast_p", "p"}}, 1};
  for (const int size : sizes) table.rows.front().push_back(fmt::format("k = {}", size));
  for (const SampleFigures& group : figures)
    for (std::size_t p = 0; p < std::size(fast_p_of_samples); ++p) {
      std::vector<std::string> line{group.name, fmt::format("{}", fast_p_of_samples[p])};
      add_shares(line, sizes, group.sizes, group.fast[p]);
      table.rows.push_back(std::move(line));
    }
  return table;
}

TextTable answers_table(const std::vector<SampleRow>& rows) {
  TextTable table{{{"answers", "asked for", "programs", "refusals", "no program", "not answered", "tokens read",
                    "tokens written", "cost"}},
                  1};
  for (const SampleFigures& group : all_figures(rows)) {
    const AnswerCounts& answers = group.answers;
    table.rows.push_back({group.name, std::to_string(answers.all), share_text(answers.programs, answers.all),
                          share_text(answers.refusals, answers.all), share_text(answers.without_program, answers.all),
                          share_text(answers.not_answered, answers.all), std::to_string(group.prompt_tokens),
                          std::to_string(group.new_tokens),
                          group.cost > 0.0 ? fmt::format("{:.4g}", group.cost) : "-"});
  }
  return table;
}

TextTable statuses_table(const std::vector<SampleRow>& rows) {
  const std::vector<SampleFigures> figures = all_figures(rows);
  std::set<std::string> statuses;
  TextTable table{{{"status"}}, 1};
  for (const SampleFigures& group : figures) {
    table.rows.front().push_back(group.name);
    for (const auto& [status, samples] : group.statuses) statuses.insert(status);
  }
  for (const std::string& status : statuses) {
    std::vector<std::string> line{status};
    for (const SampleFigures& group : figures) {
      const auto found = group.statuses.find(status);
      line.push_back(std::to_string(found == group.statuses.end() ? 0 : found->second));
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

TextTable sampled_tasks_table(const std::vector<SampleRow>& rows) {
  std::map<std::string, std::vector<const SampleRow*>> tasks;
  std::vector<std::string> order;
  for (const SampleRow& row : rows) {
    auto& members = tasks[row.suite + "/" + row.label()];
    if (members.empty()) order.push_back(row.suite + "/" + row.label());
    members.push_back(&row);
  }
  TextTable table{{{"task", "samples", "right", "fastest"}}, 1};
  for (const std::string& name : order) {
    int right = 0;
    double fastest = 0.0;
    for (const SampleRow* row : tasks[name]) {
      right += row->is_right() ? 1 : 0;
      if (row->is_right()) fastest = std::max(fastest, row->speedup.value_or(0.0));
    }
    const SampleRow& first = *tasks[name].front();
    table.rows.push_back({first.degenerate ? first.label() + ", degenerate" : first.label(),
                          std::to_string(tasks[name].size()), std::to_string(right),
                          fastest > 0.0 ? fmt::format("{:.3f}", fastest) : "-"});
  }
  return table;
}

std::vector<std::string> sample_remarks(const std::vector<SampleRow>& rows) {
  std::vector<std::string> lines;
  const auto count = [&](auto test) { return std::ranges::count_if(rows, test); };
  if (const auto predicted = count([](const SampleRow& row) { return row.predicted && row.speedup; }); predicted > 0)
    lines.push_back(fmt::format("times of {} samples are predicted by a model, not measured", predicted));
  if (const auto degenerate = count([](const SampleRow& row) { return row.degenerate; }); degenerate > 0)
    lines.push_back(
        fmt::format("{} samples of degenerate tasks (outputs do not depend on inputs) are left out", degenerate));
  std::map<std::string, int> missing;
  for (const SampleRow& row : rows)
    if (!row.is_final()) ++missing[fmt::format("{}{}", row.status, row.error.empty() ? "" : ": " + row.error)];
  for (const auto& [reason, times] : missing)
    lines.push_back(fmt::format("without a verdict: {} samples: {}", times, reason));
  return lines;
}

json sample_summary_json(const std::vector<SampleRow>& rows) {
  json groups = json::array();
  for (const SampleFigures& group : all_figures(rows)) groups.push_back(figures_json(group));
  return groups;
}

void write_sample_report(const std::vector<SampleRow>& rows, const std::string& title, const fs::path& folder) {
  write_file_atomically(folder / "samples.csv", samples_csv(rows));
  write_file_atomically(folder / "report.md", report_text(rows, title));
}

}  // namespace cudal1
