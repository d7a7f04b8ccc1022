// Variants of programs for generated tasks: right, distinct, varied, and with every parameter said.
#include "train/data/program_variants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "generated_training_tasks.hpp"
#include "policy/grammar/directive_grammar.hpp"
#include "policy/prompt/answer.hpp"
#include "policy/search/all_parameters.hpp"
#include "policy/search/openings.hpp"
#include "program_sampler.hpp"
#include "tasks/families.hpp"
#include "train/data/supervised_data.hpp"
#include "train/data/written_out.hpp"
#include "train/rollout/answer_grammars.hpp"
#include "writer/technique.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

using testing::training_tasks;

const vgpu::GpuProfile& h200() {
  static const vgpu::GpuProfile gpu = vgpu::find_profile("h200");
  return gpu;
}

const std::vector<TrainingTask>& tasks() {
  static const std::vector<TrainingTask> all = training_tasks(42, 5);
  return all;
}

std::vector<ProgramVariant> variants_of(const TrainingTask& task, std::uint64_t seed, std::size_t count = 12) {
  Random random(seed);
  return program_variants(task.task.graph, h200(), {.count = count}, random);
}

std::string hash_of(const OpGraph& graph, const std::string& text) {
  const auto plan = plan_program(graph, text);
  return plan ? plan.value().hash : plan.failure().message;
}

TEST(AllParameters, GiveTheSamePlanAsWithoutThem) {
  for (const TrainingTask& task : tasks()) {
    SearchSpace space(task.task.graph);
    for (const Proposal& opening : opening_proposals(space, h200())) {
      const auto said = with_all_parameters(task.task.graph, opening);
      ASSERT_TRUE(said) << to_text(opening);
      EXPECT_EQ(hash_of(task.task.graph, to_text(*said)), hash_of(task.task.graph, to_text(opening)))
          << to_text(opening) << to_text(*said);
    }
  }
}

TEST(AllParameters, AreSaidForEveryFusion) {
  for (const TrainingTask& task : tasks())
    for (const ProgramVariant& variant : variants_of(task, 1)) {
      const Proposal proposal = *proposal_from_text(variant.text);
      for (const Fusion& fusion : proposal.fusions) {
        EXPECT_FALSE(fusion.parameters.empty());
        for (const auto& [name, value] : fusion.parameters) EXPECT_NE(value, "auto");
      }
    }
}

//! No technique writes it, and where it takes most of the time no program is a success.
bool has_library_attention(const OpGraph& graph) {
  return std::ranges::any_of(
      graph.nodes, [](const Node& node) { return node.op.find("scaled_dot_product_attention") != std::string::npos; });
}

TEST(ProgramVariants, BecomePlansThatAreAllDifferent) {
  for (const TrainingTask& task : tasks()) {
    std::set<std::string> plans = {hash_of(task.task.graph, "")};
    const auto variants = variants_of(task, 2);
    if (!has_library_attention(task.task.graph)) {
      EXPECT_EQ(variants.size(), 12u) << task.task.name;
    }
    for (const ProgramVariant& variant : variants) {
      EXPECT_EQ(hash_of(task.task.graph, variant.text), variant.plan_hash) << variant.text;
      EXPECT_TRUE(plans.insert(variant.plan_hash).second);
      EXPECT_FALSE(variant.techniques.empty());
    }
  }
}

//! A model that is held to the grammar must be able to say what it was taught.
TEST(ProgramVariants, AreTextsOfTheTasksGrammar) {
  for (const TrainingTask& task : tasks()) {
    GrammarSampler grammar(directive_grammar(task.task.graph));
    GrammarSampler with_code(directive_grammar(task.task.graph, {.with_code = true}));
    for (const ProgramVariant& variant : variants_of(task, 9, 6)) {
      const std::string written = written_out(task.task.graph, variant.text).value_or("");
      EXPECT_TRUE(grammar.accepts(variant.text)) << variant.text;
      EXPECT_TRUE(with_code.accepts(written)) << written;
    }
  }
}

//! Every third variant of each task, with scores that say nothing.
SupervisedData pairs_of(const std::vector<TrainingTask>& all, std::size_t pairs) {
  std::vector<TaskVariants> taught;
  for (const TrainingTask& task : all) {
    taught.push_back({&task, {}});
    for (ProgramVariant& variant : variants_of(task, 11, 6))
      taught.back().variants.push_back({std::move(variant), 0.8 + 0.1 * static_cast<double>(taught.size() % 9)});
  }
  std::erase_if(taught, [](const TaskVariants& each) { return each.variants.empty(); });
  Random random(12);
  return supervised_data(taught, {.pairs = pairs, .prompt = {.gpu = h200(), .context_tokens = 8192, .answer_tokens = 600,
                                                             .written_out_tokens = 8000}},
                         random);
}

