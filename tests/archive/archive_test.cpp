#include "archive/archive.hpp"

#include <thread>
#include <vector>

#include "archive/database.hpp"
#include "archive/schema.hpp"
#include "archive_fixture.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"

namespace cudal1 {
namespace {

TEST_F(ArchiveTest, EveryFieldSurvivesAReopen) {
  EvaluationRecord written = example_evaluation();
  written.speedup = 1.51;
  written.speedup_low = 1.49;
  written.speedup_high = 1.53;
  written.reference_ms = 0.25;
  written.candidate_ms = 0.125;
  written.deterministic = false;
  written.error_message = "none";
  written.error_line = 3;
  written.error_column = 7;
  written.json = R"({"a": "ü"})";
  Archive(path_).record(example_task, "text", written);

  const auto records = Archive(path_).evaluations("task-1");
  ASSERT_EQ(records.size(), 1u);
  const EvaluationRecord& read = records[0];
  EXPECT_EQ(read.id, 1);
  EXPECT_EQ(read.task_hash, "task-1");
  EXPECT_EQ(read.program_hash, sha256_hex("text"));
  EXPECT_EQ(read.plan_hash, "plan-1");
  EXPECT_EQ(read.device, "cuda");
  EXPECT_EQ(read.gpu, "NVIDIA H200");
  EXPECT_EQ(read.target, "sm_90");
  EXPECT_EQ(read.status, "ok");
  EXPECT_EQ(read.reward, 1.5);
  EXPECT_EQ(read.speedup, 1.51);
  EXPECT_EQ(read.speedup_low, 1.49);
  EXPECT_EQ(read.speedup_high, 1.53);
  EXPECT_EQ(read.reference_ms, 0.25);
  EXPECT_EQ(read.candidate_ms, 0.125);
  EXPECT_EQ(read.deterministic, false);
  EXPECT_EQ(read.mode, "fast");
  EXPECT_EQ(read.precision, "default");
  EXPECT_EQ(read.error_message, "none");
  EXPECT_EQ(read.error_line, 3);
  EXPECT_EQ(read.error_column, 7);
  EXPECT_EQ(read.json, written.json);
  EXPECT_EQ(read.version, "0.1.0");
  EXPECT_EQ(read.created, "2025-01-02T03:04:05Z");
}

TEST_F(ArchiveTest, WhatAStatusLeavesOpenStaysOpen) {
  Archive archive(path_);
  archive.record(example_task, "text", example_evaluation("compile_error", {}));
  const EvaluationRecord read = archive.evaluations("task-1").at(0);
  EXPECT_FALSE(read.reward);
  EXPECT_FALSE(read.candidate_ms);
  EXPECT_FALSE(read.deterministic);
}

TEST_F(ArchiveTest, TextsWithZerosAndAnyBytesSurvive) {
  const std::string text("a\0b\0\0 € 語 \xff\xfe end\0", 22);
  Archive(path_).record(example_task, text, example_evaluation());
  Archive archive(path_);
  EXPECT_EQ(archive.best("task-1", "NVIDIA H200", 1).at(0).program_text, text);
  EXPECT_EQ(archive.program_text(sha256_hex(text)), text);
  archive.record(example_task, "", example_evaluation());
  EXPECT_EQ(archive.program_text(sha256_hex("")), "");
  EXPECT_FALSE(archive.program_text("unknown"));
}

TEST_F(ArchiveTest, BestGivesTheFastestProgramsOfThatTaskAndGpu) {
  Archive archive(path_);
  for (const double reward : {1.1, 3.0, 2.0})
    archive.record(example_task, std::to_string(reward), example_evaluation("ok", reward));
  EvaluationRecord elsewhere = example_evaluation("ok", 9.0);
  elsewhere.gpu = "another GPU";
  archive.record(example_task, "elsewhere", elsewhere);
  archive.record({"task-2", "other", "{}"}, "other task", example_evaluation("ok", 8.0));
  archive.record(example_task, "failed", example_evaluation("wrong_result", {}));

  const auto best = archive.best("task-1", "NVIDIA H200", 2);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].program_text, std::to_string(3.0));
  EXPECT_EQ(best[1].program_text, std::to_string(2.0));
  EXPECT_EQ(archive.best("task-1", "NVIDIA H200", 10).size(), 3u);
}

