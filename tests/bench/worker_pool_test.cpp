#include "bench/worker_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "worker_fixture.hpp"

namespace cudal1 {
namespace {

class WorkerPoolTest : public WorkerTest {
 protected:
  static constexpr WorkerLimits two_at_once{.at_once = 2, .alive = 2};

  static void add_all(WorkerPool& pool, const std::vector<WorkerJob>& jobs) {
    for (const WorkerJob& job : jobs) pool.add(job);
    pool.no_more();
  }

  void wait_for(const std::filesystem::path& mark) const {
    std::error_code none;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(100);
    while (!std::filesystem::exists(mark, none) && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(std::filesystem::exists(mark, none)) << mark;
  }

  DeviceMemory memory_;
  const std::shared_future<std::filesystem::path> no_package_ = known_package({});
};

TEST_F(WorkerPoolTest, EveryTaskComesOnceAndACrashIsOneOfThem) {
  const std::vector<WorkerJob> jobs{{0, module("a", "return x"), no_package_},
                                    {1, module("b", "os.abort()"), no_package_},
                                    {2, module("c", "return x + 1"), no_package_}};
  WorkerPool pool({"eager"}, "cpu", two_at_once, memory_);
  add_all(pool, jobs);
  std::set<std::size_t> good, bad;
  for (auto some = pool.next(); !some.empty(); some = pool.next())
    for (auto& ready : some) {
      (ready.error.empty() ? good : bad).insert(ready.task);
      if (ready.prepared.worker) {
        ready.prepared.worker.reset();
        pool.ended();
      }
    }
  EXPECT_EQ(good, (std::set<std::size_t>{0, 2}));
  EXPECT_EQ(bad, (std::set<std::size_t>{1}));
}

TEST_F(WorkerPoolTest, NothingIsMadeDuringAStandstill) {
  // Each call leaves a mark; the second module calls for as long as it may.
  const std::string marks = (folder_.path() / "marks").string();
  const std::string busy = fmt::format(
      "import time; end = time.time() + 4\n        while time.time() < end: open('{}', 'a').write('x')\n        return "
      "x",
      marks);
  WorkerPool pool({"eager"}, "cpu", {.at_once = 1, .alive = 1}, memory_);
  add_all(pool, {{0, module("busy", busy), no_package_}});
  std::error_code none;
  while (!std::filesystem::exists(marks, none)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  {
    const WorkerPool::Standstill standstill(pool);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto before = std::filesystem::file_size(marks);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(std::filesystem::file_size(marks), before);
  }
  const auto some = pool.next();
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].error, "");
}

TEST_F(WorkerPoolTest, WhoeverIsReadyAnswersThoughItWasStopped) {
  std::vector<WorkerJob> jobs;
  for (std::size_t i = 0; i < 3; ++i) jobs.push_back({i, module(fmt::format("m{}", i), "return x"), no_package_});
  WorkerPool pool({"eager"}, "cpu", {.at_once = 3, .alive = 3}, memory_);
  add_all(pool, jobs);
  std::jthread stopping([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      {
        const WorkerPool::Standstill standstill(pool);
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  std::vector<WorkerPool::Ready> all;
  for (auto some = pool.next(); !some.empty(); some = pool.next()) std::ranges::move(some, std::back_inserter(all));
  stopping.request_stop();
  stopping.join();
  ASSERT_EQ(all.size(), 3u);
  for (auto& ready : all) EXPECT_GT(ready.prepared.worker->time("eager").device_ms, 0.0);
}

TEST_F(WorkerPoolTest, MakesWhatIsThereWhileMoreIsToCome) {
  const std::filesystem::path mark = folder_.path() / "made";
  WorkerPool pool({"eager"}, "cpu", two_at_once, memory_);
  pool.add({0, module("first", fmt::format("open('{}', 'w'); return x", mark.string())), no_package_});
  wait_for(mark);
  add_all(pool, {{1, module("second", "return x"), no_package_}});
  std::set<std::size_t> tasks;
  for (auto some = pool.next(); !some.empty(); some = pool.next())
    for (const auto& ready : some) tasks.insert(ready.task);
  EXPECT_EQ(tasks, (std::set<std::size_t>{0, 1}));
}

TEST_F(WorkerPoolTest, BaselinesAreMadeWhileThePackageIsWaitedFor) {
  const std::filesystem::path mark = folder_.path() / "called";
  std::promise<std::filesystem::path> package;
  WorkerPool pool({"eager"}, "cpu", two_at_once, memory_);
  add_all(pool, {{0, module("early", fmt::format("open('{}', 'w'); return x", mark.string())),
                  package.get_future().share()}});
  wait_for(mark);
  package.set_value(folder_.path() / "not_there");
  const auto some = pool.next();
  ASSERT_EQ(some.size(), 1u);
  EXPECT_NE(some[0].error.find("not_there"), std::string::npos) << some[0].error;
}

TEST_F(WorkerPoolTest, APackageThatNeverComesIsAnErrorAndNoWait) {
  auto package = std::make_unique<std::promise<std::filesystem::path>>();
  WorkerPool pool({"eager"}, "cpu", two_at_once, memory_);
  add_all(pool, {{0, module("early", "return x"), package->get_future().share()}});
  package.reset();
  const auto some = pool.next();
  ASSERT_EQ(some.size(), 1u);
  EXPECT_NE(some[0].error, "");
}

TEST_F(WorkerPoolTest, OfThoseThatWaitTheLargestComesFirst) {
  const std::string log = (folder_.path() / "order").string();
  const auto noting = [&](const std::string& name) {
    return module(name, fmt::format("open('{}', 'a').write('{}'); return x", log, name));
  };
  WorkerPool pool({"eager"}, "cpu", {.at_once = 1, .alive = 8}, memory_);
  {
    const WorkerPool::Standstill standstill(pool);  // so that none begins before all are there
    add_all(pool, {{0, noting("a"), no_package_, 1},
                   {1, noting("b"), no_package_, 3},
                   {2, noting("c"), no_package_, 2},
                   {3, noting("d"), no_package_, 3}});
  }
  for (auto some = pool.next(); !some.empty(); some = pool.next()) continue;
  std::string order = read_file(log);
  order.erase(std::unique(order.begin(), order.end()), order.end());  // each is called more than once
  EXPECT_EQ(order, "bdca");
}

TEST_F(WorkerPoolTest, WhoFindsTooLittleMemoryBeginsAgainWithMore) {
  const std::string mark = (folder_.path() / "tried").string();
  const std::string body = fmt::format(
      "if os.path.exists('{0}'): return x\n        open('{0}', 'w')\n        raise RuntimeError('CUDA out of memory')",
      mark);
  DeviceMemory memory(100);
  WorkerPool pool({"eager"}, "cpu", two_at_once, memory);
  add_all(pool, {{0, module("greedy", body), no_package_, 1, 10}});
  const auto some = pool.next();
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].error, "");
  EXPECT_EQ(some[0].share.bytes(), 25u);
  EXPECT_TRUE(pool.next().empty());
}

TEST_F(WorkerPoolTest, WhoHadAllMemoryAndFoundItTooLittleHasFailed) {
  DeviceMemory memory(100);
  WorkerPool pool({"eager"}, "cpu", two_at_once, memory);
  add_all(pool, {{0, module("greedy", "raise RuntimeError('CUDA out of memory')"), no_package_, 1, 60}});
  const auto some = pool.next();
  ASSERT_EQ(some.size(), 1u);
  EXPECT_NE(some[0].error.find("out of memory"), std::string::npos);
  EXPECT_TRUE(memory.try_take(100)) << "its share went back";
}

TEST_F(WorkerPoolTest, WhoDoesNotFitWaitsUntilOthersHaveGone) {
  DeviceMemory memory(100);
  WorkerPool pool({"eager"}, "cpu", {.at_once = 3, .alive = 3}, memory);
  auto judge = memory.try_take(30);
  const std::filesystem::path mark = folder_.path() / "made";
  pool.add({0, module("large", "return x"), no_package_, 9, 80});
  pool.add({1, module("small", fmt::format("open('{}', 'w'); return x", mark.string())), no_package_, 1, 40});
  wait_for(mark);  // it passes the large one, for which there is no room while somebody else has his
  EXPECT_FALSE(memory.try_take(31));
  EXPECT_TRUE(memory.try_take(30));
  judge.reset();
  pool.no_more();
  auto first = pool.next();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].task, 1u);
  first.clear();
  pool.ended();
  const auto second = pool.next();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].task, 0u);
  EXPECT_EQ(second[0].share.bytes(), 80u);
}

