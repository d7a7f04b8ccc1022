#include "train/assess/assessor_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "judge/gpu_ledger.hpp"
#include "train/assess/assessor_counts.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_answer_bytes = std::size_t{256} << 20;
constexpr std::chrono::milliseconds between_looks{200};
constexpr double first_wait_seconds = 2.0;

Assessment own_failure(const std::string& message) {
  Assessment made;
  made.outcome.status = Status::judge_error;
  made.message = message;
  return made;
}

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

//! The programs of one task.
struct AssessorPool::Job {
  std::vector<std::size_t> members;  //!< their places among all
  AssessRequest request;
  std::vector<Assessment> assessments;
};

//! A process, started when it is first needed and again when it has died.
class AssessorPool::Worker {
 public:
  explicit Worker(AssessorPool& pool) : pool_(pool) {}

  std::vector<Assessment> assess(const AssessRequest& request) {
    std::string problem;
    for (int attempt = 0; attempt < pool_.options_.attempts && !pool_.options_.stop(); ++attempt) {
      try {
        return ask(request);
      } catch (const std::exception& error) {
        problem = error.what();
        child_.reset();
        pool_.report(problem + " (a new one is started)");
      }
    }
    if (problem.empty()) problem = "somebody asked to stop";
    return std::vector<Assessment>(request.programs.size(), own_failure(problem));
  }

 private:
  std::vector<Assessment> ask(const AssessRequest& request) {
    if (!child_) start();
    child_->send(line_of(to_json(request)));
    const json said = json::parse(answer());
    std::vector<Assessment> assessments;
    for (const json& each : said.at("assessments")) assessments.push_back(assessment_from(each));
    if (assessments.size() != request.programs.size()) throw Error("the judging process lost a program");
    return assessments;
  }

  void start() {
    child_.emplace("cudal1-assess", environment_with(pool_.options_.threads, {GpuLedger::variable}));
    AssessSetting setting = pool_.options_.setting;
    setting.beside_others |= pool_.options_.processes > 1;
    child_->send(line_of(to_json(setting)));
  }

  static std::string line_of(const json& message) {
    return message.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  //! Lines that are no answer are for people.
  std::string answer() {
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(pool_.options_.longest_answer_seconds));
    for (;;) {
      const std::string line = next_line(deadline);
      const json said = json::parse(line);
      if (said.contains("problem"))
        pool_.report(said["problem"].get<std::string>());
      else
        return line;
    }
  }

  std::string next_line(Clock::time_point deadline) {
    std::string line;
    while (Clock::now() < deadline) {
      if (pool_.options_.stop()) throw Error("somebody asked to stop");
      const auto heard = child_->read(line, most_answer_bytes, std::min(deadline, Clock::now() + between_looks));
      if (heard == LineSocket::Heard::line) return line;
      if (heard == LineSocket::Heard::end) throw Error("the judging process " + child_->obituary());
      if (heard == LineSocket::Heard::too_long) throw Error("the judging process says too much");
    }
    throw Error(fmt::format("judging took more than {:.0f} s", pool_.options_.longest_answer_seconds));
  }

  AssessorPool& pool_;
  std::optional<LineChild> child_;
};

AssessorPool::AssessorPool(AssessorPoolOptions options) : options_(std::move(options)) {
  if (!options_.wait) options_.wait = sleep_for;
  for (int i = 0; i < std::max(1, options_.processes); ++i) threads_.emplace_back([this] { work(); });
}

AssessorPool::~AssessorPool() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void AssessorPool::work() {
  Worker worker(*this);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closed_ || (jobs_ != nullptr && next_job_ < jobs_->size()); });
    if (closed_) return;
    Job& job = (*jobs_)[next_job_++];
    lock.unlock();
    job.assessments = worker.assess(job.request);
    lock.lock();
    ++jobs_done_;
    changed_.notify_all();
  }
}

void AssessorPool::report(const std::string& line) {
  const std::lock_guard lock(reporting_);
  options_.report(line);
}

std::vector<AssessorPool::Job> AssessorPool::jobs_of(std::span<const SubmittedProgram> programs) {
  std::vector<Job> jobs;
  std::map<std::string, std::size_t> by_task;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const Task& task = programs[i].task->task;
    const auto [found, is_new] = by_task.try_emplace(task.hash, jobs.size());
    if (is_new) jobs.push_back({{}, {programs[i].task->family, task.source_text, {}}, {}});
    jobs[found->second].members.push_back(i);
    jobs[found->second].request.programs.push_back(programs[i].text);
  }
  return jobs;
}

std::vector<Assessment> AssessorPool::assess_once(std::span<const SubmittedProgram> programs) {
  std::vector<Job> jobs = jobs_of(programs);
  {
    std::unique_lock lock(mutex_);
    jobs_ = &jobs;
    next_job_ = jobs_done_ = 0;
    changed_.notify_all();
    changed_.wait(lock, [&] { return jobs_done_ == jobs.size(); });
    jobs_ = nullptr;
  }
  std::vector<Assessment> assessments(programs.size());
  for (Job& job : jobs)
    for (std::size_t k = 0; k < job.members.size(); ++k) assessments[job.members[k]] = std::move(job.assessments[k]);
  return assessments;
}

//! What the judge failed at is handed in again: a GPU that others have filled is free again some time.
std::vector<Assessment> AssessorPool::assess(std::span<const SubmittedProgram> programs) {
  const auto begin = Clock::now();
  std::vector<Assessment> assessments = assess_once(programs);
  double waited = 0.0;
  for (double wait = first_wait_seconds; !options_.stop(); wait *= 2.0) {
    std::vector<SubmittedProgram> failed;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < programs.size(); ++i)
      if (assessments[i].outcome.status == Status::judge_error) {
        failed.push_back(programs[i]);
        places.push_back(i);
      }
    if (failed.empty() || waited + wait > options_.patience_seconds) break;
    report(fmt::format("{} programs could not be judged ({}), again in {:.0f} s", failed.size(),
                       assessments[places.front()].message, wait));
    options_.wait(wait);
    waited += wait;
    std::vector<Assessment> again = assess_once(failed);
    for (std::size_t k = 0; k < places.size(); ++k) assessments[places[k]] = std::move(again[k]);
  }
  for (const Assessment& assessment : assessments) count(counts_, assessment);
  counts_.seconds += seconds_since(begin);
  return assessments;
}

std::string AssessorPool::empty_plan_hash(const TrainingTask& task) {
  std::string& known = empty_plans_[task.task.hash];
  if (known.empty()) known = hash_of_empty_plan(task);
  return known;
}

}  // namespace cudal1
