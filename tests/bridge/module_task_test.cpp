// The C++ side, with a bridge of the test's own: python/tests and the command's tests have the real one.
#include "bridge/module_task.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/files.hpp"
#include "base/result.hpp"
#include "bridge/task_cache.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

//! Writes how often it was called, and takes its orders from the module's text.
constexpr const char* test_bridge = R"(
import hashlib, json, os, pathlib, signal, sys
module, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[3])
text = module.read_text()
if "refuse" in text:
    print("a warning of the module's own", file=sys.stderr)
    print(f"cudal1: {module}:3: Model raises", file=sys.stderr)
    sys.exit(1)
if "break" in text:
    raise ValueError("a defect of the bridge")
if "bare" in text:
    raise ModuleNotFoundError("No module named 'torch'")
if "leave" in text:
    os._exit(int(text.split()[1]))
if "die" in text:
    os.kill(os.getpid(), signal.SIGKILL)
folder.mkdir()
count = module.parent / "count"
count.write_text(count.read_text() + "x" if count.exists() else "x")
neighbours = [module.parent / "neighbour.py"] if "import neighbour" in text else []
(folder / "imports.json").write_text(
    json.dumps({str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in neighbours}))
(folder / "graph.json").write_text(text)
)";

class ModuleTask : public ::testing::Test {
 protected:
  ModuleTask() {
    fs::create_directories(bridge() / "cudal1_bridge");
    write(bridge() / "cudal1_bridge" / "__init__.py", "");
    write(bridge() / "cudal1_bridge" / "__main__.py", test_bridge);
    setenv("CUDAL1_BRIDGE_DIR", bridge().c_str(), 1);
    setenv("CUDAL1_CACHE_DIR", (folder_.path() / "cache").c_str(), 1);
    setenv("CUDAL1_PYTHON", python().c_str(), 1);
  }
  ~ModuleTask() override {
    for (const char* name : {"CUDAL1_BRIDGE_DIR", "CUDAL1_CACHE_DIR"}) unsetenv(name);
  }

  static std::string python() {
    const char* given = std::getenv("CUDAL1_PYTHON");
    return given ? given : "/usr/bin/python3";
  }
  fs::path bridge() const { return folder_.path() / "bridge"; }
  fs::path module() const { return folder_.path() / "a module.py"; }
  std::size_t exports() const { return read_file(folder_.path() / "count").size(); }
  std::string refusal() const {
    try {
      task_of_module(module());
    } catch (const Error& problem) {
      return problem.what();
    }
    return {};
  }

  TemporaryFolder folder_;
};

TEST_F(ModuleTask, IsExportedOnce) {
  write(module(), "first");
  const fs::path task = task_of_module(module());
  EXPECT_EQ(read_file(task / "graph.json"), "first");
  EXPECT_EQ(task_of_module(module()), task);
  EXPECT_EQ(exports(), 1u);
}

TEST_F(ModuleTask, IsExportedAgainWhenItOrItsNeighbourOrTheBridgeChanges) {
  write(folder_.path() / "neighbour.py", "1");
  write(module(), "import neighbour");
  task_of_module(module());
  write(folder_.path() / "neighbour.py", "2");
  task_of_module(module());
  EXPECT_EQ(exports(), 2u);
  task_of_module(module());
  EXPECT_EQ(exports(), 2u);
  write(module(), "import neighbour # and more");
  EXPECT_EQ(read_file(task_of_module(module()) / "graph.json"), "import neighbour # and more");
  EXPECT_EQ(exports(), 3u);
  write(bridge() / "cudal1_bridge" / "__init__.py", "# newer");
  task_of_module(module());
  EXPECT_EQ(exports(), 4u);
}

TEST_F(ModuleTask, FailuresAreOneLineAndLeaveNothingBehind) {
  write(module(), "refuse");
  EXPECT_EQ(refusal(), module().string() + ":3: Model raises");
  write(module(), "break");
  EXPECT_EQ(refusal(), module().string() + ": ValueError: a defect of the bridge");
  write(module(), "bare");
  EXPECT_TRUE(refusal().starts_with(python() + " has no torch, which modules need: start ./cudal1")) << refusal();
  write(module(), "die");
  EXPECT_EQ(refusal(), module().string() + ": Python was ended by signal 9");
  write(module(), "leave 0");
  EXPECT_EQ(refusal(),
            module().string() + ": Python ended before its work was done; does the module end it (os._exit)?");
  write(module(), "leave 3");
  EXPECT_EQ(refusal(), module().string() + ": Python ended without a word");
  EXPECT_TRUE(files_below(folder_.path() / "cache").empty());
  setenv("CUDAL1_BRIDGE_DIR", "/nowhere", 1);
  EXPECT_NE(refusal().find("the Python bridge is not in /nowhere"), std::string::npos);
}

TEST(TaskCache, RemovesWhatWasNotUsedLatelyFromTheOldestOn) {
  const TemporaryFolder folder;
  const TaskCache cache(folder.path());
  const auto make = [](const fs::path& path) {
    fs::create_directories(path);
    write(path / "weights", std::string(1000, 'x'));
  };
  const auto current = [](const fs::path&) { return true; };
  for (const char* key : {"new", "old", "older"}) cache.get(key, current, make);
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(folder.path() / "old", now - std::chrono::hours(48));
  fs::last_write_time(folder.path() / "older", now - std::chrono::hours(72));
  cache.shrink_to(3000);
  EXPECT_EQ(files_below(folder.path()).size(), 3u);
  cache.shrink_to(2500);
  EXPECT_FALSE(fs::exists(folder.path() / "older"));
  EXPECT_TRUE(fs::exists(folder.path() / "old"));
  cache.shrink_to(0);  // what somebody may be reading stays
  EXPECT_FALSE(fs::exists(folder.path() / "old"));
  EXPECT_TRUE(fs::exists(folder.path() / "new"));
}

TEST(TaskCache, WhatAnotherMadeMeanwhileStays) {
  const TemporaryFolder folder;
  const TaskCache cache(folder.path());
  const fs::path got = cache.get(
      "key", [](const fs::path&) { return true; },
      [&](const fs::path& path) {
        fs::create_directories(path);
        write(path / "mine", "");
        fs::create_directories(folder.path() / "key");
        write(folder.path() / "key" / "theirs", "");
      });
  EXPECT_EQ(files_below(folder.path()), std::vector<fs::path>{got / "theirs"});
}

}  // namespace
}  // namespace cudal1
