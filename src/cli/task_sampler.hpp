// What `bench --policy` does for one task: answers are drawn from its policies, and each is judged.
#pragma once

#include <functional>

#include "archive/archive.hpp"
#include "cli/policy_maker.hpp"
#include "cli/search_process.hpp"
#include "judge/backend.hpp"
#include "judge/judge.hpp"
#include "optimize/policy_samples.hpp"

namespace cudal1 {

//! Who listens while a task is sampled.
struct SampleListener {
  std::function<void(const SampleRow&)> sample;  //!< without the task's identity and key
  std::function<bool()> stop;
};

class TaskSampler {
 public:
  //! `archive`: whose programs are shown; may be null. Throws Error when the reference does not run.
  TaskSampler(Backend& backend, Task task, Archive* archive, const SearchRequest& request);

  //! Null, or why another process is to go on.
  const Failure* run(PolicyMaker& policies, const vgpu::GpuProfile& gpu, const SampleListener& listener);

 private:
  std::vector<ScoredProgram> on_record(Archive* archive) const;
  //! What this policy proposed before, and what became of it.
  std::vector<ScoredProgram> proposed_by(const std::string& policy) const;
  //! Numbers of the request, of those whose turn is the share's.
  std::vector<int> numbers_of(std::size_t share, const std::vector<PolicyShare>& shares) const;
  SampleRow row_of(const JudgedSample& sample, const std::string& policy) const;
  bool take(const JudgedSample& sample, const std::string& policy, const SampleListener& listener);

  Backend& backend_;
  Task task_;
  const SearchRequest& request_;
  TaskJudge judge_;
  std::vector<ScoredProgram> on_record_;
  Failure gpu_failure_ = {Status::ok, ""};
};

}  // namespace cudal1
