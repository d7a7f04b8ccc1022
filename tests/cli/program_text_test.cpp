#include "cli/program_text.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"

namespace cudal1 {
namespace {

class ProgramTextTest : public testing::Test {
 protected:
  ProgramText read(const std::string& text, const ProgramLimits& limits = {}) {
    write_file_atomically(folder_.path() / "a.cu", text);
    return read_program(folder_.path() / "a.cu", limits);
  }
  TemporaryFolder folder_;
};

TEST_F(ProgramTextTest, IsTheFileWhereThatFits) {
  const ProgramText program = read(std::string(100, 'x'), {.max_text_bytes = 100});
  EXPECT_EQ(program.text, std::string(100, 'x'));
  EXPECT_FALSE(program.failure);
}

TEST_F(ProgramTextTest, KeepsLittleOfWhatIsTooLarge) {
  const std::string large = "// starts like this\n" + std::string(std::size_t{5} << 20, 'x');
  const ProgramText program = read(large);
  ASSERT_TRUE(program.failure);
  EXPECT_EQ(program.failure->status, Status::parse_error);
  EXPECT_EQ(program.failure->message, "the text has 5242900 bytes; a program may have at most 4194304");
  EXPECT_EQ(program.failure->at, (SourcePosition{1, 1}));
  EXPECT_LT(program.text.size(), 2048u);
  for (const std::string& part : {std::string("5242900"), sha256_hex(large), std::string("// starts like this\nxxx")})
    EXPECT_NE(program.text.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace cudal1
