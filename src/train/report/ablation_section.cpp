#include "train/report/ablation_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "report/bar_chart.hpp"
#include "report/markdown.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

enum class Form { number, difference, share };

std::string text_of(double value, Form form) {
  if (form == Form::share) return fmt::format("{:.1f}%", 100.0 * value);
  return form == Form::difference ? fmt::format("{:+.3f}", value) : fmt::format("{:.3f}", value);
}

std::string with_interval(const json& figure, Form form) {
  return fmt::format("{} [{}, {}]", text_of(figure.at("mean"), form), text_of(figure.at("low"), form),
                     text_of(figure.at("high"), form));
}

std::string each_seed(const json& figure, Form form) {
  std::vector<std::string> seeds;
  for (const json& mean : figure.at("by_seed")) seeds.push_back(text_of(mean, form));
  return fmt::format("{}", fmt::join(seeds, ", "));
}

//! 0 stands for tasks without a success.
std::string speedup(const json& value) {
  return value.is_number() && value.get<double>() > 0.0 ? fmt::format("{:.2f}", value.get<double>()) : "-";
}

std::string percent(const json& value, double of = 1.0) {
  return value.is_number() ? fmt::format("{:.0f}%", 100.0 * value.get<double>() / of) : "-";
}

bool is_predicted(const json& ablation) { return ablation.at("predicted").get<bool>(); }

std::string protocol(const json& ablation) {
  std::vector<std::string> seeds;
  for (const json& seed : ablation.at("seeds")) seeds.push_back(seed.dump());
  std::string text = fmt::format(
      "{} test tasks that training never sees; {} paired seed{} ({}); {} rounds of {} samples for each arm and task. "
      "Judged on {}{}. In brackets 95% intervals over tasks and seeds. A failed sample counts {:g}.",
      ablation.at("tasks").get<int>(), seeds.size(), seeds.size() == 1 ? "" : "s", fmt::join(seeds, ", "),
      ablation.at("rounds").get<int>(), ablation.at("samples").get<int>(), ablation.at("device").get<std::string>(),
      is_predicted(ablation) ? ": every speed-up of ours is predicted, none is measured" : "",
      ablation.at("failure_reward").get<double>());
  if (const std::size_t count = ablation.at("left_out").size(); count > 0)
    text += fmt::format(" Left out, as no sample of some arm counts: {} task{}.", count, count == 1 ? "" : "s");
  return text + "\n\n";
}

std::string paper_table(const json& ablation) {
  const std::string ours = is_predicted(ablation) ? "ours, predicted: mean" : "ours: mean";
  std::string text = markdown_heading({"arm", "what it is", ours, "median", "right", "over 1.01x", "paper: mean",
                                       "median", "right", "over 1.01x"});
  for (const json& arm : ablation.at("arms")) {
    if (arm.at("control").get<bool>()) continue;
    std::vector<std::string> cells{fmt::format("`{}`", arm.at("arm").get<std::string>()), arm.at("title"),
                                   speedup(arm.at("mean_speedup")), speedup(arm.at("median_speedup")),
                                   percent(arm.at("success_rate")), percent(arm.at("faster_rate"))};
    const json paper = arm.at("published").is_object() ? arm.at("published") : json::object();
    const double tasks = paper.value("tasks", 1.0);
    for (const std::string& cell : {speedup(paper.value("mean_speedup", json())),
                                    speedup(paper.value("median_speedup", json())),
                                    percent(paper.value("successes", json()), tasks),
                                    percent(paper.value("faster", json()), tasks)})
      cells.push_back(cell);
    text += markdown_row(cells);
  }
  return text +
         "\nOurs: the best program of each task and seed, over PyTorch's eager kernels as the judge times them; mean "
         "and median where there is a success. The paper: 250 tasks of KernelBench on an A100. Tasks, model and budget are "
         "others: what can be compared is the order of the arms.\n\n";
}

