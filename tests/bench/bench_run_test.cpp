// A whole bench on the processor, with real exports and workers; a script stands in for the process that judges.
#include "bench/bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "bench/compile_ahead.hpp"
#include "bridge/module_worker.hpp"
#include "chain_task.hpp"
#include "worker_fixture.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

class BenchRunTest : public WorkerTest {
 protected:
  static constexpr std::uint64_t device_bytes = std::uint64_t{1} << 40;

  void SetUp() override {
    WorkerTest::SetUp();
    fs::create_directories(tries_);
    setenv("CUDAL1_CACHE_DIR", (folder_.path() / "cache").c_str(), 1);
    setenv("CUDAL1_TEST_TRIES", tries_.c_str(), 1);
  }

  //! Whose judge says so this many times.
  SuiteTask task(const std::string& name, int times, const std::string& status, const std::string& error) {
    const fs::path path = module(name, "return x + 1");
    const std::string text = read_file(path);
    std::ofstream(path) << fmt::format("# {} {} {}\n{}", times, status, error, text);
    SuiteTask result;
    result.name = name;
    result.path = path;
    result.place = path.string();
    return result;
  }

  static BenchOptions options(std::uint64_t bytes) {
    BenchOptions options;
    options.baselines = {"eager"};
    options.device = "cpu";
    options.gpu = "the processor";
    options.jobs = 2;
    options.timing.seconds = 0.05;
    options.device_bytes = bytes;
    return options;
  }

  std::ptrdiff_t tries(const std::string& name) const {
    return std::distance(fs::directory_iterator(tries_ / name), fs::directory_iterator());
  }

  //! That judged these.
  std::set<std::string> processes_of(const std::vector<std::string>& names) const {
    std::set<std::string> processes;
    for (const std::string& name : names)
      for (const auto& mark : fs::directory_iterator(tries_ / name)) {
        const std::string text = mark.path().filename().string();
        processes.insert(text.substr(0, text.find('_')));
      }
    return processes;
  }

  fs::path tries_ = folder_.path() / "tries";
};

// Shares grow from nothing to a quarter, a half and all of it.
TEST_F(BenchRunTest, WhoIsShortOfMemoryIsJudgedAgainWithMoreUntilItHasHadEverything) {
  const std::vector<SuiteTask> tasks{
      task("second_share", 1, "crashed", "CUDA error: out of memory"),
      task("everything", 3, "failed", "the program needs 46.5 GiB of device memory, 43.3 GiB are free"),
      task("too_large", 99, "out_of_memory", "too large"), task("wrong", 99, "wrong_result", "out of memory, it says")};
  const std::vector<BenchRow> rows = run_bench(tasks, options(device_bytes), {}, {});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].status, "ok") << rows[0].error;
  EXPECT_EQ(rows[1].status, "ok") << rows[1].error;
  EXPECT_EQ(rows[2].status, "out_of_memory");
  EXPECT_EQ(rows[2].error, "too large");
  EXPECT_EQ(rows[3].status, "wrong_result");
  EXPECT_EQ(tries("second_share"), 2);
  EXPECT_EQ(tries("everything"), 4);
  EXPECT_EQ(tries("too_large"), 4);
  EXPECT_EQ(tries("wrong"), 1) << "that is a verdict";
}

TEST_F(BenchRunTest, JudgesAgainAloneWhatWasTooLateBesideOthers) {
  const std::vector<SuiteTask> tasks{task("late_once", 1, "timeout", "not finished"),
                                     task("always_late", 99, "timeout", "not finished")};
  BenchOptions beside = options(device_bytes);
  beside.gpu_id = "GPU-of-this-test";
  const std::vector<BenchRow> rows = run_bench(tasks, beside, {}, {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, "ok") << rows[0].error;
  EXPECT_EQ(rows[1].status, "timeout");
  EXPECT_EQ(tries("late_once"), 2);
  EXPECT_EQ(tries("always_late"), 2);
}

TEST_F(BenchRunTest, AJudgeThatGoesIsARowAndAnotherComes) {
  BenchOptions one_by_one = options(device_bytes);
  one_by_one.jobs = 1;
  const std::vector<BenchRow> rows = run_bench({task("first", 0, "ok", "whoever has most to say comes first"),
                                                task("crash", 99, "failed", "gone"), task("last", 0, "ok", "")},
                                               one_by_one, {}, {});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].status, "ok") << rows[0].error;
  EXPECT_EQ(rows[1].status, "failed");
  EXPECT_EQ(rows[1].error, "judging ended with exit code 3");
  EXPECT_EQ(rows[2].status, "ok") << rows[2].error;
  EXPECT_EQ(tries("crash"), 2) << "a process of its own decides";
  EXPECT_EQ(processes_of({"first", "crash"}).size(), 2u) << "as long as it lives, one process judges all";
  EXPECT_EQ(processes_of({"first", "crash", "last"}).size(), 3u);
}

