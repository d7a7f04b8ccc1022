#include "suite/selection.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"

namespace cudal1 {
namespace {

SuiteTask task(int level, int id, const std::string& name, const std::string& suite = "paper") {
  SuiteTask made;
  made.suite = suite;
  made.level = level;
  made.id = id;
  made.name = name;
  return made;
}

std::vector<std::string> chosen(const TaskSelection& selection) {
  Suite suite;
  suite.tasks = {task(1, 2, "2_Matmul"), task(1, 19, "19_ReLU"), task(2, 2, "2_Conv_ReLU"),
                 task(2, 2, "2_Conv", "head")};
  SuiteTask plain;
  plain.name = "plain";
  suite.tasks.push_back(plain);
  std::vector<std::string> names;
  for (const SuiteTask& found : select_tasks(suite, selection, "suite")) names.push_back(found.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Selection, WithoutChoiceTakesAll) { EXPECT_EQ(chosen({}).size(), 5u); }

TEST(Selection, PartsMustAllAgree) {
  TaskSelection selection;
  selection.ids = NumberList("1-3");
  EXPECT_EQ(chosen(selection), (Names{"2_Matmul", "2_Conv_ReLU", "2_Conv"}));
  selection.levels = NumberList("2");
  EXPECT_EQ(chosen(selection), (Names{"2_Conv_ReLU", "2_Conv"}));
  selection.suites = {"paper"};
  EXPECT_EQ(chosen(selection), Names{"2_Conv_ReLU"});
}

TEST(Selection, NamesAreGivenWithOrWithoutTheirNumber) {
  TaskSelection selection;
  selection.names = {"ReLU", "2_Conv", "plain", "Conv_Re"};
  EXPECT_EQ(chosen(selection), (Names{"19_ReLU", "2_Conv", "plain"}));
}

TEST(Selection, GlobsMatchNamesOrLabels) {
  TaskSelection selection;
  selection.globs = {"*ReLU"};
  EXPECT_EQ(chosen(selection), (Names{"19_ReLU", "2_Conv_ReLU"}));
  selection.globs = {"level2/*ReLU", "plain"};
  EXPECT_EQ(chosen(selection), (Names{"2_Conv_ReLU", "plain"}));
}

TEST(Selection, OfNothingSaysSo) {
  TaskSelection selection;
  selection.names = {"no such"};
  try {
    chosen(selection);
    FAIL();
  } catch (const Error& problem) {
    EXPECT_STREQ(problem.what(), "suite: none of its 5 tasks is chosen");
  }
  EXPECT_THROW(select_tasks({}, {}, "suite"), Error);
}

TEST(NumberList, TakesNumbersAndRanges) {
  const NumberList list("2,4-10,20");
  for (const int number : {2, 4, 7, 10, 20}) EXPECT_TRUE(list.contains(number)) << number;
  for (const int number : {0, 3, 11, 19, 21}) EXPECT_FALSE(list.contains(number)) << number;
  for (const char* wrong : {"", ",", "a", "3-", "-3", "5-2", "1,,2", "1-2-3", "99999999999"})
    EXPECT_THROW(NumberList{wrong}, UsageError) << wrong;
}

TEST(SuiteShare, EveryTaskIsInExactlyOne) {
  int in_first = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "task_" + std::to_string(i);
    int homes = 0;
    for (int index = 1; index <= 3; ++index) homes += SuiteShare::parse(std::to_string(index) + "/3").contains(name);
    EXPECT_EQ(homes, 1) << name;
    in_first += SuiteShare::parse("1/3").contains(name);
    EXPECT_NE(SuiteShare::parse("1,3/3").contains(name), SuiteShare::parse("2/3").contains(name)) << name;
    EXPECT_TRUE(SuiteShare().contains(name));
  }
  EXPECT_GT(in_first, 60);
  EXPECT_LT(in_first, 140);
}

TEST(SuiteShare, IsWrittenAsAFraction) {
  const SuiteShare share = SuiteShare::parse("2,5-6/8");
  EXPECT_EQ(share.count, 8);
  for (int number = 1; number <= 8; ++number)
    EXPECT_EQ(share.chosen.contains(number), number == 2 || number == 5 || number == 6) << number;
  for (const char* wrong : {"", "2", "0/4", "5/4", "a/b", "1/", "/2", "1/0", "0-2/4", "3-5/4", "1,/4", "2-1/4"}) try {
      SuiteShare::parse(wrong);
      ADD_FAILURE() << wrong;
    } catch (const UsageError& problem) {
      EXPECT_TRUE(std::string(problem.what()).starts_with("'" + std::string(wrong) + "' is no share"))
          << problem.what();
    }
}

}  // namespace
}  // namespace cudal1
