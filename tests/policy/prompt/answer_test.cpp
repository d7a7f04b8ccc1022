// What models say, and the program that is found in it.
#include "policy/prompt/answer.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

constexpr const char* two_lines = "//! fuse add_1 relu_1\n//! graph\n";

void expect_program(std::string_view said, const std::string& program, FinishReason finish = FinishReason::unknown) {
  const Answer answer = read_answer(said, finish);
  EXPECT_EQ(answer.outcome, AnswerOutcome::program) << said << "\n-> " << answer.reason;
  EXPECT_EQ(answer.program, program) << said;
  EXPECT_FALSE(answer.reason.empty());
}

void expect_outcome(std::string_view said, AnswerOutcome outcome, FinishReason finish = FinishReason::unknown) {
  const Answer answer = read_answer(said, finish);
  EXPECT_EQ(to_string(answer.outcome), to_string(outcome)) << said << "\n-> " << answer.reason;
  EXPECT_FALSE(answer.reason.empty());
  EXPECT_EQ(answer.reason.find('\n'), std::string::npos);
}

TEST(Answer, IsFoundInABlockOfAnyLanguage) {
  for (const char* language : {"cuda", "cpp", "c++", "C", "", "CUDA", "text"})
    expect_program(std::string("Here it is:\n```") + language + "\n" + two_lines + "```\nIt is faster.\n", two_lines);
}

TEST(Answer, IsFoundBetweenLongAndOtherFences) {
  expect_program(std::string("````cuda\n// ```\n") + two_lines + "````\n", std::string("// ```\n") + two_lines);
  expect_program(std::string("~~~\n") + two_lines + "~~~\n", two_lines);
  expect_program(std::string("  ```cuda\n") + two_lines + "  ```\n", two_lines);
  expect_program(std::string("Code: ```cuda\n") + two_lines + "```", two_lines);
  expect_program("```//! graph```", "//! graph\n");
  expect_program("```cuda\n//! graph```\nDone.", "//! graph\n");
}

TEST(Answer, KeepsTheCodeOfABlockAsItIs) {
  const std::string program =
      "//! kernel k replaces relu_1 : grid=1 block=32 args=(x, relu_1)\n\n__global__ void k(const float* x, float* y) "
      "{\n"
      "\ty[threadIdx.x] = x[threadIdx.x];  // “as is”\n}\n";
  expect_program("```cuda\n" + program + "```", program);
}

TEST(Answer, OfSeveralBlocksTheLastWithDirectivesCounts) {
  const Answer answer = read_answer(
      "## Performance analysis\nProgram 2:\n```cuda\n//! graph\n```\n## Code\n```cuda\n//! fuse add_1 relu_1\n//! "
      "graph\n"
      "```\nRun it with\n```bash\n./run\n```\n");
  EXPECT_EQ(answer.outcome, AnswerOutcome::program);
  EXPECT_EQ(answer.program, two_lines);
  EXPECT_EQ(answer.reason, "the last of 2 blocks that have directives");
}

TEST(Answer, KernelsInABlockOfTheirOwnAreAdded) {
  const std::string directives = "//! kernel k replaces relu_1 : grid=1 block=1 args=(x, relu_1)\n";
  const std::string code = "__global__ void k(const float* x, float* y) {}\n";
  expect_program("```\n" + directives + "```\nand\n```cuda\n" + code + "```\n", directives + code);
  expect_program(directives + "\n```cuda\n" + code + "```\n", directives + code);
}

TEST(Answer, IsFoundAmongProse) {
  expect_program("I would fuse these.\n\n//! fuse add_1 relu_1\n//! graph\n\nThat saves a launch.", two_lines);
  expect_program("1. `//! fuse add_1 relu_1`\n2. `//! graph`.\n", two_lines);
  expect_program("- //! fuse add_1 relu_1\n> //! graph", two_lines);
}

TEST(Answer, WithCodeIsFoundAmongProse) {
  const std::string program =
      "//! kernel k replaces relu_1 : grid=1 block=1 args=(x, relu_1)\n#include <cuda_fp16.h>\n"
      "__global__ void k(const float* x,\n                  float* y) {\n  if (threadIdx.x) {\n    y[0] = 1;\n  }\n}\n";
  expect_program("Sure!\n" + program + "This is fast.\n", program);
}

TEST(Answer, LinesThatTalkAboutDirectivesAreProse) {
  expect_program("`//! graph` saves launches, so:\n//! fuse add_1 relu_1\n", "//! fuse add_1 relu_1\n");
  expect_outcome("`//! graph` saves launches.", AnswerOutcome::no_program);
}

TEST(Answer, DirectivesWithoutTheirMarkAreMarked) {
  expect_program("```\nfuse add_1 relu_1\ngraph\n```", two_lines);
  expect_program("```cuda\n// ! fuse add_1 relu_1\n  //!graph\n```", "//! fuse add_1 relu_1\n//!graph\n");
  expect_outcome("```\nfuse the nodes\nand go\n```", AnswerOutcome::no_program);
}

TEST(Answer, TypographicQuotesInDirectivesAreMadePlain) {
  expect_program("```\n//! prepare p : grid=1 block=1 args=(“fc.weight”, ‘b’)\u00a0\n__global__ void p() {}\n```",
                 "//! prepare p : grid=1 block=1 args=(\"fc.weight\", 'b') \n__global__ void p() {}\n");
}

