// Programs of a training run before judges in processes of their own (cudal1-assess): several verify and compile at
// once, what one of them does to a GPU is no other's business, and one that dies is replaced.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/line_child.hpp"
#include "train/assess/assess_messages.hpp"

namespace cudal1 {

struct AssessorPoolOptions {
  AssessSetting setting;  //!< of each process; where there are several, they are `beside_others`
  int processes = 1;
  int threads = 0;                        //!< of PyTorch in each; 0: as many as it wants
  int attempts = 3;                       //!< at programs under which a process dies
  double longest_answer_seconds = 600.0;  //!< for the programs of one task
  //! Programs of which the judge itself failed are handed in again after a while, as long as this goes on; the last
  //! time one by one.
  double patience_seconds = 120.0;
  std::function<void(double seconds)> wait;  //!< empty: sleeps
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string& line)> report = [](const std::string&) {};
};

class AssessorPool final : public Assessor {
 public:
  explicit AssessorPool(AssessorPoolOptions options);
  ~AssessorPool() override;

  //! Throws Error where none of a task's programs can be judged, or the disk is full, unless somebody asks to stop.
  std::vector<Assessment> assess(std::span<const SubmittedProgram> programs) override;
  std::string empty_plan_hash(const TrainingTask& task) override;
  AssessorCounts counts() const override {
    const std::lock_guard lock(counting_);
    return counts_;
  }

 private:
  struct Job;
  class Worker;
  std::vector<Assessment> assess_once(std::span<const SubmittedProgram> programs, bool one_by_one = false);
  void hand_in_again(std::span<const SubmittedProgram> programs, std::vector<Assessment>& assessments);
  void demand_a_judge(std::span<const SubmittedProgram> programs, const std::vector<Assessment>& assessments);
  bool can_judge(const Job& job, const std::vector<Assessment>& assessments);
  [[noreturn]] static void complain(const TrainingTask& task, const Assessment& assessment);
  static std::vector<Job> jobs_of(std::span<const SubmittedProgram> programs, bool one_by_one = false);
  void work_on(std::vector<Job>& jobs);
  void work();
  void report(const std::string& line);

  AssessorPoolOptions options_;
  std::map<std::string, std::string> empty_plans_;  //!< by task hash
  AssessorCounts counts_;
  mutable std::mutex counting_;
  std::mutex reporting_;
  std::mutex mutex_;  //!< for what follows
  std::condition_variable changed_;
  std::vector<Job>* jobs_ = nullptr;  //!< that are worked on; null: nothing is
  std::size_t next_job_ = 0, jobs_done_ = 0;
  bool closed_ = false;
  //! As long as the pool: a process ends with the thread that started it.
  std::vector<std::jthread> threads_;
};

}  // namespace cudal1
