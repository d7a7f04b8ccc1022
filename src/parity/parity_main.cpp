// cudal1-parity: one comparison, whose outcome goes to a file.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "parity/parity.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Compares a task with the PyTorch module that it was made from"};
  cudal1::ParityRequest request;
  std::filesystem::path report_file;
  app.add_option("--task", request.folder)->required();
  app.add_option("--module", request.module)->required();
  app.add_option("--device", request.device);
  app.add_option("--seed", request.seed);
  app.add_option("--report", report_file)->required();
  CLI11_PARSE(app, argc, argv);
  cudal1::ParityReport report;
  try {
    report = cudal1::compare_with_eager(request);
  } catch (const std::exception& problem) {
    report.error = problem.what();
  }
  cudal1::write_file_atomically(report_file,
                                cudal1::to_json(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return 0;
}
