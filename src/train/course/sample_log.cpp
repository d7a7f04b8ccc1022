#include "train/course/sample_log.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "train/data/training_example.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

std::int64_t lines_in(const json& state) {
  if (state.is_null()) return 0;
  if (!state.is_number_integer()) throw Error("the state of the samples' log is no number of lines");
  return state.get<std::int64_t>();
}

std::filesystem::path cut_back(const std::filesystem::path& file, std::int64_t lines) {
  keep_first_lines(file, lines);
  return file;
}

bool is_success(const ShapedReward& reward) {
  return reward.kind == SampleKind::success || reward.kind == SampleKind::copy;
}

TrainingExample example_of(const SampledGroup& sampled, std::size_t index, const std::string& task,
                           const std::string& group) {
  const JudgedAnswer& judged = sampled.answers[index];
  TrainingExample example;
  example.task = task;
  example.group = group;
  example.prompt = sampled.prompt;
  example.completion = judged.answer.text;
  example.plan_hash = judged.assessment.outcome.plan_hash;
  example.speedup = is_success(sampled.rewards[index]) ? judged.assessment.outcome.speedup : 0.0;
  example.reward = sampled.rewards[index].reward;
  example.exemplars = sampled.shown.exemplars.size();
  return example;
}

}  // namespace

SampleLog::SampleLog(const std::filesystem::path& file, const json& state)
    : log_(cut_back(file, lines_in(state))), lines_(lines_in(state)) {}

void SampleLog::add(std::int64_t step, std::size_t group, const TrainingTask& task, const SampledGroup& sampled) {
  const std::string name = fmt::format("{}-{}-{}", step, group, sampled.resampled);
  std::string lines;
  for (std::size_t i = 0; i < sampled.answers.size(); ++i) {
    if (sampled.rewards[i].kind == SampleKind::uncounted) continue;
    if (!lines.empty()) lines += '\n';
    lines += to_json_line(example_of(sampled, i, task.task.name, name));
    ++lines_;
  }
  if (!lines.empty()) log_.append(lines);
}

json SampleLog::state() const { return lines_; }

}  // namespace cudal1
