// With a bridge of the test's own, which copies the module into the task; python/tests have the real one.
#include "suite/task_export.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/result.hpp"
#include "suite_files.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr const char* test_bridge = R"(
import pathlib, sys
module, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[3])
if "refuse" in module.read_text():
    print(f"cudal1: {module.name}:1: no", file=sys.stderr)
    sys.exit(1)
folder.mkdir()
(folder / "imports.json").write_text("{}")
(folder / "graph.json").write_text(module.name + ": " + module.read_text())
)";

class TaskExport : public ::testing::Test {
 protected:
  TaskExport() {
    folder_.write("bridge/cudal1_bridge/__init__.py", "");
    folder_.write("bridge/cudal1_bridge/__main__.py", test_bridge);
    setenv("CUDAL1_BRIDGE_DIR", (folder_.path() / "bridge").c_str(), 1);
    setenv("CUDAL1_CACHE_DIR", (folder_.path() / "cache").c_str(), 1);
  }
  ~TaskExport() override {
    for (const char* name : {"CUDAL1_BRIDGE_DIR", "CUDAL1_CACHE_DIR"}) unsetenv(name);
  }

  SuiteFolder folder_;
};

SuiteTask line_of_a_file(const std::string& name, const std::string& code) {
  SuiteTask task;
  task.name = name;
  task.code = code;
  return task;
}

TEST_F(TaskExport, OfALineGivesTheModuleAFile) {
  const TaskFolder made = task_folder_of(line_of_a_file("4_Conv ReLU", "first"));
  EXPECT_EQ(read_file(made.folder / "graph.json"), "4_Conv ReLU.py: first");
  EXPECT_EQ(read_file(made.module), "first");
  EXPECT_EQ(read_file(task_folder_of(line_of_a_file("4_Conv ReLU", "second")).folder / "graph.json"),
            "4_Conv ReLU.py: second");
  EXPECT_EQ(task_folder_of(line_of_a_file("4_Conv ReLU", "first")).folder, made.folder);
}

TEST_F(TaskExport, ANameCannotLeadOutOfTheCache) {
  const TaskFolder made = task_folder_of(line_of_a_file("../../../a\nname", "text"));
  EXPECT_TRUE(made.module.string().starts_with((folder_.path() / "cache" / "modules").string()));
  EXPECT_EQ(made.module.filename(), "_._.._.._a_name.py");
}

TEST_F(TaskExport, OfANativeTaskIsItself) {
  SuiteTask task;
  task.path = folder_.write("softmax/graph.json", "{}").parent_path();
  EXPECT_EQ(task_folder_of(task).folder, task.path);
  EXPECT_TRUE(task_folder_of(task).module.empty());
}

TEST_F(TaskExport, ThrowsWhatTheBridgeSays) {
  try {
    task_folder_of(line_of_a_file("bad", "refuse"));
    FAIL();
  } catch (const Error& problem) {
    EXPECT_STREQ(problem.what(), "bad.py:1: no");
  }
}

TEST_F(TaskExport, CopiesReplaceTasksAndNothingElse) {
  const fs::path source = folder_.write("softmax/graph.json", "new").parent_path();
  const fs::path target = folder_.path() / "out" / "level 1" / "softmax";
  copy_task(source, target);
  EXPECT_EQ(read_file(target / "graph.json"), "new");
  folder_.write("softmax/graph.json", "newer");
  copy_task(source, target);
  EXPECT_EQ(read_file(target / "graph.json"), "newer");
  const fs::path precious = folder_.write("out/thesis/chapter.txt", "text");
  EXPECT_THROW(copy_task(source, precious.parent_path()), Error);
  EXPECT_EQ(read_file(precious), "text");
  EXPECT_EQ(files_below(folder_.path() / "out").size(), 2u);
}

TEST_F(TaskExport, OfATaskThatNoBridgeMadeHasNoModule) {
  folder_.write("generated/graph.json", "{}");
  folder_.write("generated/source.py", "class Model: pass");
  EXPECT_EQ(module_of({folder_.path() / "generated", {}}), fs::path());
  folder_.write("generated/interface.json", "{}");
  EXPECT_EQ(module_of({folder_.path() / "generated", {}}), folder_.path() / "generated" / "source.py");
}

}  // namespace
}  // namespace cudal1
