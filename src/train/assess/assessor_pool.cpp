#include "train/assess/assessor_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
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
constexpr int most_deaths = 2;  // of processes that have answered nothing, one by one for the programs of a task
constexpr const char* stopped = "somebody asked to stop";

Assessment own_failure(const std::string& message) {
  Assessment made;
  made.outcome.status = Status::judge_error;
  made.message = message;
  return made;
}

void sleep_unless(const std::function<bool()>& stop, double seconds) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (!stop() && Clock::now() < end)
    std::this_thread::sleep_until(std::min<Clock::time_point>(end, Clock::now() + between_looks));
}

//! Of the system, or of SQLite. It does not pass while we wait, as a busy GPU does.
bool is_of_a_full_disk(const std::string& message) {
  const auto says = [&](const char* words) { return message.find(words) != std::string::npos; };
  return says("No space left on device") || says("disk is full");
}

bool could_not_be_judged(const Assessment& assessment) { return assessment.outcome.status == Status::judge_error; }

//! Texts can be read and compiled where the device is out of order.
bool was_on_the_device(const Assessment& assessment) {
  constexpr Status elsewhere[] = {Status::parse_error,     Status::plan_error, Status::compile_error,
                                  Status::compile_timeout, Status::forbidden,  Status::judge_error};
  return std::ranges::find(elsewhere, assessment.outcome.status) == std::end(elsewhere);
}

}  // namespace

//! The programs of one task.
struct AssessorPool::Job {
  std::vector<std::size_t> members;  //!< their places among all
  AssessRequest request;
  std::vector<Assessment> assessments;
  bool one_by_one = false;
};

//! A process, started when it is first needed and again when it has died.
class AssessorPool::Worker {
 public:
  explicit Worker(AssessorPool& pool) : pool_(pool) {}

  std::vector<Assessment> assess(const Job& job) {
    return job.one_by_one ? assess_one_by_one(job.request) : assess(job.request, pool_.options_.attempts);
  }

 private:
  std::vector<Assessment> assess(const AssessRequest& request, int attempts) {
    std::string problem = stopped;
    for (int attempt = 0; attempt < attempts && !pool_.options_.stop(); ++attempt) {
      try {
        return ask(request);
      } catch (const std::exception& error) {
        child_.reset();
        if (pool_.options_.stop()) break;
        problem = error.what();
        if (is_of_a_full_disk(problem)) break;
        pool_.report(problem + " (a new one is started)");
      }
    }
    if (pool_.options_.stop()) problem = stopped;
    return std::vector<Assessment>(request.programs.size(), own_failure(problem));
  }

  //! A program under which the process dies does not take the others along.
  std::vector<Assessment> assess_one_by_one(const AssessRequest& request) {
    std::vector<Assessment> assessments;
    bool has_answered = false;
    for (int deaths = 0; const std::string& text : request.programs) {
      if (!has_answered && deaths == most_deaths) {
        assessments.push_back(assessments.back());
        continue;
      }
      AssessRequest alone = request;
      alone.programs = {text};
      assessments.push_back(assess(alone, 1).front());
      if (child_)
        has_answered = true;
      else
        ++deaths;
    }
    return assessments;
  }

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
      if (pool_.options_.stop()) throw Error(stopped);
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
  if (!options_.wait) options_.wait = [this](double seconds) { sleep_unless(options_.stop, seconds); };
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
    job.assessments = worker.assess(job);
    lock.lock();
    ++jobs_done_;
    changed_.notify_all();
  }
}

void AssessorPool::report(const std::string& line) {
  const std::lock_guard lock(reporting_);
  options_.report(line);
}

std::vector<AssessorPool::Job> AssessorPool::jobs_of(std::span<const SubmittedProgram> programs, bool one_by_one) {
  std::vector<Job> jobs;
  std::map<std::string, std::size_t> by_task;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const Task& task = programs[i].task->task;
    const auto [found, is_new] = by_task.try_emplace(task.hash, jobs.size());
    if (is_new) jobs.push_back({{}, {programs[i].task->family, task.source_text, {}}, {}, one_by_one});
    jobs[found->second].members.push_back(i);
    jobs[found->second].request.programs.push_back(programs[i].text);
  }
  return jobs;
}

