#include "bench/worker_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "worker_fixture.hpp"

namespace cudal1 {
namespace {

class WorkerPoolTest : public WorkerTest {
 protected:
  static constexpr WorkerLimits two_at_once{.at_once = 2, .alive = 2};
};

TEST_F(WorkerPoolTest, EveryTaskComesOnceAndACrashIsOneOfThem) {
  const std::vector<WorkerJob> jobs{
      {0, module("a", "return x"), {}}, {1, module("b", "os.abort()"), {}}, {2, module("c", "return x + 1"), {}}};
  WorkerPool pool(jobs, {"eager"}, "cpu", two_at_once);
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
  WorkerPool pool({{0, module("busy", busy), {}}}, {"eager"}, "cpu", {.at_once = 1, .alive = 1});
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
  for (std::size_t i = 0; i < 3; ++i) jobs.push_back({i, module(fmt::format("m{}", i), "return x"), {}});
  WorkerPool pool(jobs, {"eager"}, "cpu", {.at_once = 3, .alive = 3});
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

TEST_F(WorkerPoolTest, MayGoBeforeItIsDone) {
  const auto begin = std::chrono::steady_clock::now();
  { WorkerPool pool({{0, module("slow", "import time; time.sleep(100)"), {}}}, {"eager"}, "cpu", two_at_once); }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50));
}

}  // namespace
}  // namespace cudal1