TEST_F(ArchiveTest, TheNewestEvaluationOfAProgramIsTheOneThatCounts) {
  Archive archive(path_);
  archive.record(example_task, "lucky", example_evaluation("ok", 5.0));
  archive.record(example_task, "dropped", example_evaluation("ok", 4.0));
  archive.record(example_task, "lucky", example_evaluation("ok", 1.2));
  archive.record(example_task, "dropped", example_evaluation("unstable", {}));
  const auto best = archive.best("task-1", "NVIDIA H200", 10);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].program_text, "lucky");
  EXPECT_EQ(best[0].evaluation.reward, 1.2);
}

TEST_F(ArchiveTest, FindGivesTheNewestMeasurementOfThePlan) {
  Archive archive(path_);
  archive.record(example_task, "a", example_evaluation("ok", 1.5));
  archive.record(example_task, "b", example_evaluation("ok", 1.6));
  archive.record(example_task, "c", example_evaluation("judge_error", {}));
  EXPECT_EQ(archive.find({"plan-1", "task-1", "NVIDIA H200"}).value().reward, 1.6);
  EXPECT_TRUE(archive.find({"plan-1", "task-1", "NVIDIA H200", "fast", "default"}));
  EXPECT_FALSE(archive.find({"plan-1", "task-1", "NVIDIA H200", "result"}));
  EXPECT_FALSE(archive.find({"plan-1", "task-1", "NVIDIA H200", "", "strict"}));
  EXPECT_FALSE(archive.find({"plan-2", "task-1", "NVIDIA H200"}));
  EXPECT_FALSE(archive.find({"plan-1", "task-2", "NVIDIA H200"}));
  EXPECT_FALSE(archive.find({"plan-1", "task-1", "another GPU"}));
}

TEST_F(ArchiveTest, WhatWasUnstableIsNotKnownUntilItIsMeasuredAgain) {
  Archive archive(path_);
  const MeasurementKey key{"plan-1", "task-1", "NVIDIA H200"};
  archive.record(example_task, "a", example_evaluation("ok", 1.5));
  archive.record(example_task, "a", example_evaluation("unstable", {}));
  EXPECT_FALSE(archive.find(key)) << "what was measured before is in doubt as well";
  archive.record(example_task, "a", example_evaluation("judge_error", {}));
  EXPECT_FALSE(archive.find(key));
  archive.record(example_task, "a", example_evaluation("ok", 1.6));
  EXPECT_EQ(archive.find(key).value().reward, 1.6);
}

TEST_F(ArchiveTest, TextsThatNeverBecameAPlanAreNotFoundByTheirEmptyHash) {
  Archive archive(path_);
  EvaluationRecord evaluation = example_evaluation("parse_error", {});
  evaluation.plan_hash = "";
  archive.record(example_task, "garbage", evaluation);
  EXPECT_FALSE(archive.find({"", "task-1", "NVIDIA H200"}));
  EXPECT_EQ(archive.count(), 1);
}

TEST_F(ArchiveTest, AVersionOneFileIsMigratedWithItsRecords) {
  {
    Database old(path_);
    open_schema(old, 1);
    ASSERT_EQ(old.query_number("PRAGMA user_version"), 1);
    ASSERT_NE(error_of([&] { old.query_text("SELECT precision FROM evaluations"); }), "");
    old.execute(
        "INSERT INTO tasks VALUES ('task-1', 'n', '{}', 't'); INSERT INTO programs VALUES ('p', 'text', 't');"
        "INSERT INTO evaluations VALUES (7, 'task-1', 'p', 'plan-1', 'cuda', 'NVIDIA H200', 'sm_90', 'ok', 2.5, NULL,"
        " NULL, NULL, NULL, NULL, 1, 'fast', '', 0, 0, '{}', '0', 't')");
  }
  Archive archive(path_);
  const auto records = archive.evaluations("task-1");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].id, 7);
  EXPECT_EQ(records[0].reward, 2.5);
  EXPECT_EQ(records[0].precision, "");
  EXPECT_EQ(archive.best("task-1", "NVIDIA H200", 1).at(0).program_text, "text");
  EXPECT_EQ(archive.record(example_task, "new", example_evaluation()), 8);
  Database migrated(path_);
  EXPECT_EQ(migrated.query_number("PRAGMA user_version"), newest_schema_version);
  EXPECT_EQ(migrated.query_text("SELECT name FROM sqlite_master WHERE name = 'evaluations_by_reward'"),
            "evaluations_by_reward");
}

