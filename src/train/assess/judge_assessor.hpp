// Programs of a training run before the real judge, in this process. Measurements come from the archive where it has
// them: a plan is never measured twice for the same task and GPU, whichever run or arm asks.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "device/vgpu/model/kernel_report.hpp"
#include "judge/judge.hpp"
#include "train/assess/assessor.hpp"

namespace cudal1 {

struct JudgeAssessorOptions {
  int jobs = 1;  //!< compilers at once
  std::uint64_t bytes_for_input_sets = std::uint64_t{512} << 20;
  bool beside_others = false;  //!< who use the same GPU: judges, a model
  int attempts = 2;            //!< where the judge itself fails
  std::uint64_t seed = 0;      //!< of a device that predicts: with it, task and plan say what is predicted
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string& line)> report = [](const std::string&) {};
};

class JudgeAssessor final : public Assessor {
 public:
  //! `archive` may be null: then only this object remembers. Both must outlive this.
  JudgeAssessor(Backend& backend, Archive* archive, JudgeAssessorOptions options);
  ~JudgeAssessor() override;

  //! When somebody asks to stop, what was not judged is a judge_error that says so.
  std::vector<Assessment> assess(std::span<const SubmittedProgram> programs) override;
  //! Whether or not the program is known; nothing is kept.
  Assessment assess_afresh(const TrainingTask& task, const std::string& text);
  std::string empty_plan_hash(const TrainingTask& task) override;
  AssessorCounts counts() const override {
    const std::lock_guard lock(counting_);
    return counts_;
  }

 private:
  class OpenTask;
  OpenTask& open(const TrainingTask& task);

  Backend& backend_;
  Archive* archive_;
  JudgeAssessorOptions options_;
  std::unique_ptr<OpenTask> open_;  //!< the one that was asked for last: judges keep inputs on the device
  AssessorCounts counts_;
  mutable std::mutex counting_;
};

}  // namespace cudal1