//! Stage 1 teaches answers; the later stages hold the model to their grammar.
TEST(TaughtAnswers, AreAnswersOfTheTasksGrammar) {
  const SupervisedData taught = pairs_of(tasks(), 400);
  std::map<std::string, const TrainingTask*> by_name;
  std::set<std::string> families, taught_families;
  for (const TrainingTask& task : tasks()) by_name[task.task.name] = &task;
  for (const ModuleFamily& family : module_families()) families.emplace(family.name);
  std::map<std::string, GrammarSampler> grammars;
  const auto grammar_of = [&](const TrainingExample& example) -> GrammarSampler& {
    DirectiveGrammarOptions options{.may_be_empty = false, .with_analysis = true};
    options.with_code = example.form == ProgramForm::written_out;
    const std::string name = example.task + std::string(to_string(example.form));
    const OpGraph& graph = by_name.at(example.task)->task.graph;
    return grammars.try_emplace(name, directive_grammar(graph, options)).first->second;
  };
  for (const TrainingExample& example : taught.examples) {
    taught_families.insert(by_name.at(example.task)->family);
    EXPECT_TRUE(grammar_of(example).accepts(example.completion)) << example.task << "\n" << example.completion;
    EXPECT_LT(example.completion.find('\n'), most_analysis_bytes / 2) << "long ones are cut off";
  }
  EXPECT_GT(taught.examples.size(), 300U);
  EXPECT_EQ(taught_families, families);
}

TEST(ProgramVariants, FollowFromTheRandomAlone) {
  const auto texts = [](std::uint64_t seed) {
    std::vector<std::string> made;
    for (const ProgramVariant& variant : variants_of(tasks().front(), seed)) made.push_back(variant.text);
    return made;
  };
  EXPECT_EQ(texts(3), texts(3));
  EXPECT_NE(texts(3), texts(4));
}

//! Over all tasks: with and without a graph, several sets of nodes, several values of a parameter.
TEST(ProgramVariants, AreVaried) {
  int graphs = 0, all = 0;
  std::size_t node_sets = 0, values = 0;
  for (const TrainingTask& task : tasks()) {
    std::set<std::set<std::string>> sets;
    std::set<std::string> parameters;
    for (const ProgramVariant& variant : variants_of(task, 6)) {
      const Proposal proposal = *proposal_from_text(variant.text);
      graphs += proposal.cuda_graph ? 1 : 0;
      ++all;
      for (const Fusion& fusion : proposal.fusions) {
        sets.insert(fusion.nodes);
        for (const auto& [name, value] : fusion.parameters) parameters.insert(name + "=" + value);
      }
    }
    node_sets += sets.size();
    values += parameters.size();
  }
  EXPECT_GT(graphs, all / 4);
  EXPECT_LT(graphs, all * 3 / 4);
  EXPECT_GT(node_sets, 2 * tasks().size());
  EXPECT_GT(values, 10 * tasks().size());
}

TEST(WrittenOut, IsTheSamePlanWithoutTheWriter) {
  for (const TrainingTask& task : tasks())
    for (const ProgramVariant& variant : variants_of(task, 7, 6)) {
      const auto text = written_out(task.task.graph, variant.text);
      ASSERT_TRUE(text) << variant.text;
      EXPECT_EQ(text->find("//! fuse"), text->npos);
      EXPECT_EQ(hash_of(task.task.graph, *text), variant.plan_hash) << *text;
    }
}

TEST(WrittenOut, IsReadFromAnAnswerAsItWasWritten) {
  for (const TrainingTask& task : tasks())
    for (const ProgramVariant& variant : variants_of(task, 8, 4)) {
      const auto text = written_out(task.task.graph, variant.text);
      for (const std::string& program : {variant.text, *text}) {
        const Answer answer =
            read_answer("Analysis: softmax_1 takes longest; try graph.\n" + program, FinishReason::stop);
        ASSERT_EQ(answer.outcome, AnswerOutcome::program) << program;
        EXPECT_EQ(answer.program, program);
      }
    }
}

}  // namespace
}  // namespace cudal1
