// cudal1-search: what `optimize` and `bench --policy` do for one task. Reads a request from standard input, a socket,
// says there how far it is, and in the end what came of it. A further line from the other side, or its end, means:
// stop, and report.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "archive/evaluation_record.hpp"
#include "base/crash_trace.hpp"
#include "base/line_socket.hpp"
#include "base/random.hpp"
#include "cli/device_choice.hpp"
#include "cli/optimized_task.hpp"
#include "cli/policy_maker.hpp"
#include "cli/search_process.hpp"
#include "cli/task_sampler.hpp"
#include "optimize/task_search.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

//! Who asked for the search.
class Asker {
 public:
  Asker() : socket_(LineSocket::taken_from_standard_input()) {}

  std::optional<SearchRequest> request() {
    constexpr auto forever = std::chrono::steady_clock::time_point::max();
    std::string line;
    if (socket_.read(line, most_line_bytes, forever) != LineSocket::Heard::line) return std::nullopt;
    return search_request_from_json(json::parse(line));
  }

  //! Several threads may tell.
  void tell(const json& message) const {
    const std::lock_guard lock(telling_);
    socket_.send(message.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  //! Several threads may ask.
  bool wants_stop() {
    const std::lock_guard lock(asking_);
    std::string line;
    const auto at_once = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    if (!stopped_) stopped_ = socket_.read(line, most_line_bytes, at_once) != LineSocket::Heard::too_late;
    return stopped_;
  }

 private:
  static constexpr std::size_t most_line_bytes = std::size_t{64} << 20;
  LineSocket socket_;
  mutable std::mutex telling_;
  std::mutex asking_;
  bool stopped_ = false;
};

std::unique_ptr<Backend> backend_for(const SearchRequest& request) {
  if (request.device == "cuda" && request.beside_others) leave_cores_to_others();
  VgpuOptions vgpu;
  vgpu.gpu = request.gpu;
  return choose_backend(request.device, vgpu);
}

std::unique_ptr<Archive> archive_for(const SearchRequest& request, const Asker& asker) {
  std::string why_none;
  if (request.archive.empty()) return nullptr;
  std::unique_ptr<Archive> archive = open_archive(request.archive, why_none);
  if (!archive) asker.tell(problem_message(why_none + " (the search goes on; nothing is recorded)"));
  return archive;
}

PolicyOptions policy_options(const SearchRequest& request) {
  PolicyOptions options;
  read_policy_arguments(request.policy_arguments, options);
  return options;
}

TaskSearchOptions options_for(const SearchRequest& request, Asker& asker) {
  TaskSearchOptions made;
  made.limits = {request.evaluations, request.seconds};
  made.policy_name = request.policy;
  made.progress_file = request.folder / "progress.json";
  made.jobs = request.jobs;
  made.bytes_for_input_sets = request.bytes_for_input_sets;
  made.beside_other_judges = request.beside_others;
  made.profile_programs = policy_options(request).profiles;
  made.best_is_timed_later = request.best_is_timed_later && !request.module.empty();
  made.stop = [&asker] { return asker.wants_stop(); };
  made.report = [&asker](const std::string& problem) { asker.tell(problem_message(problem)); };
  return made;
}

//! Of a judge's own work, after which the GPU is of no more use to this process; null: it has not failed.
const Failure* failure_of_gpu(const Evaluation& evaluation, const SearchRequest& request) {
  const bool failed = evaluation.status == Status::judge_error && !evaluation.predicted;
  return failed && request.ends_with_its_gpu ? &evaluation.failure : nullptr;
}

//! Null, or why another process is to go on.
const Failure* run(TaskSearch& search, const SearchRequest& request, const Asker& asker) {
  const int before = search.run().spent().evaluations - request.judged;
  const Failure* failure = nullptr;
  bool goes_on = true;
  while (goes_on && failure == nullptr) {
    asker.tell(news_message({search.run().spent().evaluations, before, search.run().best_reward()}));
    goes_on = search.step();
    if (!search.run().judged().empty()) failure = failure_of_gpu(search.run().judged().back().evaluation, request);
  }
  asker.tell(news_message({search.run().spent().evaluations, before, search.run().best_reward()}));
  return failure;
}

std::string failure_text(const Evaluation& evaluation) {
  return fmt::format("{}: {}", to_string(evaluation.status), evaluation.failure.message);
}

//! Of the first program that was refused: often the task itself cannot be run, and all say the same.
std::string why_none_is_right(const SearchRun& run) {
  const auto is_wrong = [](const JudgedProgram& finding) { return finding.evaluation.status != Status::ok; };
  const auto wrong = std::ranges::find_if(run.judged(), is_wrong);
  return wrong == run.judged().end() ? "" : failure_text(wrong->evaluation);
}

OptimizedTask counted(const SearchRun& run, const SearchRequest& request, const PolicyMaker& policies) {
  OptimizedTask found;
  found.name = request.name;
  found.evaluations = run.spent().evaluations;
  found.judged = request.judged + static_cast<int>(run.judged().size());
  found.right = request.right + static_cast<int>(std::ranges::count_if(run.judged(), [](const JudgedProgram& finding) {
                  return finding.evaluation.status == Status::ok;
                }));
  found.seconds = request.seconds_before + run.seconds();
  found.exhausted = run.is_exhausted();
  found.models = policies.records();
  return found;
}

OptimizedTask given_up(OptimizedTask found, const Failure& why) {
  found.error = why.message;
  found.wants_another_process = true;
  return found;
}

OptimizedTask finished(OptimizedTask found, TaskSearch& search, const SearchRequest& request, Asker& asker) {
  found.stopped = asker.wants_stop();
  if (!found.stopped && search.has_candidates()) search.profile_reference();
  found.best = search.confirmed_best();
  if (!found.best) found.why_none = why_none_is_right(search.run());
  if (!found.best) return found;
  found.replaced = search.replaced_share(found.best->text);
  if (const Failure* failure = failure_of_gpu(found.best->evaluation, request))
    return given_up(std::move(found), *failure);
  if (found.best->evaluation.status != Status::ok) {
    found.why_none = failure_text(found.best->evaluation);
    return found;
  }
  write_best(found, search.task(), {request.task, request.module}, request.folder);
  if (request.explain && !asker.wants_stop()) found.effects = search.effects(found.best->text);
  return found;
}

//! Everything but the search itself, in the order in which it must be made and go.
struct Workplace {
  Workplace(const SearchRequest& request, Asker& asker)
      : policies(policy_options(request), {request.seed, request.tasks, [&asker] { return asker.wants_stop(); },
                                           [&asker](const std::string& line) { asker.tell(problem_message(line)); }}),
        backend(backend_for(request)),
        gpu(profile_for(*backend, request.gpu)),
        archive(archive_for(request, asker)),
        task(load_task_with_metas(request.task)) {}

  PolicyMaker policies;
  std::unique_ptr<Backend> backend;
  vgpu::GpuProfile gpu;
  std::unique_ptr<Archive> archive;
  Task task;
};

//! Tells what came of it while everything is still there: of a GPU that has failed, not everybody takes leave in peace.
void search_and_tell(const SearchRequest& request, Asker& asker) {
  Workplace place(request, asker);
  TaskSearch search(*place.backend, place.task, place.archive.get(), place.policies.make(place.task, place.gpu),
                    options_for(request, asker));
  const Failure* failure = run(search, request, asker);
  OptimizedTask judged = counted(search.run(), request, place.policies);
  const OptimizedTask found =
      failure != nullptr ? given_up(std::move(judged), *failure) : finished(std::move(judged), search, request, asker);
  asker.tell(report_message(report_of(found)));
}

void sample_and_tell(const SearchRequest& request, Asker& asker) {
  Workplace place(request, asker);
  TaskSampler sampler(*place.backend, place.task, place.archive.get(), request);
  OptimizedTask sampled;
  sampled.name = request.name;
  double best = 0.0;
  SampleListener listener;
  listener.stop = [&asker] { return asker.wants_stop(); };
  listener.sample = [&](const SampleRow& row) {
    ++sampled.judged;
    best = std::max(best, row.speedup.value_or(0.0));
    asker.tell(sample_message(row));
    asker.tell(news_message({sampled.judged, 0, best}));
  };
  const Failure* failure = sampler.run(place.policies, place.gpu, listener);
  if (failure != nullptr) sampled = given_up(std::move(sampled), *failure);
  asker.tell(report_message(report_of(sampled)));
}

}  // namespace
}  // namespace cudal1

int main() {
  cudal1::tell_where_it_crashes();
  cudal1::Asker asker;
  const auto request = asker.request();
  if (!request) return 1;
  try {
    request->samples.empty() ? cudal1::search_and_tell(*request, asker) : cudal1::sample_and_tell(*request, asker);
  } catch (const std::exception& problem) {
    asker.tell(cudal1::report_message(cudal1::failed_report(request->name, problem.what())));
  }
  return 0;
}