TEST(Answer, LineEndsOfAnyKindAreLineEnds) {
  expect_program("```cuda\r\n//! fuse add_1 relu_1\r\n//! graph\r\n```\r\n", two_lines);
  expect_program("//! fuse add_1 relu_1\r//! graph\r", two_lines);
}

TEST(Answer, ThinkingIsRemoved) {
  expect_program(std::string("<think>\n```cuda\n//! drop relu_1\n```\n</think>\n```cuda\n") + two_lines + "```",
                 two_lines);
  expect_program(std::string("perhaps //! drop\n//! drop relu_1\n</think>\n") + two_lines, two_lines);
  expect_outcome("<think>\n```cuda\n//! graph\n```\nor should I", AnswerOutcome::cut_off);
  EXPECT_EQ(read_answer("<think>hm", FinishReason::length).reason, "the answer ends inside its thinking");
}

TEST(Answer, JsonIsUnwrapped) {
  expect_program(R"("```cuda\n//! fuse add_1 relu_1\n//! graph\n```")", two_lines);
  expect_program(R"({"analysis": "x", "program": "//! fuse add_1 relu_1\n//! graph\n"})", two_lines);
  expect_program("```json\n{\"code\": \"//! fuse add_1 relu_1\\n//! graph\"}\n```", two_lines);
  expect_program(R"(//! fuse add_1 relu_1\n//! graph\n)", two_lines);
  expect_outcome(R"({"answer": 7})", AnswerOutcome::no_program);
  expect_outcome(R"({"program": "//! gr)", AnswerOutcome::no_program);
}

TEST(Answer, MarksOfTheConversationAtItsEndAreRemoved) {
  expect_program(std::string(two_lines) + "<|im_end|>\n", two_lines);
  expect_program(std::string(two_lines) + "</s><|endoftext|>", two_lines);
}

TEST(Answer, HasItsHeadedParts) {
  const Answer answer = read_answer(
      "## Performance analysis\nProgram 2 is faster.\nIt fuses.\n\n**2. Algorithm design:**\nFuse all.\n\n### Code\n"
      "```cuda\n# Analysis\n//! graph\n```\nThe end.");
  EXPECT_EQ(answer.analysis, "Program 2 is faster.\nIt fuses.");
  EXPECT_EQ(answer.design, "Fuse all.");
  EXPECT_EQ(answer.program, "# Analysis\n//! graph\n");
}

TEST(Answer, OfTheCompactFormHasOneLineOfAnalysis) {
  const Answer answer = read_answer("Analysis: the second saves a pass; add graph\n//! fuse add_1 relu_1\n//! graph\n",
                                    FinishReason::stop);
  EXPECT_EQ(answer.analysis, "the second saves a pass; add graph");
  EXPECT_EQ(answer.program, two_lines);
}

TEST(Answer, AHeadingIsALineOfItsOwn) {
  const Answer answer = read_answer("Part 1 - Performance Analysis\nDesign is hard.\nCode\n//! graph\n");
  EXPECT_EQ(answer.analysis, "Design is hard.");
  EXPECT_EQ(answer.design, "");
}

TEST(Answer, ThatWasCutOffIsToldApart) {
  const std::string open = std::string("```cuda\n") + two_lines;
  expect_outcome(open, AnswerOutcome::cut_off);
  expect_outcome(open, AnswerOutcome::cut_off, FinishReason::length);
  EXPECT_EQ(read_answer(open, FinishReason::length).program, two_lines);
  expect_program(open, two_lines, FinishReason::stop);
  expect_outcome(two_lines, AnswerOutcome::cut_off, FinishReason::length);
  expect_outcome("## Performance analysis\nThe first", AnswerOutcome::cut_off, FinishReason::length);
  expect_outcome("```cuda\n__global__ void k() {", AnswerOutcome::cut_off, FinishReason::length);
  expect_program(open + "```\nThis program is", two_lines, FinishReason::length);
}

TEST(Answer, WithoutAProgramIsToldApart) {
  expect_outcome("", AnswerOutcome::no_program);
  expect_outcome(" \n\t", AnswerOutcome::no_program);
  expect_outcome("The softmax takes most of the time.", AnswerOutcome::no_program);
  expect_outcome("```python\nclass ModelNew: pass\n```", AnswerOutcome::no_program);
  EXPECT_EQ(read_answer("").reason, "the answer is empty");
}

TEST(Answer, ARefusalIsToldApart) {
  expect_outcome("I cannot help with writing CUDA kernels.", AnswerOutcome::refusal);
  expect_outcome("", AnswerOutcome::refusal, FinishReason::refusal);
  expect_outcome("I\u2019m sorry, but as an AI language model…", AnswerOutcome::refusal);
  expect_program(std::string("I cannot measure it here, but:\n") + two_lines, two_lines);
}

TEST(Answer, AnEmptyProgramIsToldApart) {
  expect_outcome("```cuda\n```", AnswerOutcome::empty_program);
  expect_outcome("The library is best here.\n```cuda\n// nothing to do\n\n```", AnswerOutcome::empty_program);
  const Answer answer = read_answer("```cuda\n__global__ void k() {}\n```");
  EXPECT_EQ(answer.outcome, AnswerOutcome::empty_program);
  EXPECT_NE(answer.reason.find("no directive"), std::string::npos);
  EXPECT_EQ(answer.program, "__global__ void k() {}\n");
}

TEST(Answer, AForgottenFenceDoesNotSwallowTheNextBlock) {
  expect_program(std::string("```cuda\n//! drop relu_1\n\n```cuda\n") + two_lines + "```\n", two_lines);
}

}  // namespace
}  // namespace cudal1
