#include "cli/search_process.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/line_child.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds between_looks{200};
constexpr std::size_t most_message_bytes = std::size_t{64} << 20;

//! Lives as long as the thread that made it, at most.
class SearchProcess {
 public:
  SearchProcess(const SearchRequest& request, int threads)
      : child_("cudal1-search", environment_with(threads, request.environment)) {
    child_.send(to_json(request).dump(-1, ' ', false, json::error_handler_t::replace));
  }

  TaskReport listen(const SearchEvents& events) {
    for (;;) {
      if (!is_told_to_stop_ && events.stop()) tell_to_stop();
      std::string line;
      switch (child_.read(line, most_message_bytes, std::chrono::steady_clock::now() + between_looks)) {
        case LineSocket::Heard::line:
          if (auto report = heard(json::parse(line), events)) return with_end_of_process(std::move(*report));
          break;
        case LineSocket::Heard::end:
          throw Error(obituary());
        case LineSocket::Heard::too_long:
          throw Error("the search says too much");
        case LineSocket::Heard::too_late:
          break;
      }
    }
  }

 private:
  void tell_to_stop() {
    is_told_to_stop_ = true;
    child_.send("stop");
  }

  //! What it has on a GPU is free when it has taken leave; who does not, is made to.
  TaskReport with_end_of_process(TaskReport report) {
    child_.end();
    return report;
  }

  static std::optional<TaskReport> heard(const json& message, const SearchEvents& events) {
    if (message.contains("report")) return report_of_message(message["report"]);
    if (message.contains("problem")) events.problem(message["problem"].get<std::string>());
    if (message.contains("sample")) events.sample(sample_row_from_json(message["sample"]));
    if (message.contains("evaluations"))
      events.news(
          {message["evaluations"].get<int>(), message.at("before").get<int>(), message.at("best").get<double>()});
    return std::nullopt;
  }

  std::string obituary() {
    return fmt::format("the search {}; what it judged is on record, and the same command goes on from there",
                       child_.obituary());
  }

  LineChild child_;
  bool is_told_to_stop_ = false;
};

}  // namespace

json to_json(const SearchRequest& request) {
  json sampled = json::array();
  for (const SampleRow& row : request.sampled) sampled.push_back(to_json(row));
  return {{"name", request.name},
          {"task", request.task.string()},
          {"module", request.module.string()},
          {"folder", request.folder.string()},
          {"archive", request.archive.string()},
          {"device", request.device},
          {"gpu", request.gpu},
          {"policy", request.policy},
          {"policy_arguments", request.policy_arguments},
          {"tasks", request.tasks},
          {"evaluations", request.evaluations},
          {"seconds", std::isfinite(request.seconds) ? json(request.seconds) : json(nullptr)},
          {"seed", request.seed},
          {"jobs", request.jobs},
          {"bytes_for_input_sets", request.bytes_for_input_sets},
          {"explain", request.explain},
          {"best_is_timed_later", request.best_is_timed_later},
          {"ends_with_its_gpu", request.ends_with_its_gpu},
          {"judged", request.judged},
          {"right", request.right},
          {"seconds_before", request.seconds_before},
          {"beside_others", request.beside_others},
          {"samples", request.samples},
          {"sampled", sampled}};
}

SearchRequest search_request_from_json(const json& said) {
  SearchRequest request;
  request.name = said.at("name").get<std::string>();
  request.task = said.at("task").get<std::string>();
  request.module = said.at("module").get<std::string>();
  request.folder = said.at("folder").get<std::string>();
  request.archive = said.at("archive").get<std::string>();
  request.device = said.at("device").get<std::string>();
  request.gpu = said.at("gpu").get<std::string>();
  request.policy = said.at("policy").get<std::string>();
  request.policy_arguments = said.at("policy_arguments").get<std::vector<std::string>>();
  request.tasks = said.at("tasks").get<int>();
  request.evaluations = said.at("evaluations").get<int>();
  if (!said.at("seconds").is_null()) request.seconds = said["seconds"].get<double>();
  request.seed = said.at("seed").get<std::uint64_t>();
  request.jobs = said.at("jobs").get<int>();
  request.bytes_for_input_sets = said.at("bytes_for_input_sets").get<std::uint64_t>();
  request.explain = said.at("explain").get<bool>();
  request.best_is_timed_later = said.at("best_is_timed_later").get<bool>();
  request.ends_with_its_gpu = said.at("ends_with_its_gpu").get<bool>();
  request.judged = said.at("judged").get<int>();
  request.right = said.at("right").get<int>();
  request.seconds_before = said.at("seconds_before").get<double>();
  request.beside_others = said.at("beside_others").get<bool>();
  request.samples = said.at("samples").get<std::vector<int>>();
  for (const json& row : said.at("sampled")) request.sampled.push_back(sample_row_from_json(row));
  return request;
}

json news_message(const SearchNews& news) {
  return {{"evaluations", news.evaluations}, {"before", news.before}, {"best", news.best}};
}

json problem_message(const std::string& problem) { return {{"problem", problem}}; }

json sample_message(const SampleRow& sample) { return {{"sample", to_json(sample)}}; }

json report_message(const TaskReport& report) { return {{"report", message_of(report)}}; }

TaskReport search_in_own_process(const SearchRequest& request, int threads, const SearchEvents& events) {
  try {
    return SearchProcess(request, threads).listen(events);
  } catch (const std::exception& problem) {
    return failed_report(request.name, problem.what());
  }
}

}  // namespace cudal1
