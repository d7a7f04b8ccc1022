#include "bench/preparation_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr std::chrono::minutes longest_run{60};
constexpr std::chrono::seconds time_to_end{10};
constexpr std::size_t max_report_bytes = std::size_t{16} << 20;

std::string how_it_ended(const std::optional<ChildExit>& ended) {
  if (!ended) return "judging was ended";
  if (!ended->exited) return fmt::format("judging was ended by signal {}", ended->code);
  return fmt::format("judging ended with exit code {}", ended->code);
}

json way_json(const WayTimes& way) { return {{"way", way.way}, {"ms", way.device_ms}, {"why_not", way.why_not}}; }

}  // namespace

json to_json(const PreparationRequest& request) {
  return {{"task", request.task.string()},
          {"module", request.module.string()},
          {"program_file", request.program.file.string()},
          {"archive", request.program.archive.string()},
          {"solution", request.program.solution},
          {"origin", request.program.origin},
          {"device", request.device},
          {"gpu", request.gpu},
          {"verify", request.verify},
          {"seconds", request.seconds},
          {"caller_shares_gpu", request.caller_shares_gpu},
          {"baselines", request.baselines},
          {"package", request.package.string()}};
}

PreparationRequest preparation_request_from_json(const json& said) {
  PreparationRequest request;
  request.task = said.at("task").get<std::string>();
  request.module = said.at("module").get<std::string>();
  request.program.file = said.at("program_file").get<std::string>();
  request.program.archive = said.at("archive").get<std::string>();
  request.program.solution = said.at("solution").get<std::string>();
  request.program.origin = said.at("origin").get<std::string>();
  request.device = said.at("device").get<std::string>();
  request.gpu = said.at("gpu").get<std::string>();
  request.verify = said.at("verify").get<bool>();
  request.seconds = said.at("seconds").get<double>();
  request.caller_shares_gpu = said.at("caller_shares_gpu").get<bool>();
  request.baselines = said.at("baselines").get<std::vector<std::string>>();
  request.package = said.at("package").get<std::string>();
  return request;
}

json to_json(const Preparation& preparation) {
  json ways = json::array();
  for (const WayTimes& way : preparation.ways) ways.push_back(way_json(way));
  return {{"status", preparation.status},
          {"error", preparation.error},
          {"program", preparation.program},
          {"own_kernels", preparation.own_kernels},
          {"degenerate", preparation.degenerate},
          {"predicted", preparation.predicted},
          {"device", preparation.device},
          {"nodes", preparation.nodes},
          {"ways", ways},
          {"ratios", preparation.ratios},
          {"stages", preparation.stages},
          {"peak_tensor_bytes", preparation.peak_tensor_bytes}};
}

Preparation preparation_from_json(const json& said) {
  Preparation preparation;
  preparation.status = said.at("status").get<std::string>();
  preparation.error = said.at("error").get<std::string>();
  preparation.program = said.at("program").get<std::string>();
  preparation.own_kernels = said.at("own_kernels").get<bool>();
  preparation.degenerate = said.at("degenerate").get<bool>();
  preparation.predicted = said.at("predicted").get<bool>();
  preparation.device = said.at("device").get<std::string>();
  preparation.nodes = said.at("nodes").get<int>();
  preparation.ratios = said.value("ratios", std::vector<double>());
  preparation.stages = said.value("stages", std::vector<std::pair<std::string, double>>());
  preparation.peak_tensor_bytes = said.value("peak_tensor_bytes", std::uint64_t{0});
  for (const auto& way : said.at("ways")) {
    WayTimes& times = preparation.ways.emplace_back();
    times.way = way.at("way").get<std::string>();
    times.device_ms = way.at("ms").get<std::vector<double>>();
    times.why_not = way.at("why_not").get<std::string>();
  }
  return preparation;
}

Preparation failed_preparation(const std::string& error) {
  Preparation failed;
  failed.status = "failed";
  failed.error = error;
  return failed;
}

void PreparationProcess::start() {
  const UniqueFd messages(::open("/dev/null", O_RDWR | O_CLOEXEC));
  UniqueFd theirs;
  socket_ = LineSocket(theirs);
  ChildOptions options;
  options.arguments = {(executable_directory() / "cudal1-prepare").string()};
  options.environment = minimal_environment();
  options.descriptors = {{theirs.get(), 0}, {messages.get(), 1}, {messages.get(), 2}};
  child_ = ChildProcess::start(options);
  served_ = 0;
}

Preparation PreparationProcess::ask(const PreparationRequest& request) {
  if (!child_ || !child_->running()) start();
  socket_.send(to_json(request).dump(-1, ' ', false, json::error_handler_t::replace));
  std::string report;
  switch (socket_.read(report, max_report_bytes, std::chrono::steady_clock::now() + longest_run)) {
    case LineSocket::Heard::line:
      ++served_;
      return preparation_from_json(json::parse(report));
    case LineSocket::Heard::end:
      throw Error(how_it_ended(child_->wait_for(time_to_end)));
    case LineSocket::Heard::too_long:
      throw Error("the judge says too much");
    case LineSocket::Heard::too_late:
      break;
  }
  throw Error(fmt::format("judging took more than {} minutes", longest_run.count()));
}

Preparation PreparationProcess::run(const PreparationRequest& request) {
  const bool was_used = is_used();
  try {
    Preparation preparation = ask(request);
    if (preparation.status == "failed" || preparation.status == to_string(Status::judge_error)) child_.reset();
    return preparation;
  } catch (const std::exception& problem) {
    child_.reset();
    if (was_used) return run(request);
    return failed_preparation(problem.what());
  }
}

bool is_short_of_memory(const Preparation& preparation) {
  const std::string& status = preparation.status;
  if (status == "out_of_memory") return true;
  return (status == "failed" || status == "crashed" || status == "judge_error") &&
         says_short_of_memory(preparation.error);
}

}  // namespace cudal1