TEST_F(BenchRunTest, AJudgeThatFailedJudgesNoOthers) {
  BenchOptions one_by_one = options(device_bytes);
  one_by_one.jobs = 1;
  const std::vector<BenchRow> rows =
      run_bench({task("first", 1, "judge_error", "whoever has most to say comes first"), task("second", 0, "ok", "")},
                one_by_one, {}, {});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, "judge_error");
  EXPECT_EQ(rows[1].status, "ok") << rows[1].error;
  EXPECT_EQ(processes_of({"first", "second"}).size(), 2u);
}

TEST_F(BenchRunTest, ATaskWhoseTimesDoNotSettleIsARowThatSaysSo) {
  BenchOptions quick = options(device_bytes);
  quick.timing = {.seconds = 0.0, .rounds_at_once = 7};
  std::vector<std::string> measured;
  BenchEvents events;
  events.took = [&](const std::string& what, double, const std::string& task, const std::string&) {
    if (what == "measured") measured.push_back(task);
  };
  const std::vector<BenchRow> rows =
      run_bench({task("wild", 0, "ok", "restless"), task("tame", 0, "ok", "")}, quick, {}, events);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(std::ranges::count(measured, "wild"), 3);
  EXPECT_EQ(std::ranges::count(measured, "tame"), 1);
  EXPECT_EQ(measured.back(), "wild") << "again when all others are measured";
  EXPECT_EQ(rows[0].status, "unstable");
  EXPECT_EQ(rows[0].error.find("the timing against eager does not settle: variance between buckets "), 0u)
      << rows[0].error;
  ASSERT_TRUE(rows[0].find("eager") && rows[0].find(program_way)) << "its times are kept";
  EXPECT_EQ(rows[0].find("eager")->device_ms.size(), 7u) << "of the last measurement";
  EXPECT_EQ(rows[0].find(program_way)->device_ms.size(), 7u);
}

// Sixteenths and halves of the device decide who is judged when.
TEST_F(BenchRunTest, JudgesHugeOnesFirst) {
  std::vector<SuiteTask> tasks;
  for (const char* name : {"small", "large", "huge", "tiny"}) tasks.push_back(task(name, 0, "ok", ""));
  constexpr std::int64_t billion = std::int64_t{1} << 30;
  const std::vector<std::int64_t> elements{billion / 8, 2 * billion, 8 * billion, 1};
  BenchOptions sized = options(device_bytes);
  sized.jobs = 1;  // so that they are read in their order
  std::atomic<std::size_t> read = 0;
  sized.read_task = [&](const fs::path&) { return chain(elements.at(read++)); };
  BenchEvents events;
  std::vector<std::string> judged;
  events.took = [&](const std::string& what, double, const std::string& name, const std::string&) {
    if (what == "judged") judged.push_back(name);
  };
  const std::vector<BenchRow> rows = run_bench(tasks, sized, {}, events);
  for (const BenchRow& row : rows) EXPECT_EQ(row.status, "ok") << row.name << ": " << row.error;
  ASSERT_EQ(judged.size(), 4u);
  EXPECT_EQ(judged[0], tasks[2].label());
}