std::string figures_table(const json& ablation, bool controls) {
  std::string text;
  for (const json& arm : ablation.at("arms")) {
    if (arm.at("control").get<bool>() != controls) continue;
    if (text.empty())
      text = markdown_heading({controls ? "control" : "arm", "log reward, later rounds", "of each seed",
                               "the same, copies counted", "of each seed", "copies", "of each seed",
                               "right at the first sample"});
    const json& figures = arm.at("figures");
    const json& reward = figures.at("reward");
    const json& counted = figures.at("reward_with_copies");
    const json& copies = figures.at("copy_rate");
    const std::string name = arm.at("arm"), title = arm.at("title");
    text += markdown_row({controls ? fmt::format("`{}` {}", name, title) : fmt::format("`{}`", name),
                          with_interval(reward, Form::number), each_seed(reward, Form::number),
                          with_interval(counted, Form::number), each_seed(counted, Form::number),
                          with_interval(copies, Form::share), each_seed(copies, Form::share),
                          with_interval(figures.at("first_success"), Form::share)});
  }
  return text.empty() ? text : text + "\n";
}

std::string stopped_runs(const json& ablation) {
  std::string text;
  for (const json& arm : ablation.at("arms"))
    for (std::size_t i = 0; i < arm.at("stopped").size(); ++i)
      if (const std::string why = arm["stopped"][i]; !why.empty())
        text += fmt::format("- training of `{}` with seed {} ended early: {}\n", arm.at("arm").get<std::string>(),
                            ablation.at("seeds").at(i).dump(), quoted_in_markdown(why));
  return text.empty() ? text : text + "\n";
}

std::string difference_table(const json& ablation) {
  if (ablation.at("differences").empty()) return {};
  std::string text = markdown_heading({"difference", "log reward, later rounds", "of each seed",
                                       "the same, copies counted", "of each seed", "ln of the best", "of each seed"});
  for (const json& pair : ablation.at("differences")) {
    std::vector<std::string> cells{fmt::format("`{}` - `{}`", pair.at("first").get<std::string>(),
                                               pair.at("second").get<std::string>())};
    for (const char* measure : {"reward", "reward_with_copies", "best"}) {
      const json& figure = pair.at("figures").at(measure);
      cells.push_back(with_interval(figure, Form::difference));
      cells.push_back(each_seed(figure, Form::difference));
    }
    text += markdown_row(cells);
  }
  return "Differences, pair by pair (seed by seed, task by task):\n\n" + text +
         "\nAn interval that has 0 in it shows nothing. With few seeds it knows little of how seeds differ: look at "
         "those of each seed as well.\n\n";
}

BarColour colour_of(const json& figure) {
  if (figure.at("low").get<double>() > 0.0) return BarColour::helps;
  return figure.at("high").get<double>() < 0.0 ? BarColour::hurts : BarColour::nothing;
}

ChartBar bar_of(const json& pair, const char* measure) {
  const json& figure = pair.at("figures").at(measure);
  return {.name = pair.at("second"),
          .value = std::exp(figure.at("mean").get<double>()),
          .low = std::exp(figure.at("low").get<double>()),
          .high = std::exp(figure.at("high").get<double>()),
          .colour = colour_of(figure),
          .note = {}};
}

template <class Make>
std::string from_json(const Make& make) try {
  return make();
} catch (const json::exception& problem) {
  throw Error(fmt::format("ablation.json cannot be read: {}", problem.what()));
}

}  // namespace

std::string ablation_section(const json& ablation) {
  return from_json([&] {
    std::string text = protocol(ablation) + paper_table(ablation) + figures_table(ablation, false);
    if (const std::string controls = figures_table(ablation, true); !controls.empty())
      text += "Controls, which must fall behind if scores are read:\n\n" + controls;
    return text + stopped_runs(ablation) + difference_table(ablation);
  });
}

std::string ablation_picture(const json& ablation) {
  return from_json([&] {
    std::vector<ChartGroup> groups{{"log reward of later rounds, copies counted, as a factor", {}},
                                   {"best program of a task, as a factor", {}}};
    for (const json& pair : ablation.at("differences")) {
      if (pair.at("first") != "bucket") continue;
      groups[0].bars.push_back(bar_of(pair, "reward_with_copies"));
      groups[1].bars.push_back(bar_of(pair, "best"));
    }
    if (groups[0].bars.empty()) return std::string();
    return bar_chart(groups, fmt::format("bucket over each other arm{}, with 95% intervals: above 1x bucket is better",
                                         is_predicted(ablation) ? " (predicted speed-ups)" : ""));
  });
}

}  // namespace cudal1
