// The grammar of a task's programs: what the search proposes is in it, and whatever is in it parses.
#include "policy/grammar/directive_grammar.hpp"

#include <gtest/gtest.h>

#include "policy/search/search_policy.hpp"
#include "program_sampler.hpp"
#include "sample_graphs.hpp"
#include "writer/products/tile_choice.hpp"
#include "writer/technique.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

std::vector<std::pair<std::string, OpGraph>> sample_tasks() {
  return {{"chain", sample::chain()},           {"diamond", sample::diamond()},
          {"two_chains", sample::two_chains()}, {"views", sample::views()},
          {"with_state", sample::with_state()}, {"several_outputs", sample::several_outputs()}};
}

DirectiveGrammarOptions with_code() {
  DirectiveGrammarOptions options;
  options.with_code = true;
  return options;
}

TEST(DirectiveGrammar, AcceptsWhatTheSearchProposes) {
  int proposals = 0;
  for (const auto& [name, graph] : sample_tasks()) {
    GrammarSampler directives(directive_grammar(graph)), programs(directive_grammar(graph, with_code()));
    SearchPolicy policy(graph, vgpu::find_profile("h200"), Random(5));
    std::vector<ScoredProgram> seen;
    for (int i = 0; i < 60; ++i) {
      const auto text = policy.propose(seen);
      if (!text) break;
      ++proposals;
      EXPECT_TRUE(directives.accepts(*text)) << name << "\n" << *text;
      EXPECT_TRUE(programs.accepts(*text)) << name << "\n" << *text;
      seen.push_back({*text, 1.0 + 0.01 * i, 1.0});
    }
  }
  EXPECT_GT(proposals, 100);
}

TEST(DirectiveGrammar, AcceptsEveryParameterThatATechniqueHas) {
  GrammarSampler chain(directive_grammar(sample::chain()));
  int parameters = 0;
  for (const FusionTechnique* technique : fusion_techniques()) {
    const std::string name = technique->description().name;
    const std::string node = name == "pointwise" ? "gelu_1"
                             : name == "rows"    ? "softmax_1"
                             : name == "matmul"  ? "linear_1"
                                                 : "";
    if (node.empty()) continue;
    for (const Parameter& parameter : technique->description().parameters)
      for (const std::string& choice : parameter.choices) {
        ++parameters;
        const std::string line = "//! fuse " + node + " : " + parameter.name + "=" + choice + "\n";
        EXPECT_TRUE(chain.accepts(line)) << line;
        EXPECT_FALSE(chain.accepts("//! fuse " + node + " : " + parameter.name + "=" + choice + "7\n"));
      }
  }
  EXPECT_GT(parameters, 40);
}

TEST(DirectiveGrammar, OfAnswersHasALineOfAnalysisInFront) {
  GrammarSampler chain(directive_grammar(sample::chain(), {.may_be_empty = false, .with_analysis = true}));
  const std::string program = "//! fuse gelu_1\n//! graph\n";
  EXPECT_TRUE(chain.accepts("Analysis: the first is best, 1.20: graph; try \"fuse\" \xC3\xA9.\n" + program));
  EXPECT_TRUE(chain.accepts("Analysis: x\n//! graph"));
  EXPECT_FALSE(chain.accepts(program)) << "no analysis";
  EXPECT_FALSE(chain.accepts("Analysis: \n" + program)) << "an empty one";
  EXPECT_FALSE(chain.accepts("Analysis: two\nlines\n" + program));
  EXPECT_FALSE(chain.accepts("Analysis: two\rlines\n" + program)) << "it would be read as two";
  EXPECT_FALSE(chain.accepts("Analysis: no program\n"));
  EXPECT_FALSE(chain.accepts("Analysis: nor code\nint a;\n" + program));
}

TEST(DirectiveGrammar, HasNothingThatADeclaredPrecisionAloneAllows) {
  GrammarSampler chain(directive_grammar(sample::chain()));
  int left_out = 0;
  for (const Parameter& parameter : product_parameters())
    for (const std::string& choice : parameter.if_declared) {
      ++left_out;
      EXPECT_FALSE(chain.accepts("//! fuse linear_1 : " + parameter.name + "=" + choice + "\n")) << choice;
    }
  EXPECT_EQ(left_out, 2);
}

TEST(DirectiveGrammar, RefusesWhatIsNotWellFormed) {
  GrammarSampler chain(directive_grammar(sample::chain()));
  for (const char* text : {"", "//! graph", "//! graph\n", "//! graph : branches=2\n", "//! fuse gelu_1\n",
                           "//! fuse linear_1 gelu_1", "//! fuse gelu_1 softmax_1 : lanes=32 vector=4\n",
                           "//! split linear_1\n//! fuse linear_1_bias gelu_1\n//! graph\n",
                           "//! fuse linear_1 : tile=128x64x32 stages=3 math=tf32x3\n",
                           "//! fuse linear_1 : math=tf32x3 stages=3\n", "//! fuse gelu_1 linear_1 softmax_1\n",
                           "//! fuse linear_1 softmax_1 : stages=2\n", "//! drop *\n//! hoist gelu_1 softmax_1\n"})
    EXPECT_TRUE(chain.accepts(text)) << text;
  for (const char* text :
       {"//! fuse gelu_2\n", "//! fuse gelu_1 vector=4\n", "//! fuse gelu_1 : vektor=4\n",
        "//! fuse gelu_1 : vector=3\n", "//! fuse gelu_1 : vector=4 vector=4\n", "//! fuse\n",
        "//! fuse gelu_1 : tile=128x64x32\n", "//! graph\n//! graph\n", "//! graph : branches=9\n", "//! fuse x\n",
        "//! kernal gelu_1\n", "fuse gelu_1\n", "//! fuse gelu_1 :\n", "//! fuse linear_1 softmax_1 : lanes=32\n",
        "//! merge linear_1 gelu_1\n", "//! layout linear_1\n", "int a;\n"})
    EXPECT_FALSE(chain.accepts(text)) << text;
}

