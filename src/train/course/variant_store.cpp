#include "train/course/variant_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "train/reward_shaping.hpp"
#include "train/stages/turns.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

json to_json(const ScoredVariant& variant) {
  return {{"text", variant.program.text},
          {"plan_hash", variant.program.plan_hash},
          {"techniques", variant.program.techniques},
          {"speedup", variant.speedup}};
}

ScoredVariant variant_from(const json& said) {
  return {{said.at("text").get<std::string>(), said.at("plan_hash").get<std::string>(),
           said.at("techniques").get<std::vector<std::string>>()},
          said.at("speedup").get<double>()};
}

//! From the task's own name: the order in which tasks come does not matter.
std::uint64_t number_of(const std::string& text) { return std::stoull(sha256_hex(text).substr(0, 16), nullptr, 16); }

}  // namespace

VariantStore::VariantStore(const std::filesystem::path& file, VariantStoreOptions options)
    : file_(file), options_(std::move(options)), found_(read(file)) {}

//! A line that a kill cut short is as good as none.
VariantStore::FoundByTask VariantStore::read(const std::filesystem::path& file) {
  FoundByTask all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const json said = json::parse(line, nullptr, false);
    if (!said.is_object()) continue;
    Found found{said.at("tried").get<std::size_t>(), {}, said.value("gpu", "")};
    for (const json& each : said.at("right")) found.right.push_back(variant_from(each));
    all[said.at("hash").get<std::string>()] = std::move(found);
  }
  return all;
}

bool VariantStore::complete(std::span<const TrainingTask> tasks, Assessor& assessor) {
  if (!options_.known.empty()) take_over(missing(tasks));
  const std::vector<const TrainingTask*> to_judge = missing(tasks);
  for (std::size_t first = 0; first < to_judge.size(); first += options_.tasks_at_once) {
    options_.progress(tasks.size() - to_judge.size() + first, tasks.size());
    if (options_.stop()) return false;
    judge(std::span(to_judge).subspan(first, std::min(options_.tasks_at_once, to_judge.size() - first)), assessor);
  }
  if (options_.stop()) return false;  // perhaps while the last ones were judged
  if (!to_judge.empty()) options_.progress(tasks.size(), tasks.size());
  return true;
}

std::vector<const TrainingTask*> VariantStore::missing(std::span<const TrainingTask> tasks) const {
  std::vector<const TrainingTask*> those;
  for (const TrainingTask& task : tasks)
    if (!found_.contains(task.task.hash)) those.push_back(&task);
  return those;
}

//! Speed-ups of another GPU would be shown beside this one's.
void VariantStore::take_over(std::span<const TrainingTask* const> tasks) {
  if (tasks.empty()) return;  // a run that goes on does not need the file any more
  if (!std::filesystem::exists(options_.known))
    throw Error(fmt::format("{}: there is no such file", options_.known.string()));
  FoundByTask known = read(options_.known);
  LineLog log(file_);
  for (const TrainingTask* task : tasks) {
    const auto found = known.find(task->task.hash);
    if (found == known.end()) continue;
    const std::string& gpu = found->second.measured_on;
    if (gpu != options_.measured_on)
      throw Error(fmt::format("{}: measured on {}, but this run measures on {}", options_.known.string(),
                              gpu.empty() ? "a GPU that it does not name" : gpu, options_.measured_on));
    keep(*task, std::move(found->second), log);
  }
}

void VariantStore::keep(const TrainingTask& task, Found found, LineLog& log) {
  json right = json::array();
  for (const ScoredVariant& each : found.right) right.push_back(to_json(each));
  const json line{{"task", task.task.name},
                  {"hash", task.task.hash},
                  {"tried", found.tried},
                  {"right", right},
                  {"gpu", found.measured_on}};
  log.append(line.dump());
  found_[task.task.hash] = std::move(found);
}

void VariantStore::judge(std::span<const TrainingTask* const> tasks, Assessor& assessor) {
  std::vector<SubmittedProgram> programs;
  std::vector<std::vector<ProgramVariant>> variants;
  for (const TrainingTask* task : tasks) {
    Random random(seed_of(options_.seed, {number_of(task->task.hash)}));
    variants.push_back(
        program_variants(task->task.graph, options_.gpu,
                         {.count = options_.variants, .least_replaced_share = options_.least_replaced_share}, random));
    for (const ProgramVariant& variant : variants.back()) programs.push_back({task, variant.text});
  }
  const std::vector<Assessment> assessments = assessor.assess(programs);
  if (options_.stop()) return;  // what was judged while somebody asked to stop is not believed
  LineLog log(file_);
  std::size_t next = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Found found{variants[i].size(), {}, options_.measured_on};
    const std::string empty = assessor.empty_plan_hash(*tasks[i]);
    for (ProgramVariant& variant : variants[i]) {
      const SampleOutcome& outcome = assessments[next++].outcome;
      if (outcome.status == Status::ok && is_success(outcome, empty, options_.least_replaced_share))
        found.right.push_back({std::move(variant), outcome.speedup});
    }
    keep(*tasks[i], std::move(found), log);
  }
}

TaskVariants VariantStore::of(const TrainingTask& task) const {
  const auto found = found_.find(task.task.hash);
  if (found == found_.end()) throw Error(fmt::format("{}: nothing was tried for it", task.task.name));
  return {&task, found->second.right};
}

VariantCounts VariantStore::counts() const {
  VariantCounts counts;
  for (const auto& [hash, found] : found_) {
    counts.tried += found.tried;
    counts.right += found.right.size();
  }
  return counts;
}

}  // namespace cudal1
