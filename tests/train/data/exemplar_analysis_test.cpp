// The line of analysis: true of the exemplars, and in step with the program that follows.
#include "train/data/exemplar_analysis.hpp"

#include <gtest/gtest.h>

#include "sample_graphs.hpp"

namespace cudal1 {
namespace {

constexpr const char* plain = "//! fuse gelu_1 softmax_1 : lanes=32 vector=4\n";
constexpr const char* wider = "//! fuse gelu_1 softmax_1 : lanes=64 vector=4\n//! graph\n";
constexpr const char* apart = "//! fuse gelu_1 : vector=4\n//! fuse softmax_1 : lanes=32 vector=4\n//! graph\n";

TEST(ProgramDifferences, NameWhatOneHasAndTheOtherHasNot) {
  EXPECT_EQ(program_differences(wider, plain), "graph, lanes=64");
  EXPECT_EQ(program_differences(plain, wider), "no graph, lanes=32");
  EXPECT_EQ(program_differences(apart, wider), "fuse gelu_1, fuse softmax_1");
  EXPECT_EQ(program_differences("//! graph\n", plain), "no fuse gelu_1 softmax_1, graph");
  EXPECT_EQ(program_differences("//! fold batch_norm_1 into conv2d_1\n//! graph : branches=2\n", "//! graph\n"),
            "fold, branches=2");
  EXPECT_EQ(program_differences(plain, plain), "");
}

TEST(ProgramDifferences, AreAtMostSoManyAndManyNodesAreCounted) {
  EXPECT_EQ(program_differences(wider, plain, 1), "graph");
  EXPECT_EQ(program_differences("//! fuse a_1 b_1 c_1 d_1\n", ""), "fuse 4 nodes with a_1");
}

TEST(ExemplarAnalysis, OfOneSaysItsScoreAndWhatToTry) {
  EXPECT_EQ(analysis_of_exemplars(std::vector<PromptExemplar>{{plain, 1.25}}, wider),
            "Analysis: one program, 1.25; try graph, lanes=64.");
}

TEST(ExemplarAnalysis, OfTwoSaysWhichIsBestAndWhy) {
  const PromptExemplar slow{plain, 1.25}, fast{wider, 1.5};
  EXPECT_EQ(analysis_of_exemplars(std::vector{slow, fast}, apart),
            "Analysis: the second is best, 1.50: graph, lanes=64; try fuse gelu_1, fuse softmax_1.");
  EXPECT_EQ(analysis_of_exemplars(std::vector{fast, slow}, apart),
            "Analysis: the first is best, 1.50: graph, lanes=64; try fuse gelu_1, fuse softmax_1.");
}

//! 1.249 and 1.2451 read the same in the prompt: neither can be called better.
TEST(ExemplarAnalysis, OfScoresThatReadTheSameSaysSo) {
  EXPECT_EQ(analysis_of_exemplars(std::vector<PromptExemplar>{{plain, 1.249}, {apart, 1.2451}}, wider),
            "Analysis: equal, 1.25; try graph, lanes=64.");
}

TEST(ExemplarAnalysis, WithoutExemplarsSaysWhatTakesLongest) {
  EXPECT_EQ(analysis_of_task(sample::chain(), vgpu::find_profile("h200"), plain),
            "Analysis: linear_1 takes longest; try fuse gelu_1 softmax_1.");
}

}  // namespace
}  // namespace cudal1
