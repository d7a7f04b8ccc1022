#include "train/ablation/ablation_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/markdown.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

bool is_share(std::size_t measure) {
  const std::string_view name = ablation_measures()[measure].name;
  return name == "first_success" || name.ends_with("_rate");
}

std::string number(double value, bool as_share, bool with_sign = false) {
  if (as_share) return with_sign ? fmt::format("{:+.1f}%", 100.0 * value) : fmt::format("{:.1f}%", 100.0 * value);
  return with_sign ? fmt::format("{:+.3f}", value) : fmt::format("{:.3f}", value);
}

std::string with_interval(const AblationFigure& figure, bool as_share, bool with_sign = false) {
  const MeanDifference& all = figure.over_all;
  return fmt::format("{} [{}, {}]", number(all.mean, as_share, with_sign), number(all.low, as_share, with_sign),
                     number(all.high, as_share, with_sign));
}

std::vector<std::string> measure_titles(const std::string& first) {
  std::vector<std::string> titles{first};
  for (const AblationMeasure& measure : ablation_measures()) titles.emplace_back(measure.title);
  return titles;
}

std::string arm_table(const AblationScores& scores, bool controls) {
  std::string text;
  for (const ArmScores& arm : scores.arms) {
    if (arm.arm.is_control != controls) continue;
    if (text.empty()) text = markdown_heading(measure_titles(controls ? "control" : "arm"));
    std::vector<std::string> cells{fmt::format("`{}` {}", arm.arm.name, arm.arm.title)};
    for (std::size_t i = 0; i < arm.figures.size(); ++i) cells.push_back(with_interval(arm.figures[i], is_share(i)));
    text += markdown_row(cells);
  }
  return text.empty() ? text : text + "\n";
}

std::string seeds_alone(const AblationFigure& figure) {
  std::vector<std::string> each;
  for (const double mean : figure.by_seed) each.push_back(number(mean, false, true));
  return fmt::format("{}", fmt::join(each, ", "));
}

constexpr std::string_view compared[] = {"reward", "reward_with_copies", "best"};

std::string difference_table(const AblationScores& scores) {
  if (scores.differences.empty()) return {};
  std::vector<std::string> columns{"difference"};
  for (std::size_t i = 0; i < ablation_measures().size(); ++i)
    if (std::ranges::find(compared, ablation_measures()[i].name) != std::end(compared))
      for (const std::string& column : {std::string(ablation_measures()[i].title), std::string("of each seed")})
        columns.push_back(column);
  std::string text = markdown_heading(columns);
  for (const DifferenceScores& difference : scores.differences) {
    std::vector<std::string> cells{fmt::format("`{}` - `{}`", difference.arms.first, difference.arms.second)};
    for (std::size_t i = 0; i < difference.figures.size(); ++i) {
      if (std::ranges::find(compared, ablation_measures()[i].name) == std::end(compared)) continue;
      cells.push_back(with_interval(difference.figures[i], false, true));
      cells.push_back(seeds_alone(difference.figures[i]));
    }
    text += markdown_row(cells);
  }
  return "## Differences, pair by pair\n" + text + "\n";
}

std::string speedup(std::optional<double> value) { return value && *value > 0.0 ? fmt::format("{:.2f}", *value) : "-"; }

std::string percent(double share) { return fmt::format("{:.0f}%", 100.0 * share); }

std::string published_percent(std::optional<int> count) {
  return count ? percent(static_cast<double>(*count) / PublishedFigures::tasks) : "-";
}

std::string paper_table(const AblationScores& scores) {
  std::string text = "## Beside the paper\n";
  text += markdown_heading({"arm", "mean", "median", "right", "over 1.01x", "paper: mean", "median", "right", "over 1.01x"});
  for (const ArmScores& arm : scores.arms) {
    if (arm.arm.is_control) continue;
    std::vector<std::string> cells{fmt::format("`{}`", arm.arm.name), speedup(arm.best.mean), speedup(arm.best.median),
                                   percent(arm.best.success_rate), percent(arm.best.faster_rate)};
    if (const auto& paper = arm.arm.published) {
      for (const std::string& cell : {speedup(paper->mean_speedup), speedup(paper->median_speedup),
                                      published_percent(paper->successes), published_percent(paper->faster)})
        cells.push_back(cell);
    } else {
      cells.insert(cells.end(), 4, "-");
    }
    text += markdown_row(cells);
  }
  return text +
         "\nOurs: the best program of each task and seed, over PyTorch's eager kernels as the judge times them; mean and "
         "median where there is a success. The paper: 250 tasks of KernelBench on an A100. Other tasks, another model "
         "and another budget: what can be compared is the order of the arms.\n";
}

