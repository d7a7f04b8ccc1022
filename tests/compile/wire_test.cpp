#include "compile/wire.hpp"

#include <gtest/gtest.h>

#include "compile/compile_protocol.hpp"

namespace cudal1 {
namespace {

CompileAnswer sample_answer() {
  CompileAnswer answer;
  answer.outcome = CompileAnswer::Outcome::compiled;
  answer.log = "a warning";
  answer.cubin = std::string("\0\1\xff", 3);
  answer.ptx = "ptx";
  answer.symbols = {{"k<1>", "_Z1kILi1EEv"}};
  return answer;
}

TEST(CompileProtocol, QuestionAndAnswerSurviveTheWire) {
  const CompileQuestion question{std::string("a\0b", 3), {"k"}, {"-x"}, {{"h", "t"}}, {"/i"}, "/lib"};
  const auto asked = decode_question(encode(question));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->source, question.source);
  EXPECT_EQ(asked->headers, question.headers);
  EXPECT_EQ(asked->nvrtc_library, "/lib");
  const auto answered = decode_answer(encode(sample_answer()));
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->cubin, sample_answer().cubin);
  EXPECT_EQ(answered->symbols, sample_answer().symbols);
}

TEST(CompileProtocol, EveryTruncationIsRefused) {
  const std::string bytes = encode(sample_answer());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode_answer(std::string_view(bytes).substr(0, length))) << length;
  EXPECT_FALSE(decode_answer(bytes + "x"));
}

TEST(CompileProtocol, HugeLengthsAndCountsAreRefused) {
  FieldWriter writer;
  writer.number(0).number(UINT64_MAX);
  EXPECT_FALSE(decode_answer(writer.take()));
  FieldWriter counted;
  counted.number(0).text("").text("").text("").number(UINT64_MAX / 2);
  EXPECT_FALSE(decode_answer(counted.take()));
}

}  // namespace
}  // namespace cudal1