void AssessorPool::work_on(std::vector<Job>& jobs) {
  std::unique_lock lock(mutex_);
  jobs_ = &jobs;
  next_job_ = jobs_done_ = 0;
  changed_.notify_all();
  changed_.wait(lock, [&] { return jobs_done_ == jobs.size(); });
  jobs_ = nullptr;
}

std::vector<Assessment> AssessorPool::assess_once(std::span<const SubmittedProgram> programs, bool one_by_one) {
  std::vector<Job> jobs = jobs_of(programs, one_by_one);
  work_on(jobs);
  std::vector<Assessment> assessments(programs.size());
  for (Job& job : jobs)
    for (std::size_t k = 0; k < job.members.size(); ++k) assessments[job.members[k]] = std::move(job.assessments[k]);
  return assessments;
}

//! What the judge failed at is handed in again: a GPU that others have filled is free again some time.
void AssessorPool::hand_in_again(std::span<const SubmittedProgram> programs, std::vector<Assessment>& assessments) {
  double left = options_.patience_seconds;
  for (double wait = first_wait_seconds; !options_.stop(); wait *= 2.0) {
    std::vector<SubmittedProgram> failed;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < programs.size(); ++i)
      if (could_not_be_judged(assessments[i])) {
        failed.push_back(programs[i]);
        places.push_back(i);
        if (is_of_a_full_disk(assessments[i].message)) complain(*programs[i].task, assessments[i]);
      }
    if (failed.empty() || left <= 0.0) return;
    wait = std::min(wait, left);
    report(fmt::format("{} programs could not be judged ({}), again in {:.0f} s", failed.size(),
                       assessments[places.front()].message, wait));
    options_.wait(wait);
    left -= wait;
    if (options_.stop()) return;
    std::vector<Assessment> again = assess_once(failed, left <= 0.0);
    for (std::size_t k = 0; k < places.size(); ++k) assessments[places[k]] = std::move(again[k]);
  }
}

void AssessorPool::complain(const TrainingTask& task, const Assessment& assessment) {
  throw Error(fmt::format("{}: programs could not be judged ({}); the same command goes on", task.task.name,
                          assessment.message));
}

//! Nobody may learn from an outage. A program that alone cannot be judged is another matter: the run goes on without.
void AssessorPool::demand_a_judge(std::span<const SubmittedProgram> programs,
                                  const std::vector<Assessment>& assessments) {
  for (const Job& job : jobs_of(programs)) {
    const auto failed =
        std::ranges::find_if(job.members, [&](std::size_t i) { return could_not_be_judged(assessments[i]); });
    if (failed == job.members.end() || can_judge(job, assessments) || options_.stop()) continue;
    complain(*programs[*failed].task, assessments[*failed]);
  }
}

//! Can other programs of the same task be judged, now? One that was a success says so, or else the empty one.
bool AssessorPool::can_judge(const Job& job, const std::vector<Assessment>& assessments) {
  std::set<std::string> failed;
  std::string witness;
  bool has_others = false;
  for (std::size_t k = 0; k < job.members.size(); ++k) {
    const Assessment& assessment = assessments[job.members[k]];
    if (could_not_be_judged(assessment)) failed.insert(job.request.programs[k]);
    if (assessment.outcome.status == Status::ok) witness = job.request.programs[k];
    has_others |= was_on_the_device(assessment);
  }
  if (!has_others && failed.size() > 1) return false;
  std::vector<Job> jobs(1);
  jobs.front().request = {job.request.family, job.request.graph_json, {witness}, true};
  work_on(jobs);
  return !could_not_be_judged(jobs.front().assessments.front());
}

std::vector<Assessment> AssessorPool::assess(std::span<const SubmittedProgram> programs) {
  const auto begin = Clock::now();
  std::vector<Assessment> assessments = assess_once(programs);
  hand_in_again(programs, assessments);
  if (!options_.stop()) demand_a_judge(programs, assessments);
  const std::lock_guard lock(counting_);
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
