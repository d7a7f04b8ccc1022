#include "parity/parity_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours longest_run{1};
constexpr std::size_t max_report_bytes = std::size_t{1} << 20;

ChildOptions worker(const ParityRequest& request, const fs::path& report, int messages) {
  ChildOptions child;
  child.arguments = {(executable_directory() / "cudal1-parity").string(),
                     "--task",
                     request.folder.string(),
                     "--module",
                     request.module.string(),
                     "--device",
                     request.device,
                     "--seed",
                     std::to_string(request.seed),
                     "--report",
                     report.string()};
  child.environment = minimal_environment();
  if (request.threads > 0) {
    std::erase_if(child.environment, [](const auto& entry) { return entry.first == "OMP_NUM_THREADS"; });
    child.environment.emplace_back("OMP_NUM_THREADS", std::to_string(request.threads));
  }
  child.descriptors = {{messages, 1}, {messages, 2}};
  return child;
}

std::string how_it_ended(const std::optional<ChildExit>& ended) {
  if (!ended) return fmt::format("the comparison took more than {} hour", longest_run.count());
  if (!ended->exited) return fmt::format("the comparison was ended by signal {}", ended->code);
  return fmt::format("the comparison ended with exit code {}", ended->code);
}

ParityReport run(const ParityRequest& request) {
  const TemporaryFolder scratch;
  const fs::path report = scratch.path() / "report.json";
  const UniqueFd messages(open("/dev/null", O_RDWR | O_CLOEXEC));
  ChildProcess child = ChildProcess::start(worker(request, report, messages.get()));
  const auto ended = child.wait_for(std::chrono::duration_cast<std::chrono::milliseconds>(longest_run));
  child.kill();
  if (!ended || !ended->exited || ended->code != 0) throw Error(how_it_ended(ended));
  return parity_from_json(read_file(report, max_report_bytes));
}

}  // namespace

ParityReport run_parity_process(const ParityRequest& request) {
  try {
    return run(request);
  } catch (const std::exception& problem) {
    ParityReport report;
    report.error = problem.what();
    return report;
  }
}

}  // namespace cudal1
