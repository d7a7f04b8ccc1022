// The model of library steps against what PyTorch took on an H200 for the example tasks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "device/vgpu/model/op_model.hpp"
#include "graph/executor.hpp"

namespace cudal1::vgpu {
namespace {

namespace fs = std::filesystem;
const fs::path source_folder = CUDAL1_SOURCE_DIR;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

//! Device time of the reference by task, in milliseconds, from the row in which programs meet themselves.
std::map<std::string, double> measured() {
  std::map<std::string, double> times;
  const auto results = nlohmann::json::parse(read_file(source_folder / "bench/results/evaluator.json"));
  for (const auto& row : results.at("rows")) {
    if (!row.contains("details") || !row["details"].is_array()) continue;
    for (const auto& task : row["details"])
      if (task.contains("evaluations"))
        times[task.at("task")] = median(task.at("evaluations").at("reference_device_us")) / 1e3;
  }
  return times;
}

//! The classes' efficiencies were read off these very tasks, so that this shows that nothing is forgotten, not how well
//! other operators are met.
TEST(OpExamples, EveryReferenceIsWithinAFactorOfItsTime) {
  const GpuProfile gpu = find_profile("h200");
  const OpTable table = load_op_table();
  const auto times = measured();
  ASSERT_GE(times.size(), 14u);
  for (const auto& [name, ms] : times) {
    Task task = load_task(source_folder / "examples" / name);
    infer_metas(task);
    const double predicted = graph_milliseconds(gpu, table, task.graph);
    fmt::print("{:<26} measured {:.4f} ms  predicted {:.4f} ms  ratio {:.2f}\n", name, ms, predicted, predicted / ms);
    EXPECT_GT(predicted, ms / 1.35) << name;
    EXPECT_LT(predicted, ms * 1.35) << name;
  }
}

}  // namespace
}  // namespace cudal1::vgpu
