#include "train/report/run_curves.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cudal1 {
namespace {

//! A curve, by the column of metrics.csv that it shows.
struct Column {
  const char* name;
  const char* legend = "";
  bool is_log = false;  //!< of a speed-up, which is shown itself
};

struct PanelOfColumns {
  const char* title;
  const char* y_label;
  ChartScale scale;
  std::vector<Column> columns;
};

std::vector<PanelOfColumns> panels_of(const std::string& stage) {
  const PanelOfColumns learning_rate{"gradient", "length before clipping", ChartScale::linear, {{"gradient_length"}}};
  if (stage == "supervised")
    return {{"loss on pairs", "nats a token", ChartScale::linear, {{"loss"}}}, learning_rate};
  if (stage == "self_supervised")
    return {{"success", "share of answers", ChartScale::share, {{"success_rate"}}},
            {"log reward, copies counted", "mean of samples that count", ChartScale::linear, {{"reward"}}},
            {"speed-up of successes", "over the reference", ChartScale::speedup,
             {{"best_speedup", "best of a step"}, {"mean_log_speedup", "geometric mean", true}}},
            {"loss on own successes and pairs", "nats a token", ChartScale::linear, {{"loss"}}},
            {"different plans", "of a prompt's answers", ChartScale::linear, {{"distinct_plans"}}},
            {"own successes learned", "answers a step", ChartScale::linear, {{"learned"}}}};
  return {{"reward", "mean of samples that count", ChartScale::linear, {{"reward"}}},
          {"success", "share of samples that count", ChartScale::share, {{"success_rate"}}},
          {"speed-up of successes", "over the reference", ChartScale::speedup,
           {{"best_speedup", "best of a step"}, {"mean_log_speedup", "geometric mean", true}}},
          {"different plans", "of a group", ChartScale::linear, {{"distinct_plans"}}},
          {"entropy", "nats a token", ChartScale::linear, {{"entropy"}}},
          {"KL to the policy of stage 2", "nats a token", ChartScale::linear, {{"kl"}}},
          {"what teaches nothing", "share of samples, of groups", ChartScale::share,
           {{"copy_share", "samples: copies"}, {"tie_share", "groups: ties"}}},
          {"what is earned how", "share of reward, of successes", ChartScale::share,
           {{"largest_trick_share", "reward: one trick's"}, {"measured_again_share", "successes: measured twice"}}}};
}

ChartPanel filled(const PanelOfColumns& said, const RunRecord& run, const std::string& stage) {
  ChartPanel panel{.title = said.title, .y_label = said.y_label, .scale = said.scale, .curves = {}};
  if (said.scale == ChartScale::speedup && run.is_predicted().value_or(false)) panel.title = "predicted " + panel.title;
  for (const Column& column : said.columns) {
    ChartCurve curve{column.legend, run.metrics.curve(stage, column.name)};
    if (column.is_log) {
      // A step without a success has 0 there, which is no speed-up of 1x.
      const std::vector<ChartPoint> best = run.metrics.curve(stage, "best_speedup");
      for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const bool has_success = i >= best.size() || best[i].y > 0.0;
        curve.points[i].y = has_success ? std::exp(curve.points[i].y) : 0.0;
      }
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

std::string title_of(const RunRecord& run, const std::string& stage) {
  const std::string judged = stage == "supervised" ? std::string() : fmt::format(" Judged on {}.", run.judged_on());
  return fmt::format("{}, stage {}. Points: steps. Line: mean of {} neighbours.{}", run.name(), stage,
                     smoothing_width(run.metrics.steps(stage)), judged);
}

}  // namespace

std::vector<StagePicture> stage_pictures(const RunRecord& run) {
  std::vector<StagePicture> pictures;
  for (const StageProgress& stage : run.stages) {
    if (stage.steps == 0) continue;
    std::vector<ChartPanel> panels;
    for (const PanelOfColumns& each : panels_of(stage.stage)) panels.push_back(filled(each, run, stage.stage));
    pictures.push_back({stage.stage, line_chart(panels, title_of(run, stage.stage))});
  }
  return pictures;
}

}  // namespace cudal1