TEST_F(WorkerPoolTest, WhoIsSetAsideComesAgainWhenNobodyElseIsLeft) {
  WorkerPool pool({"eager"}, "cpu", {.at_once = 1, .alive = 1}, memory_);
  add_all(pool, {{0, module("a", "return x"), no_package_, 9}, {1, module("b", "return x"), no_package_, 1}});
  std::vector<std::size_t> order;
  bool is_first = true;
  for (auto some = pool.next(); !some.empty(); some = pool.next())
    for (auto& ready : some) {
      order.push_back(ready.task);
      EXPECT_TRUE(ready.prepared.worker && ready.prepared.worker->is_running());
      if (std::exchange(is_first, false)) {
        pool.set_aside(std::move(ready));  // takes nobody's place among those that may be alive
      } else {
        ready.prepared.worker.reset();
        pool.ended();
      }
    }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 0}));
}

TEST_F(WorkerPoolTest, WhoIsSetAsideComesEarlierWhereOthersNeedItsMemory) {
  DeviceMemory small(10);
  WorkerPool pool({"eager"}, "cpu", two_at_once, small);
  add_all(pool, {{0, module("a", "return x"), no_package_, 9, 6}, {1, module("b", "return x"), no_package_, 1, 6}});
  std::vector<std::size_t> order;
  for (auto some = pool.next(); !some.empty(); some = pool.next())
    for (auto& ready : some) {
      order.push_back(ready.task);
      if (order.size() == 1) {
        pool.set_aside(std::move(ready));
      } else {
        ready.prepared.worker.reset();
        ready.share.give_back();
        pool.ended();
      }
    }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 0, 1}));
}

TEST_F(WorkerPoolTest, MayGoBeforeItIsDone) {
  const auto begin = std::chrono::steady_clock::now();
  {
    WorkerPool pool({"eager"}, "cpu", two_at_once, memory_);
    add_all(pool, {{0, module("slow", "import time; time.sleep(100)"), no_package_}});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50));
}

}  // namespace
}  // namespace cudal1