TEST(DirectiveGrammar, CanAskForAtLeastOneLine) {
  DirectiveGrammarOptions options;
  options.may_be_empty = false;
  GrammarSampler chain(directive_grammar(sample::chain(), options));
  EXPECT_FALSE(chain.accepts(""));
  EXPECT_TRUE(chain.accepts("//! graph\n"));
  EXPECT_TRUE(chain.accepts("//! fuse gelu_1\n"));
}

TEST(DirectiveGrammar, AcceptsKernelsWithTheirCode) {
  GrammarSampler chain(directive_grammar(sample::chain(), with_code()));
  const std::string code =
      "__global__ void soft(const float* x, float* y, int n) { /* a // \\ */ }\n\n#define A \\\n  //! b\n";
  for (const std::string line : {"//! kernel soft replaces softmax_1 : grid=(gelu_1.size(0)) block=256 args=(gelu_1, "
                                 "softmax_1, i32:gelu_1.size(1))\n",
                                 "//! kernel soft<256, 4> replaces softmax_1 gelu_1 : grid=1 args=() cluster=(1, 2) "
                                 "block=(32, 2) shared=4*x.size(-1)\n",
                                 "//! group g replaces *\n//! launch a : grid=1 block=1 args=(p)\n//! launch ns::b : "
                                 "grid=1 block=1 \\\n//!   args=(p, \"fc.weight\")\n",
                                 "//! buffer p f32 [ceil_div(x.size(0), 32), 4] zero\n//! prepare pack : grid=1 "
                                 "block=1 args=(\"fc.weight\", p, f32:1.5e-3/numel(x))\n",
                                 "// a comment\n  /// another\n /\n//\n", "//! fuse gelu_1 : vector=4\n//! graph\n"}) {
    EXPECT_TRUE(chain.accepts(line + code)) << line;
    EXPECT_TRUE(chain.accepts(code + line)) << line;
  }
  for (const std::string line :
       {"//! kernel soft replaces softmax_2 : grid=1 block=1 args=()\n",
        "//! kernel soft replaces softmax_1 grid=1 block=1 args=()\n",
        "//! kernel soft replaces softmax_1 : grid=1 args=()\n",
        "//! kernel soft replaces softmax_1 : grid=1 block=1 args=() grid=2\n",
        "//! launch soft : grid=1 block=1 args=()\n", "//! group g replaces softmax_1\n", "//! buffer p f31 [4]\n",
        "  //! graph\n", "//! kernel soft replaces softmax_1 : grid=x.size(2) block=1 args=()\n",
        "//! prepare p : grid=1 block=1 args=(3)\n", "//!graph\n", "\x01\n"})
    EXPECT_FALSE(chain.accepts(line + code)) << line;
}

TEST(DirectiveGrammar, WhateverIsInItParses) {
  Random random(3);
  int planned = 0, refused = 0;
  for (const auto& [name, graph] : sample_tasks()) {
    GrammarSampler directives(directive_grammar(graph)), programs(directive_grammar(graph, with_code()));
    for (int i = 0; i < 300; ++i) {
      const std::string text = i % 2 == 0 ? directives.sample(random, 10 + random.below(120))
                                          : programs.sample(random, 10 + random.below(400));
      const auto plan = plan_program(graph, text);
      ++(plan ? planned : refused);
      EXPECT_TRUE(plan || plan.failure().status != Status::parse_error) << name << "\n"
                                                                        << text << "\n"
                                                                        << plan.failure().message;
    }
  }
  EXPECT_GT(planned, 20) << "of " << planned + refused;
}

TEST(DirectiveGrammar, HasLinesForAGraphWithoutNodes) {
  sample::GraphBuilder builder;
  builder.output(builder.leaf(ValueKind::input, "x", {4}));
  EXPECT_TRUE(GrammarSampler(directive_grammar(builder.graph)).accepts("//! graph\n"));
  EXPECT_TRUE(GrammarSampler(directive_grammar(builder.graph, with_code())).accepts("int a;\n//! graph\nint b;"));
}

TEST(Parameters, OfAnotherTechniqueAreNoParseError) {
  const auto other = plan_program(sample::chain(), "//! fuse gelu_1 : tile=128x64x32\n");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.failure().status, Status::plan_error);
  const auto unknown = plan_program(sample::chain(), "//! fuse gelu_1 : tiles=128x64x32\n");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.failure().status, Status::parse_error);
}

}  // namespace
}  // namespace cudal1
