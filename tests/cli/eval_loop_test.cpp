#include "cli/eval_loop.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "archive/archive.hpp"
#include "base/files.hpp"

namespace cudal1 {
namespace {

struct Outcome {
  int exit_code = 0;
  std::string output, errors;
};

Outcome run(const EvalLoop& loop, bool as_json = false) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int exit_code = run_eval_loop(loop, {"a GPU", as_json, false});
  return {exit_code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

//! Three programs, a real archive, and a judge that has its verdicts from the test.
class EvalLoopTest : public testing::Test {
 protected:
  EvalLoopTest() {
    loop_.programs = {"a.cu", "b.cu", "c.cu"};
    loop_.judge_next = [this](double) {
      if (judged_ == 1) before_second_();
      Evaluation evaluation;
      evaluation.task = "task";
      evaluation.program = loop_.programs[judged_++];
      evaluation.status = status_;
      return evaluation;
    };
    loop_.best_known = [this] { return static_cast<double>(archive_.best("task", "a GPU", 1).size()); };
    loop_.record = [this](std::size_t program, const Evaluation& evaluation) {
      EvaluationRecord record;
      record.status = to_string(evaluation.status);
      record.json = "{}";
      archive_.record({"task", "task", "{}"}, loop_.programs[program], record);
    };
  }

  //! From a connection of its own, as another process would.
  void change_archive(const char* statement) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  void refuse_records() {
    change_archive(
        "CREATE TRIGGER refuse BEFORE INSERT ON evaluations BEGIN SELECT RAISE(ABORT, 'no room\nat all'); END");
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "archive.sqlite";
  Archive archive_{path_};
  EvalLoop loop_;
  std::size_t judged_ = 0;
  Status status_ = Status::ok;
  std::function<void()> before_second_ = [] {};
};

TEST_F(EvalLoopTest, JudgesRecordsAndPrintsEverything) {
  const Outcome outcome = run(loop_);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.errors, "");
  for (const std::string& program : loop_.programs) EXPECT_NE(outcome.output.find(program), std::string::npos);
  EXPECT_EQ(archive_.count(), 3);
}

//! What has left for whoever reads standard output; what is still in a buffer has not.
off_t bytes_written() {
  struct stat status {};
  EXPECT_EQ(::fstat(STDOUT_FILENO, &status), 0);
  return status.st_size;
}

TEST_F(EvalLoopTest, PrintsEachVerdictAsSoonAsItIsKnown) {
  off_t before_second = 0;
  before_second_ = [&] { before_second = bytes_written(); };
  const Outcome outcome = run(loop_);
  const std::string seen = outcome.output.substr(0, static_cast<std::size_t>(before_second));
  EXPECT_EQ(std::count(seen.begin(), seen.end(), '\n'), 2) << seen;  // the heading and the first
  EXPECT_NE(seen.find("\na.cu "), std::string::npos) << seen;
  EXPECT_EQ(outcome.output.find("a.cu"), outcome.output.rfind("a.cu")) << "once";
}

TEST_F(EvalLoopTest, JsonIsOneDocumentInTheEnd) {
  off_t before_second = 0;
  before_second_ = [&] { before_second = bytes_written(); };
  EXPECT_EQ(nlohmann::json::parse(run(loop_, true).output).at("results").size(), 3u);
  EXPECT_EQ(before_second, 0);
}

TEST_F(EvalLoopTest, WhatOthersNamedCannotChangeTheTable) {
  loop_.programs = {"a\033[2J.cu", "b\nc.cu ok 9.99x", "c\u202e.cu"};
  const Outcome outcome = run(loop_);
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 4) << outcome.output;
  for (const char* shown : {"a\\x1b[2J.cu", "b\\nc.cu ok 9.99x", "c\\u202e.cu"})
    EXPECT_NE(outcome.output.find(shown), std::string::npos) << outcome.output;
}

TEST_F(EvalLoopTest, AnArchiveThatFailsMidwayCostsNoResultAndIsReportedOnceInOneLine) {
  before_second_ = [this] { refuse_records(); };
  const Outcome outcome = run(loop_);
  EXPECT_EQ(outcome.exit_code, 1);
  for (const std::string& program : loop_.programs) EXPECT_NE(outcome.output.find(program), std::string::npos);
  EXPECT_EQ(outcome.errors.rfind("cudal1: " + path_.string(), 0), 0u) << outcome.errors;
  EXPECT_NE(outcome.errors.find("no room"), std::string::npos) << outcome.errors;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  EXPECT_EQ(archive_.count(), 1);
}

TEST_F(EvalLoopTest, AnArchiveThatFailsLeavesTheJsonWhole) {
  refuse_records();
  const Outcome outcome = run(loop_, true);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(outcome.output).at("results").size(), 3u);
}

TEST_F(EvalLoopTest, RecordsAgainOnceTheArchiveCan) {
  refuse_records();
  before_second_ = [this] { change_archive("DROP TRIGGER refuse"); };
  EXPECT_EQ(run(loop_).exit_code, 1);
  EXPECT_EQ(archive_.count(), 2);
}

TEST_F(EvalLoopTest, AnArchiveThatCannotBeReadStopsNothingEither) {
  change_archive("DROP TABLE evaluations");
  const Outcome outcome = run(loop_);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(judged_, 3u);
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
}

TEST_F(EvalLoopTest, AnArchiveThatCannotBeOpenedCostsNoResultAndIsReportedOnceInOneLine) {
  loop_.why_no_archive = "archive.sqlite: no room\nat all";
  const Outcome outcome = run(loop_);
  EXPECT_EQ(outcome.exit_code, 1);
  for (const std::string& program : loop_.programs) EXPECT_NE(outcome.output.find(program), std::string::npos);
  EXPECT_EQ(outcome.errors.rfind("cudal1: archive.sqlite: no room", 0), 0u) << outcome.errors;
  EXPECT_NE(outcome.errors.find("nothing is recorded"), std::string::npos) << outcome.errors;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
}

TEST_F(EvalLoopTest, AFailureOfTheJudgeIsAnExitCodeWithoutALineOfItsOwn) {
  status_ = Status::judge_error;
  const Outcome outcome = run(loop_);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors, "");
}

}  // namespace
}  // namespace cudal1