std::string stopped_runs(const AblationScores& scores) {
  std::string text;
  for (const ArmScores& arm : scores.arms)
    for (std::size_t i = 0; i < arm.stopped.size(); ++i)
      if (!arm.stopped[i].empty())
        text += fmt::format("- training of `{}` with seed {} ended early: {}\n", arm.arm.name, scores.seeds[i],
                            arm.stopped[i]);
  return text.empty() ? text : text + "\n";
}

std::string protocol_text(const AblationScores& scores, const AblationProtocol& protocol) {
  std::string text = fmt::format(
      "{} test tasks, {} seed{} ({}), {} rounds of {} samples for each arm and task; judged on {}{}. In brackets 95% "
      "intervals, over tasks and seeds. A failed sample counts {}.",
      scores.tasks, scores.seeds.size(), scores.seeds.size() == 1 ? "" : "s", fmt::join(scores.seeds, ", "),
      protocol.trial.rounds, protocol.trial.samples, protocol.device,
      protocol.is_predicted ? ", whose times are predictions" : "", protocol.trial.reward.failure_reward);
  if (!scores.left_out.empty())
    text += fmt::format(" Left out, as no sample of some arm counts: {}.", fmt::join(scores.left_out, ", "));
  return text + "\n\n";
}

json to_json(const AblationFigure& figure) {
  return {{"mean", figure.over_all.mean},
          {"low", figure.over_all.low},
          {"high", figure.over_all.high},
          {"share_above_zero", figure.over_all.share_above_zero},
          {"by_seed", figure.by_seed}};
}

json to_json(const std::vector<AblationFigure>& figures) {
  json made = json::object();
  for (std::size_t i = 0; i < figures.size(); ++i)
    made[std::string(ablation_measures()[i].name)] = to_json(figures[i]);
  return made;
}

template <class Number>
json or_null(const std::optional<Number>& value) {
  return value ? json(*value) : json();
}

json published_json(const AblationArm& arm) {
  if (!arm.published) return nullptr;
  return {{"mean_speedup", arm.published->mean_speedup},
          {"median_speedup", or_null(arm.published->median_speedup)},
          {"successes", or_null(arm.published->successes)},
          {"faster", arm.published->faster},
          {"tasks", PublishedFigures::tasks}};
}

json to_json(const ArmScores& arm) {
  return {{"arm", arm.arm.name},
          {"title", arm.arm.title},
          {"control", arm.arm.is_control},
          {"stopped", arm.stopped},
          {"figures", to_json(arm.figures)},
          {"mean_speedup", arm.best.mean},
          {"median_speedup", arm.best.median},
          {"success_rate", arm.best.success_rate},
          {"faster_rate", arm.best.faster_rate},
          {"published", published_json(arm.arm)}};
}

std::string csv_rows(std::string_view kind, std::string_view arm, std::string_view against,
                     const std::vector<AblationFigure>& figures) {
  std::string text;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const MeanDifference& all = figures[i].over_all;
    text += fmt::format("{},{},{},{},{},{},{}\n", kind, arm, against, ablation_measures()[i].name, all.mean, all.low,
                        all.high);
  }
  return text;
}

}  // namespace

std::string ablation_markdown(const AblationScores& scores, const AblationProtocol& protocol) {
  return "# Ablation\n" + protocol_text(scores, protocol) + arm_table(scores, false) + arm_table(scores, true) +
         stopped_runs(scores) + difference_table(scores) + paper_table(scores);
}

std::string ablation_csv(const AblationScores& scores) {
  std::string text = "kind,arm,against,measure,value,low,high\n";
  for (const ArmScores& arm : scores.arms)
    text += csv_rows(arm.arm.is_control ? "control" : "arm", arm.arm.name, "", arm.figures);
  for (const DifferenceScores& difference : scores.differences)
    text += csv_rows("difference", difference.arms.first, difference.arms.second, difference.figures);
  return text;
}

json ablation_json(const AblationScores& scores, const AblationProtocol& protocol) {
  json made{{"device", protocol.device},
            {"predicted", protocol.is_predicted},
            {"seeds", scores.seeds},
            {"tasks", scores.tasks},
            {"left_out", scores.left_out},
            {"rounds", protocol.trial.rounds},
            {"samples", protocol.trial.samples},
            {"failure_reward", protocol.trial.reward.failure_reward},
            {"arms", json::array()},
            {"differences", json::array()}};
  for (const ArmScores& arm : scores.arms) made["arms"].push_back(to_json(arm));
  for (const DifferenceScores& each : scores.differences)
    made["differences"].push_back(
        {{"first", each.arms.first}, {"second", each.arms.second}, {"figures", to_json(each.figures)}});
  return made;
}

}  // namespace cudal1
