// The data of stage 1, without measuring anything: how fast variants are made, and how long pairs are in tokens.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "graph/executor.hpp"
#include "model/files/open_model.hpp"
#include "model/tokenizer/tokenizer.hpp"
#include "policy/search/reference_time.hpp"
#include "train/data/supervised_data.hpp"
#include "train/data/written_out.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

struct Options {
  std::size_t tasks = 50, variants = 24, pairs = 1200;
  std::uint64_t seed = 1;
  std::filesystem::path model, pairs_file;
};

std::vector<TrainingTask> generated_tasks(const Options& options, const vgpu::GpuProfile& gpu) {
  std::vector<TrainingTask> tasks;
  GenerationOptions generation;
  generation.count = options.tasks;
  generation.seed = options.seed;
  generation.split = TaskSplit::train;
  const auto with_metas = [](const GeneratedTask& generated) {
    TrainingTask task{generated.family, parse_task(generated.graph_json, "")};
    infer_metas(task.task);
    return task;
  };
  generation.accept = [&](const GeneratedTask& task) {
    return is_expected_within(gpu, with_metas(task).task.graph, TimeBounds{});
  };
  for (const GeneratedTask& task : generate_tasks(generation)) tasks.push_back(with_metas(task));
  return tasks;
}

//! Scores are drawn: what is counted here does not depend on them.
std::vector<TaskVariants> variants_of(const std::vector<TrainingTask>& tasks, const vgpu::GpuProfile& gpu,
                                      const Options& options) {
  Random random(options.seed);
  std::vector<TaskVariants> all;
  for (const TrainingTask& task : tasks) {
    TaskVariants& made = all.emplace_back(TaskVariants{&task, {}});
    for (ProgramVariant& variant : program_variants(task.task.graph, gpu, {.count = options.variants}, random))
      made.variants.push_back({std::move(variant), 0.5 + 2.0 * random.uniform()});
  }
  return all;
}

void print_plans(const std::vector<TaskVariants>& tasks) {
  std::size_t all = 0, planned = 0, same = 0;
  for (const TaskVariants& task : tasks)
    for (const ScoredVariant& variant : task.variants) {
      const OpGraph& graph = task.task->task.graph;
      ++all;
      planned += plan_program(graph, variant.program.text) ? 1 : 0;
      const auto plan = plan_program(graph, written_out(graph, variant.program.text).value_or(""));
      same += plan && plan.value().hash == variant.program.plan_hash ? 1 : 0;
    }
  fmt::print("{} variants, {} become plans, {} written out become the same ones\n", all, planned, same);
}

struct Lengths {
  std::vector<std::size_t> tokens;
  void print(const char* what) {
    if (tokens.empty()) return;
    std::ranges::sort(tokens);
    double sum = 0.0;
    for (const std::size_t each : tokens) sum += static_cast<double>(each);
    fmt::print("{}: {} texts, {:.0f} tokens on average, {} at the median, {} at 90%, {} at most\n", what, tokens.size(),
               sum / static_cast<double>(tokens.size()), tokens[tokens.size() / 2], tokens[tokens.size() * 9 / 10],
               tokens.back());
  }
};

void print_lengths(const SupervisedData& data, const TokenCounter& count) {
  Lengths prompts, directives, written, analyses;
  for (const TrainingExample& example : data.examples) {
    prompts.tokens.push_back(count(example.prompt));
    (example.form == ProgramForm::directives ? directives : written).tokens.push_back(count(example.completion));
    analyses.tokens.push_back(count(example.completion.substr(0, example.completion.find('\n'))));
  }
  prompts.print("prompts");
  directives.print("answers by directives");
  written.print("answers written out");
  analyses.print("lines of analysis");
  fmt::print("left out: {} prompts too long, {} answers too long, {} pairs not filled\n", data.counts.too_long_prompt,
             data.counts.too_long_answer, data.counts.unfilled);
}

void run(const Options& options) {
  const vgpu::GpuProfile gpu = vgpu::find_profile("h200");
  const std::vector<TrainingTask> tasks = generated_tasks(options, gpu);
  auto start = std::chrono::steady_clock::now();
  const std::vector<TaskVariants> variants = variants_of(tasks, gpu, options);
  std::size_t count = 0;
  for (const TaskVariants& task : variants) count += task.variants.size();
  fmt::print("{:.0f} variants/s on one core\n", static_cast<double>(count) / seconds_since(start));
  print_plans(variants);
  SupervisedDataOptions data_options{.pairs = options.pairs, .prompt = {.gpu = gpu}};
  std::optional<Tokenizer> tokenizer;
  if (!options.model.empty()) {
    tokenizer.emplace(open_model(options.model)->tokenizer());
    data_options.prompt.count_tokens = [&](std::string_view text) { return tokenizer->encode(text).size(); };
  }
  Random random(options.seed);
  start = std::chrono::steady_clock::now();
  const SupervisedData data = supervised_data(variants, data_options, random);
  fmt::print("{:.0f} pairs/s on one core\n", static_cast<double>(data.examples.size()) / seconds_since(start));
  print_lengths(data, data_options.prompt.count_tokens);
  data_options.prompt.answer_tokens = data_options.prompt.written_out_tokens = 4000;
  data_options.prompt.context_tokens = 8192;
  fmt::print("without limits\n");
  print_lengths(supervised_data(variants, data_options, random), data_options.prompt.count_tokens);
  if (!options.pairs_file.empty()) write_examples(options.pairs_file, data.examples);
}

}  // namespace
}  // namespace cudal1

int main(int argc, char** argv) {
  cudal1::Options options;
  CLI::App app("How fast the data of stage 1 is made, and how long it is");
  app.add_option("--tasks", options.tasks, "Generated tasks");
  app.add_option("--variants", options.variants, "Programs for each");
  app.add_option("--pairs", options.pairs, "Pairs of all");
  app.add_option("--seed", options.seed, "Of tasks, variants and pairs");
  app.add_option("--model", options.model, "Whose tokenizer counts; otherwise three bytes are a token");
  app.add_option("--write", options.pairs_file, "Where to write the pairs (JSONL)");
  CLI11_PARSE(app, argc, argv);
  try {
    cudal1::run(options);
  } catch (const cudal1::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