TEST_F(ArchiveTest, AFailedMigrationLeavesTheOldVersion) {
  {
    Database old(path_);
    open_schema(old, 1);
    old.execute("CREATE TABLE evaluations_by_reward (stands_in_the_way)");
  }
  EXPECT_NE(error_of([&] { Archive archive(path_); }).find(path_.string()), std::string::npos);
  Database old(path_);
  EXPECT_EQ(old.query_number("PRAGMA user_version"), 1);
  EXPECT_NE(error_of([&] { old.query_text("SELECT precision FROM evaluations"); }), "")
      << "the first half of the step was undone as well";
}

TEST_F(ArchiveTest, ANewerVersionIsRefused) {
  {
    Database database(path_);
    open_schema(database);
    database.execute("PRAGMA user_version = 99");
  }
  const std::string message = error_of([&] { Archive archive(path_); });
  EXPECT_NE(message.find(path_.string()), std::string::npos) << message;
  EXPECT_NE(message.find("version 99"), std::string::npos) << message;
  EXPECT_EQ(Database(path_).query_number("PRAGMA user_version"), 99);
}

TEST_F(ArchiveTest, GarbageIsRefusedAndLeftUntouched) {
  for (const std::string& garbage :
       {std::string("x"), std::string("SQLite format 2\0 and no more"), std::string(100'000, '\xab')}) {
    write_file_atomically(path_, garbage);
    const std::string message = error_of([&] { Archive archive(path_); });
    EXPECT_NE(message.find(path_.string()), std::string::npos) << message;
    EXPECT_NE(message.find("not a database"), std::string::npos) << message;
    EXPECT_TRUE(read_file(path_) == garbage);
  }
}

TEST_F(ArchiveTest, AnotherProgramsDatabaseIsRefusedAndLeftUntouched) {
  Database(path_).execute("CREATE TABLE addresses (name TEXT)");
  const std::string before = read_file(path_);
  const std::string message = error_of([&] { Archive archive(path_); });
  EXPECT_NE(message.find("another program's database"), std::string::npos) << message;
  EXPECT_TRUE(read_file(path_) == before);
}

TEST_F(ArchiveTest, AFolderThatCannotBeMadeIsAnErrorWithItsPath) {
  write_file_atomically(path_, "a file");
  const std::string message = error_of([&] { Archive archive(path_ / "below" / "archive.sqlite"); });
  EXPECT_NE(message.find(path_.string()), std::string::npos) << message;
}

TEST_F(ArchiveTest, ARecordThatCannotBeWrittenLeavesNothingBehind) {
  Archive archive(path_);
  Database(path_).execute(
      "CREATE TRIGGER no_more BEFORE INSERT ON evaluations BEGIN SELECT RAISE(ABORT, 'no more'); END");
  const std::string message = error_of([&] { archive.record(example_task, "text", example_evaluation()); });
  EXPECT_NE(message.find("no more"), std::string::npos) << message;
  EXPECT_FALSE(archive.program_text(sha256_hex("text"))) << "the program was rolled back with its evaluation";
  Database(path_).execute("DROP TRIGGER no_more");
  archive.record(example_task, "text", example_evaluation());
  EXPECT_EQ(archive.count(), 1);
}

TEST_F(ArchiveTest, ManyThreadsMayRecordThroughOneArchive) {
  Archive archive(path_);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&archive, thread] {
      for (int i = 0; i < 25; ++i) {
        archive.record(example_task, std::to_string(thread * 100 + i), example_evaluation());
        archive.best("task-1", "NVIDIA H200", 3);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(archive.count(), 100);
}

}  // namespace
}  // namespace cudal1
