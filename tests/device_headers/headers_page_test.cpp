// docs/headers.md has every header, and its example as it is judged (tests/judge judges all of examples/).
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "header_files.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

TEST(HeadersPage, HasASectionOfEveryHeader) {
  const std::string page = read_file(fs::path(CUDAL1_SOURCE_DIR) / "docs" / "headers.md");
  for (const std::string& header : testing::device_headers())
    EXPECT_NE(page.find("## <cudal1/" + header + ".cuh>\n"), std::string::npos) << header;
}

TEST(HeadersPage, QuotesTheExampleOfEveryHeader) {
  const std::string page = read_file(fs::path(CUDAL1_SOURCE_DIR) / "docs" / "headers.md");
  for (const std::string& header : testing::device_headers()) {
    const fs::path example = testing::example_of(header);
    ASSERT_FALSE(example.empty()) << "there is no examples/TASK/ok-header_" << header << ".cu";
    const std::string text = read_file(example);
    EXPECT_NE(text.find("#include <cudal1/" + header + ".cuh>\n"), std::string::npos) << example;
    EXPECT_NE(page.find("```cuda\n" + text + "```\n"), std::string::npos)
        << "docs/headers.md does not quote " << example << " as it is";
  }
}

}  // namespace
}  // namespace cudal1
