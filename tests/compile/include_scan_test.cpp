#include "compile/include_scan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "compile/program_headers.hpp"

namespace cudal1 {
namespace {

std::string only_name(std::string_view source) {
  const auto found = scan_includes(source);
  return found.size() == 1 ? found[0].name : "found " + std::to_string(found.size());
}

TEST(IncludeScan, FindsNamesAndLines) {
  const auto found = scan_includes("//! graph\n#include <a.h>\n\n  #  include \"b.h\"  // why\nint x;\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a.h");
  EXPECT_EQ(found[0].line, 2);
  EXPECT_EQ(found[1].name, "b.h");
  EXPECT_EQ(found[1].line, 4);
}

TEST(IncludeScan, SeesThroughDisguises) {
  EXPECT_EQ(only_name("#inc\\\nlude <a.h>\n"), "a.h");
  EXPECT_EQ(only_name("#inc\\ \r\nlude <a.h>\n"), "a.h");
  EXPECT_EQ(only_name("#/* x */include/**/<a.h>"), "a.h");
  EXPECT_EQ(only_name("/* a\n*/ #include <a.h>"), "a.h");
  EXPECT_EQ(only_name("%:include <a.h>"), "a.h");
  EXPECT_EQ(only_name("#\\\n  include \"a.h\""), "a.h");
  EXPECT_EQ(only_name("int n = 1'000'000;\n#include <a.h>"), "a.h");
  EXPECT_EQ(only_name("char c = '\"';\n#include <a.h>"), "a.h");
  EXPECT_EQ(only_name("const char* s = \"\\\\\";\n#include <a.h>"), "a.h");
  EXPECT_EQ(only_name("auto s = R\"x(\")x\";\n#include <a.h>"), "a.h");
  EXPECT_EQ(only_name("auto s = u8R\"x(\")x\";\n#include <a.h>"), "a.h");
  for (const std::string word : {"FOR", "OR", "1R", "u8", "lR"})  // not raw: the string ends at its second quote
    EXPECT_EQ(only_name("f(" + word + "\"(\");\n#include <a.h>\n// )\""), "a.h") << word;
}

TEST(IncludeScan, IgnoresWhatIsNoDirective) {
  EXPECT_TRUE(scan_includes("// #include <a.h>\n/* \n#include <b.h>\n*/\n").empty());
  EXPECT_TRUE(scan_includes("auto s = R\"(\n#include <a.h>\n)\";").empty());
  EXPECT_TRUE(scan_includes("// a comment goes on \\\n#include <a.h>\n").empty());
  EXPECT_TRUE(scan_includes("int x; #include <a.h>\n").empty());
  EXPECT_TRUE(scan_includes("#define include\n#pragma once\n").empty());
}

TEST(IncludeScan, MarksComputedIncludes) {
  EXPECT_TRUE(scan_includes("#include NAME")[0].computed);
  EXPECT_TRUE(scan_includes("#include_next <a.h>")[0].computed);
  EXPECT_FALSE(scan_includes("#include <a.h>")[0].computed);
}

TEST(IncludeScan, SurvivesGarbage) {
  std::string garbage;
  unsigned state = 1;
  for (int i = 0; i < 200'000; ++i) {
    state = state * 1664525u + 1013904223u;
    garbage += "#include<>\"'\\\nR(/*a1"[(state >> 16) % 21];
  }
  for (const auto& directive : scan_includes(garbage)) EXPECT_GE(directive.line, 1);
  scan_includes("#include <");
  scan_includes("R\"");
  scan_includes("\\");
  scan_includes("/*");
}

TEST(RefusedInclude, NamesTheHeaderItsLineAndTheWayOut) {
  const auto headers = read_program_headers({});
  const auto refused = refused_include("#include <cmath>\n#include <vector>\n", headers);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, Status::forbidden);
  EXPECT_EQ(refused->at.line, 2);
  EXPECT_NE(refused->message.find("header <vector> is not offered to programs"), std::string::npos);
  EXPECT_NE(refused_include("#include <torch/extension.h>", headers)->message.find("no host code"), std::string::npos);
}

TEST(RefusedInclude, AdvisesHeadersOfOurOwnWhereThereAreSome) {
  const auto advice = [](const std::map<std::string, std::string>& headers) {
    return refused_include("#include <vector>\n", headers)->message;
  };
  EXPECT_EQ(advice({}).find("<cudal1/"), std::string::npos) << advice({});
  EXPECT_NE(advice({{"cudal1/reduce.h", ""}}).find("or <cudal1/...>"), std::string::npos);
}

TEST(RefusedInclude, NamesTheDirectiveThatIsRefused) {
  const auto message = [](const std::string& source) { return refused_include(source, {})->message; };
  EXPECT_EQ(message("#embed \"/etc/passwd\"\n"),
            "#embed /etc/passwd is refused; programs read no files: write the values out as a __constant__ table");
  EXPECT_EQ(message("#include_next <math.h>\n"),
            "#include_next math.h is refused; write #include <name> with a plain name");
  EXPECT_EQ(message("#include NAME\n"), "#include NAME has no plain name; write #include <name> with a plain name");
}

TEST(RefusedInclude, RefusesPathsThatLeaveTheFolders) {
  const auto headers = read_program_headers({});
  for (const char* name :
       {"/etc/passwd", "../secret.h", "cuda/../../../etc/passwd", "cub/block/../../x", "", "iostream"})
    EXPECT_TRUE(refused_include("#include \"" + std::string(name) + "\"", headers)) << name;
  EXPECT_TRUE(refused_include("#define F <math.h>\n#include F", headers));
}

}  // namespace
}  // namespace cudal1
