// What the search proposes for the tasks of a suite, without a GPU: can it be planned, does NVRTC compile it, how long
// does that take? Verification needs a device and is `optimize`'s.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <map>

#include "base/files.hpp"
#include "base/seconds_since.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "judge/judge.hpp"
#include "policy/search/call_estimate.hpp"
#include "policy/search/search_policy.hpp"
#include "suite/suite.hpp"
#include "suite/task_export.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

struct Wishes {
  int proposals = 20;  //!< for each task
  std::string target = "sm_90";
  bool compile = true, estimates = false;
  std::filesystem::path cubins;  //!< where they are kept; empty: nowhere
};

struct Counts {
  int proposed = 0, compiled = 0;
  double proposing = 0.0, compiling = 0.0, slowest = 0.0;
};

//! With the text beside it.
void keep(const std::filesystem::path& folder, const std::string& name, const std::string& text,
          const std::string& cubin) {
  write_file_atomically(folder / (name + ".cubin"), cubin);
  write_file_atomically(folder / (name + ".cu"), text);
}

//! Texts that did not compile are printed; they are what this program is for.
void compile_one(const Task& task, const std::string& text, const Wishes& wishes, Counts& counts) {
  const auto plan = plan_program(task.graph, text);
  if (!plan) {
    fmt::print("NOT PLANNED: {}\n{}\n", plan.failure().message, text);
    return;
  }
  static NvrtcCompiler compiler;
  const auto begin = Clock::now();
  bool compiled = true;
  if (plan.value().has_launches()) {
    const auto made = compiler.compile({plan.value().code, plan.value().kernels, wishes.target});
    compiled = static_cast<bool>(made);
    if (made && !wishes.cubins.empty())
      keep(wishes.cubins, fmt::format("{}-{}", task.name, counts.compiled + 1), text, made.value().binary);
    if (!made) fmt::print("NOT COMPILED: {}\n{}\n{}\n", made.failure().message, made.failure().details, text);
  }
  const double seconds = seconds_since(begin);
  counts.compiling += seconds;
  counts.slowest = std::max(counts.slowest, seconds);
  counts.compiled += compiled ? 1 : 0;
}

//! Each program after the empty one, step by step.
void print_estimates(const OpGraph& graph, std::vector<std::string> texts) {
  const auto gpu = vgpu::find_profile("h200");
  SearchSpace space(graph);
  texts.insert(texts.begin(), "");
  for (const std::string& text : texts) {
    const auto proposal = proposal_from_text(text);
    const OpGraph* after = proposal ? space.graph_after(proposal->rewrites) : nullptr;
    if (after == nullptr) continue;
    const auto& hoisted = space.hoisted_after(proposal->rewrites);
    fmt::print("{:.1f} us expected\n{}", estimate_call(gpu, *after, *proposal, hoisted).expected_ms * 1e3, text);
    for (const StepEstimate& step : estimate_steps(gpu, *after, *proposal, hoisted))
      fmt::print("  {:9.1f} us {} {}\n", step.expected_ms * 1e3, step.is_library ? "library" : "kernel ", step.nodes);
  }
}

Counts look_at(const Task& task, const Wishes& wishes) {
  Counts counts;
  const auto begin = Clock::now();
  SearchPolicy policy(task.graph, vgpu::find_profile("h200"), Random(1));
  std::vector<ScoredProgram> seen;
  std::vector<std::string> texts;
  for (int i = 0; i < wishes.proposals; ++i) {
    const auto text = policy.propose(seen);
    if (!text) break;
    texts.push_back(*text);
    seen.push_back({*text, 1.0 + 0.01 * i, 0.0});
  }
  counts.proposing = seconds_since(begin);
  if (wishes.estimates) print_estimates(task.graph, texts);
  counts.proposed = static_cast<int>(texts.size());
  if (!texts.empty()) fmt::print("{}", texts.front());
  if (wishes.compile)
    for (const std::string& text : texts) compile_one(task, text, wishes, counts);
  return counts;
}

int run(const std::filesystem::path& folder, const Wishes& wishes) {
  Counts all;
  for (const SuiteTask& suite_task : read_suite(folder).tasks) {
    fmt::print("== {}\n", suite_task.label());
    try {
      const Task task = load_task_with_metas(task_folder_of(suite_task).folder);
      const Counts counts = look_at(task, wishes);
      fmt::print("-- {} nodes, {} proposals in {:.2f} s, {} compiled in {:.2f} s, the slowest {:.2f} s\n",
                 task.graph.nodes.size(), counts.proposed, counts.proposing, counts.compiled, counts.compiling,
                 counts.slowest);
      all.proposed += counts.proposed;
      all.compiled += counts.compiled;
    } catch (const std::exception& problem) {
      fmt::print("FAILED: {}\n", problem.what());
    }
    std::fflush(stdout);
  }
  fmt::print("{} of {} proposals compile\n", all.compiled, all.proposed);
  return all.compiled == all.proposed || !wishes.compile ? 0 : 1;
}

}  // namespace
}  // namespace cudal1

int main(int argc, char** argv) {
  CLI::App app("What the search proposes, planned and compiled");
  std::filesystem::path folder;
  cudal1::Wishes wishes;
  app.add_option("folder", folder, "Tasks, as `cudal1 tasks SUITE --export FOLDER` leaves them")->required();
  app.add_option("--proposals", wishes.proposals, "For each task");
  app.add_option("--target", wishes.target, "GPU to compile for");
  app.add_flag("!--no-compile", wishes.compile, "Plan only");
  app.add_flag("--estimates", wishes.estimates, "What the search expects each step of each proposal to take");
  app.add_option("--cubins", wishes.cubins, "Keeps what was compiled in this folder, for cubin_resources.py");
  CLI11_PARSE(app, argc, argv);
  return cudal1::run(folder, wishes);
}
