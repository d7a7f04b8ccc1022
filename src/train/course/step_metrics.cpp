#include "train/course/step_metrics.hpp"

namespace cudal1 {
namespace {

double per_second(double count, double seconds) { return seconds > 0.0 ? count / seconds : 0.0; }

//! What every step has that writes and judges before it learns.
template <class Step>
void add_rollout(const Step& step, StepNumbers& made) {
  made.report.tokens_per_s = per_second(static_cast<double>(step.spent.new_tokens), step.spent.writing);
  made.report.evaluations_per_s = per_second(static_cast<double>(step.spent.programs), step.spent.judging);
  if (step.has_update) {
    made.metrics.emplace_back("loss", step.update.loss);
    made.metrics.emplace_back("gradient_length", step.update.gradient_length);
    made.report.loss = step.update.loss;
  }
  const Metrics rollout = {{"learning_rate", step.learning_rate},
                           {"tokens_per_s", *made.report.tokens_per_s},
                           {"evaluations_per_s", *made.report.evaluations_per_s},
                           {"writing_s", step.spent.writing},
                           {"judging_s", step.spent.judging},
                           {"learning_s", step.learning_seconds}};
  made.metrics.insert(made.metrics.end(), rollout.begin(), rollout.end());
  made.why_skipped = step.update.why_skipped;
}

}  // namespace

StepNumbers numbers_of(const SupervisedStep& step) {
  const SupervisedUpdate& update = step.update;
  const double tokens_per_s = per_second(static_cast<double>(update.tokens), step.seconds);
  StepNumbers made;
  made.metrics = {{"loss", update.loss},
                  {"learning_rate", step.learning_rate},
                  {"gradient_length", update.gradient_length},
                  {"tokens", static_cast<double>(update.tokens)},
                  {"tokens_per_s", tokens_per_s}};
  made.report.loss = update.loss;
  made.report.tokens_per_s = tokens_per_s;
  made.why_skipped = update.why_skipped;
  return made;
}

StepNumbers numbers_of(const SelfSupervisedStep& step) {
  StepNumbers made;
  made.metrics = {{"success_rate", step.success_rate},     {"reward", step.reward},
                  {"best_speedup", step.best_speedup},     {"mean_log_speedup", step.mean_log_speedup},
                  {"distinct_plans", step.distinct_plans}, {"learned", static_cast<double>(step.learned)}};
  made.report.reward = step.reward;
  made.report.success_rate = step.success_rate;
  made.report.best = step.best_speedup;
  made.report.distinct_plans = step.distinct_plans;
  add_rollout(step, made);
  return made;
}

StepNumbers numbers_of(const ContrastiveStep& step) {
  const GroupFigures& figures = step.figures;
  StepNumbers made;
  if (figures.samples == 0) {  // left out before anything was known of its answers
    add_rollout(step, made);
    return made;
  }
  made.metrics = {{"reward", figures.reward},
                  {"success_rate", figures.success_rate},
                  {"best_speedup", figures.best_speedup},
                  {"mean_log_speedup", figures.mean_log_speedup},
                  {"distinct_plans", figures.distinct_plans},
                  {"entropy", figures.entropy},
                  {"tie_share", figures.counts.tie_share()},
                  {"groups_trained", static_cast<double>(figures.counts.trained)},
                  {"groups_all_failed", static_cast<double>(figures.counts.all_failed)},
                  {"copy_share", figures.copy_rate},
                  {"cache_hit_share", figures.known_rate},
                  {"measured_again_share", figures.measured_again_rate},
                  {"largest_trick_share", figures.trick.share}};
  StepReport& report = made.report;
  report.reward = figures.reward;
  report.success_rate = figures.success_rate;
  report.best = figures.best_speedup;
  report.distinct_plans = figures.distinct_plans;
  report.entropy = figures.entropy;
  if (step.has_update) {
    report.kl = step.update.kl;
    const Metrics of_update = {{"kl", step.update.kl},
                               {"clipped_share", step.update.clipped_share},
                               {"largest_ratio", step.update.largest_ratio},
                               {"sampler_gap", step.update.sampler_gap}};
    made.metrics.insert(made.metrics.end(), of_update.begin(), of_update.end());
  }
  report.tie_share = figures.counts.tie_share();
  report.copy_share = figures.copy_rate;
  report.cache_hit_share = figures.known_rate;
  add_rollout(step, made);
  return made;
}

StepNumbers with_gpu_idle(StepNumbers numbers, const std::optional<GpuIdle>& idle) {
  if (!idle) return numbers;
  numbers.report.gpu_idle_share = idle->share;
  const Metrics further = {
      {"gpu_idle_share", idle->share}, {"gpu_unlocked_share", idle->unlocked_share}, {"wall_s", idle->seconds}};
  numbers.metrics.insert(numbers.metrics.end(), further.begin(), further.end());
  return numbers;
}

}  // namespace cudal1
