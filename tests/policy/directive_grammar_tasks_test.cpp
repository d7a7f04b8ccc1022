// The grammar of programs for real tasks: the examples, and networks with something for every technique.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "graph/executor.hpp"
#include "graph/task.hpp"
#include "policy/grammar/directive_grammar.hpp"
#include "policy/search/search_policy.hpp"
#include "program_sampler.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

OpGraph with_metas(Task task) {
  infer_metas(task);
  return task.graph;
}

json leaf(const std::string& name, const std::vector<std::int64_t>& shape) {
  return {{"name", name}, {"dtype", "f32"}, {"shape", shape}, {"draw", {{"kind", "normal"}}}};
}

json node(const std::string& name, const std::string& op, const json& args) {
  return {{"name", name}, {"op", "aten::" + op}, {"args", args}};
}

OpGraph task_of(const json& inputs, const json& weights, const json& nodes) {
  const json task{{"format", "cudal1.graph"},
                  {"version", 1},
                  {"name", "task"},
                  {"inputs", inputs},
                  {"weights", weights},
                  {"nodes", nodes},
                  {"outputs", json::array({nodes.back()["name"]})}};
  return with_metas(parse_task(task.dump(), ""));
}

//! Convolutions with something to fold, to lay out, to split, and few channels in the first.
OpGraph convolutions() {
  return task_of(
      json::array({leaf("x", {2, 3, 16, 16})}),
      {leaf("conv1.weight", {16, 3, 3, 3}), leaf("conv1.bias", {16}), leaf("gamma", {16}), leaf("beta", {16}),
       leaf("mean", {16}), leaf("var", {16}), leaf("conv2.weight", {32, 16, 3, 3}), leaf("conv2.bias", {32}),
       leaf("depth.weight", {32, 1, 3, 3}), leaf("fc.weight", {10, 128}), leaf("fc.bias", {10})},
      {node("conv2d_1", "conv2d", {"x", "conv1.weight", "conv1.bias", {1, 1}, {1, 1}}),
       node("batch_norm_1", "batch_norm", {"conv2d_1", "gamma", "beta", "mean", "var", false, 0.1, 1e-5, true}),
       node("relu_1", "relu", {"batch_norm_1"}), node("max_pool2d_1", "max_pool2d", {"relu_1", {2, 2}}),
       node("conv2d_2", "conv2d", {"max_pool2d_1", "conv2.weight", "conv2.bias", {1, 1}, {1, 1}}),
       node("relu_2", "relu", {"conv2d_2"}),
       node("conv2d_3", "conv2d", {"relu_2", "depth.weight", nullptr, {2, 2}, {0, 0}, {1, 1}, 32}),
       node("relu_3", "relu", {"conv2d_3"}), node("avg_pool2d_1", "avg_pool2d", {"relu_3", {2, 2}, {1, 1}}),
       node("flatten_1", "reshape", {"avg_pool2d_1", {2, 128}}),
       node("linear_1", "linear", {"flatten_1", "fc.weight", "fc.bias"}),
       node("softmax_1", "softmax.int", {"linear_1", 1})});
}

//! Layers to merge, a mean to take before one, a diagonal matrix, equal nodes, a scan and a node of weights alone.
OpGraph layers() {
  return task_of(
      json::array({leaf("x", {8, 6, 32})}),
      {leaf("w1", {48, 32}), leaf("b1", {48}), leaf("w2", {40, 48}), leaf("w3", {40, 40}), leaf("d", {40})},
      {node("mul_1", "mul.Tensor", {"w1", 2.0}), node("linear_1", "linear", {"x", "mul_1", "b1"}),
       node("linear_2", "linear", {"linear_1", "w2"}), node("mean_1", "mean.dim", {"linear_2", {1}, false}),
       node("diag_1", "diag", {"d"}), node("mm_1", "mm", {"mean_1", "diag_1"}), node("exp_1", "exp", {"mm_1"}),
       node("exp_2", "exp", {"mm_1"}), node("add_1", "add.Tensor", {"exp_1", "exp_2"}),
       node("mm_2", "mm", {"add_1", "w3"}), node("cumsum_1", "cumsum", {"mm_2", 1}),
       node("relu_1", "relu", {"cumsum_1"}), node("sum_1", "sum.dim_IntList", {"relu_1", {1}, true})});
}

std::vector<fs::path> example_folders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(CUDAL1_SOURCE_DIR) / "examples"))
    if (fs::exists(entry.path() / "graph.json")) folders.push_back(entry.path());
  std::ranges::sort(folders);
  return folders;
}

