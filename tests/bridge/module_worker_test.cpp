// With the real worker: whether both sides speak the same language.
#include "bridge/module_worker.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "base/result.hpp"
#include "bridge/python_nursery.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

class ModuleWorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("CUDAL1_PYTHON", CUDAL1_TEST_PYTHON, 1);
    const std::string command = std::string(CUDAL1_TEST_PYTHON) + " -c 'import torch' 2> /dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << CUDAL1_TEST_PYTHON << " has no torch";
  }

  fs::path module(const std::string& body) const {
    const fs::path path = folder_.path() / "module.py";
    std::ofstream(path) << "import os, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        "
                        << body << "\ndef get_inputs(): return [torch.rand(64)]\n";
    return path;
  }

  static std::string complaint(const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  TemporaryFolder folder_;
};

TEST_F(ModuleWorkerTest, MakesTimesAndComparesWays) {
  ModuleWorker worker(module("return x + 1"), "cpu");
  const auto ways = worker.ways();
  EXPECT_NE(std::ranges::find(ways, "eager"), ways.end());
  EXPECT_GE(worker.make("eager"), 0.0);
  EXPECT_GE(worker.make("cudnn-benchmark"), 0.0);
  worker.draw_inputs(3);
  EXPECT_GT(worker.time("eager").device_ms, 0.0);
  EXPECT_EQ(worker.compare("cudnn-benchmark").error, 0.0);
  EXPECT_GT(worker.compare("cudnn-benchmark").scale, 1.0);
}

TEST_F(ModuleWorkerTest, CompilesWithAsManyThreadsAsItIsToldThoughItWasForked) {
  setenv("CUDAL1_CACHE_DIR", (folder_.path() / "cache").c_str(), 1);
  const PythonNursery nursery(1);
  // What decides while it compiles was loaded before anybody knew how many there would be.
  const std::string text = fmt::format(
      "return torch.sin(x) * x\nimport torch._inductor.config as config\nopen('{}', 'w').write(f'{{os.getppid()}} "
      "{{config.compile_threads}}')\n",
      (folder_.path() / "seen").string());
  ModuleWorker worker(module(text), "cpu", 3);
  EXPECT_GT(worker.make("compile"), 0.0);
  unsetenv("CUDAL1_CACHE_DIR");
  std::ifstream seen(folder_.path() / "seen");
  int parent = 0, threads = 0;
  seen >> parent >> threads;
  EXPECT_NE(parent, ::getpid()) << "the nursery's child, not ours";
  EXPECT_EQ(threads, 3);
}

TEST_F(ModuleWorkerTest, SaysWhatAWayCannotDoAndGoesOn) {
  ModuleWorker worker(module("return x + 1"), "cpu");
  EXPECT_NE(complaint([&] { worker.make("channels-last"); }).find("no weight has four"), std::string::npos);
  EXPECT_NE(complaint([&] { worker.time("compile"); }).find("was not made"), std::string::npos);
  EXPECT_GE(worker.make("eager"), 0.0);
}

TEST_F(ModuleWorkerTest, ABrokenModuleIsNamedWithItsPlace) {
  const fs::path path = folder_.path() / "broken.py";
  std::ofstream(path) << "class Model(:\n";
  ModuleWorker worker(path, "cpu");
  EXPECT_NE(complaint([&] { worker.ways(); }).find("broken.py:1: invalid syntax"), std::string::npos);
}

TEST_F(ModuleWorkerTest, AWorkerThatDiesIsNoticed) {
  ModuleWorker worker(module("os.abort()"), "cpu");
  EXPECT_NE(complaint([&] { worker.make("eager"); }).find("ended by signal 6"), std::string::npos);
}

}  // namespace
}  // namespace cudal1