TEST_F(BenchRunTest, CompilesBesideJudgingAndFindsItAgain) {
  BenchOptions compiled = options(device_bytes);
  compiled.baselines = {"eager", "compile"};
  BenchEvents events;
  std::vector<std::string> stages;
  std::map<std::string, double> seconds;  // of the compiler
  events.took = [&](const std::string& what, double, const std::string&, const std::string& details) {
    stages.push_back(what);
    if (const auto at = details.find("compile "); at != std::string::npos)
      seconds[what] = std::stod(details.substr(at + 8));
  };
  const std::vector<BenchRow> rows = run_bench({task("one", 0, "ok", "")}, compiled, {}, events);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, "ok") << rows[0].error;
  EXPECT_EQ(std::ranges::count(stages, "compiled"), 1);
  EXPECT_LT(std::ranges::find(stages, "compiled"), std::ranges::find(stages, "made"));
  EXPECT_LT(seconds.at("made"), seconds.at("compiled")) << "it was there already";
  const auto way = std::ranges::find(rows[0].ways, "compile", &WayTimes::way);
  ASSERT_NE(way, rows[0].ways.end());
  EXPECT_GT(way->make_seconds, 1.0) << "what was compiled ahead counts";
}

// Workers of large graphs are begun before anything is judged; one of these programs is wrong, and another needs the
// memory that those workers hold.
TEST_F(BenchRunTest, WorkersOfLargeGraphsAreMadeBesideJudges) {
  BenchOptions early = options(device_bytes);
  early.baselines = {"eager", "compile"};
  early.read_task = [](const fs::path&) {
    Task task = chain(8);
    task.graph.nodes.resize(200, task.graph.nodes.front());
    return task;
  };
  BenchEvents events;
  std::map<std::string, std::map<std::string, int>> stages;
  events.took = [&](const std::string& what, double, const std::string& name, const std::string&) {
    ++stages[name][what];
  };
  const std::vector<SuiteTask> tasks{task("right", 0, "ok", ""), task("wrong", 99, "wrong_result", "off by one"),
                                     task("everything", 3, "failed", "CUDA error: out of memory")};
  const std::vector<BenchRow> rows = run_bench(tasks, early, {}, events);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].status, "ok") << rows[0].error;
  EXPECT_EQ(rows[1].status, "wrong_result");
  EXPECT_EQ(rows[2].status, "ok") << rows[2].error;
  EXPECT_EQ(tries("everything"), 4) << "the last of them without workers beside it";
  for (const char* name : {"right", "wrong"}) EXPECT_EQ(stages[name].count("compiled"), 0u) << "its worker compiles it";
  EXPECT_EQ(stages["right"]["made"], 1);
  EXPECT_EQ(stages["wrong"]["made"], 1) << "it was begun before it was judged";
  EXPECT_EQ(stages["wrong"].count("measured"), 0u);
  EXPECT_EQ(stages["everything"]["made"], 2);
}

TEST(CompileAhead, BaselinesOfLargeGraphsAreCompiledSideBySide) {
  const CompileJob small{"module.py", "cuda", {"compile", "compile-reduce-overhead"}, 20};
  ASSERT_EQ(compile_jobs(small).size(), 1u);
  EXPECT_EQ(compile_jobs(small)[0].baselines, small.baselines);
  CompileJob large = small;
  large.nodes = 2000;
  const std::vector<CompileJob> jobs = compile_jobs(large);
  ASSERT_EQ(jobs.size(), 2u);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(jobs[i].baselines, std::vector<std::string>{large.baselines[i]});
    EXPECT_EQ(jobs[i].module, large.module);
    EXPECT_EQ(jobs[i].nodes, large.nodes);
  }
}

TEST_F(BenchRunTest, WhatIsLateWithoutOthersIsAVerdict) {
  const std::vector<BenchRow> rows =
      run_bench({task("late", 99, "timeout", "not finished")}, options(device_bytes), {}, {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, "timeout");
  EXPECT_EQ(tries("late"), 1);
}

TEST_F(BenchRunTest, WhereNobodyKnowsHowMuchThereIsTheSecondTryIsTheLast) {
  const std::vector<SuiteTask> tasks{task("too_large", 99, "failed", "judging was ended by signal 9")};
  const std::vector<BenchRow> rows = run_bench(tasks, options(DeviceMemory::unlimited), {}, {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, "failed");
  EXPECT_EQ(tries("too_large"), 2);
}

}  // namespace
}  // namespace cudal1