std::vector<std::pair<std::string, OpGraph>> all_tasks() {
  std::vector<std::pair<std::string, OpGraph>> tasks = {{"convolutions", convolutions()}, {"layers", layers()}};
  for (const fs::path& folder : example_folders())
    tasks.emplace_back(folder.filename().string(), with_metas(load_task(folder)));
  return tasks;
}

std::string grammar_with_code(const OpGraph& graph) {
  DirectiveGrammarOptions options;
  options.with_code = true;
  return directive_grammar(graph, options);
}

TEST(DirectiveGrammarOfTasks, AcceptsWhatTheSearchProposes) {
  std::set<std::string> words;
  int proposals = 0;
  for (const auto& [name, graph] : all_tasks()) {
    GrammarSampler grammar(directive_grammar(graph));
    SearchPolicy policy(graph, vgpu::find_profile("h200"), Random(9));
    std::vector<ScoredProgram> seen;
    const int most = name == "convolutions" || name == "layers" ? 150 : 25;
    for (int i = 0; i < most; ++i) {
      const auto text = policy.propose(seen);
      if (!text) break;
      ++proposals;
      EXPECT_TRUE(grammar.accepts(*text)) << name << "\n" << *text;
      seen.push_back({*text, i % 5 == 0 ? 0.0 : 1.0 + 0.01 * i, 1.0});
      for (const RewriteTechnique* technique : rewrite_techniques())
        if (text->find("//! " + technique->description().directive + " ") != text->npos)
          words.insert(technique->description().directive);
    }
  }
  EXPECT_GT(proposals, 300);
  EXPECT_GE(words.size(), 8u) << "nearly every rewrite comes up";
}

TEST(DirectiveGrammarOfTasks, AcceptsTheExamplesThatAreWellFormed) {
  int accepted = 0, refused = 0;
  for (const fs::path& folder : example_folders()) {
    const OpGraph graph = with_metas(load_task(folder));
    GrammarSampler grammar(grammar_with_code(graph));
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".cu") continue;
      const std::string text = read_file(entry.path());
      const auto plan = plan_program(graph, text);
      const bool is_misread = !plan && plan.failure().status == Status::parse_error;
      EXPECT_TRUE(!plan || grammar.accepts(text)) << entry.path();
      EXPECT_FALSE(is_misread && grammar.accepts(text)) << entry.path();
      ++(plan ? accepted : refused);
    }
  }
  EXPECT_GT(accepted, 60);
  EXPECT_GT(refused, 10);
}

TEST(DirectiveGrammarOfTasks, WhateverIsInItParses) {
  Random random(17);
  int planned = 0, all = 0;
  for (const auto& [name, graph] : all_tasks()) {
    GrammarSampler directives(directive_grammar(graph)), programs(grammar_with_code(graph));
    for (int i = 0; i < 60; ++i) {
      const std::string text = i % 2 == 0 ? directives.sample(random, 10 + random.below(200))
                                          : programs.sample(random, 20 + random.below(300));
      const auto plan = plan_program(graph, text);
      planned += plan ? 1 : 0;
      ++all;
      EXPECT_TRUE(plan || plan.failure().status != Status::parse_error) << name << "\n"
                                                                        << text << "\n"
                                                                        << plan.failure().message;
    }
  }
  EXPECT_GT(planned, 20) << "of " << all;
}

TEST(DirectiveGrammarOfTasks, KnowsNodesThatRewritesAdd) {
  GrammarSampler grammar(directive_grammar(convolutions()));
  for (const char* text :
       {"//! split conv2d_2\n//! fuse conv2d_2_bias relu_2\n", "//! layout * channels_last\n//! fuse conv2d_1_input\n",
        "//! fold batch_norm_1 into conv2d_1\n//! split conv*\n//! fuse conv2d_1_bias relu_1 max_pool2d_1\n",
        "//! fuse conv2d_3 relu_3 avg_pool2d_1 : items=4\n", "//! fuse conv2d_2 relu_2 : tile=64x64x32 stages=3\n"})
    EXPECT_TRUE(grammar.accepts(text)) << text;
  for (const char* text : {"//! fuse relu_2_bias\n", "//! fuse conv2d_4\n", "//! fuse conv2d_2 softmax_1\n",
                           "//! fuse conv2d_2 linear_1\n", "//! layout conv2d_1 channels_first\n"})
    EXPECT_FALSE(grammar.accepts(text)) << text;
}

}  // namespace
}  // namespace cudal1
