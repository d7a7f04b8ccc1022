// The programs under examples/, whose file names start with the status they must get.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "graph/executor.hpp"
#include "graph/task.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> example_programs() {
  std::vector<fs::path> programs;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(CUDAL1_SOURCE_DIR) / "examples")) {
    if (entry.path().extension() == ".cu") programs.push_back(entry.path());
  }
  std::sort(programs.begin(), programs.end());
  return programs;
}

OpGraph graph_of(const fs::path& program) {
  Task task = load_task(program.parent_path());
  infer_metas(task);
  return task.graph;
}

TEST(Examples, GetAPlanOrTheRefusalTheirNameAnnounces) {
  const std::set<std::string> refused_here = {"parse_error", "plan_error"};
  const std::vector<fs::path> programs = example_programs();
  ASSERT_GE(programs.size(), 20u);
  for (const fs::path& program : programs) {
    SCOPED_TRACE(program);
    const std::string stem = program.stem().string();
    const std::string expected = stem.substr(0, stem.find('-'));
    const Result<Plan> result = plan_program(graph_of(program), read_file(program));
    if (!result.ok()) {
      EXPECT_EQ(to_string(result.failure().status), expected) << result.failure().message;
      EXPECT_GE(result.failure().at.line, 1) << result.failure().message;
    }
    EXPECT_FALSE(result.ok() && refused_here.contains(expected));
  }
}

}  // namespace
}  // namespace cudal1
