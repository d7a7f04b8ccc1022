// The model that learns, held by several processes: this one leads, the others compute gradients of their share of the
// texts. What comes of it is what one process would compute.
#pragma once

#include <memory>
#include <vector>

#include "train/parallel/learner_process.hpp"
#include "train/parallel/process_group.hpp"
#include "train/rollout/adapter_model.hpp"

namespace cudal1 {

struct ParallelModelOptions {
  std::size_t processes = 1;  //!< this one counted; 1: nobody else is started
  //! Prompts are divided among processes as well: where each has a device of its own. Answers are the same.
  bool writes_together = false;
};

//! Throws Error in one line that names a process which has ended; nothing works any more then.
class ParallelModel final : public LearningModel {
 public:
  //! Throws Error as AdapterModel does.
  ParallelModel(AdapterModelOptions model, const ParallelModelOptions& options);
  ParallelModel(const ParallelModel&) = delete;
  ParallelModel& operator=(const ParallelModel&) = delete;

  std::size_t count_tokens(std::string_view text) const override { return own_->count_tokens(text); }
  WrittenAnswers answers(std::span<const PromptToAnswer> prompts) override;
  SupervisedUpdate learn(std::span<const PromptAndAnswer> pairs, double learning_rate) override;
  double loss_of(std::span<const PromptAndAnswer> pairs) override { return own_->loss_of(pairs); }
  PolicyUpdate improve(std::span<const WeighedAnswer> answers, const GrpoOptions& options, int updates,
                       double learning_rate) override;
  void keep_as_reference() override;
  void begin_stage() override;
  void save_adapter(const std::filesystem::path& folder) override { own_->save_adapter(folder); }
  void load_adapter(const std::filesystem::path& folder) override;
  void save_optimiser(const std::filesystem::path& file) override { own_->save_optimiser(file); }
  void load_optimiser(const std::filesystem::path& file) override;
  const std::string& base_sha256() const override { return own_->base_sha256(); }

  //! Of the processes beside this one.
  std::vector<pid_t> others() const;

 private:
  WrittenAnswers own_answers(std::span<const PromptToAnswer> prompts);
  void tell(const LearnerOrder& order);
  //! Waits until all the others have carried out what they were told.
  void wait_for_others();
  template <class Work>
  auto together(const LearnerOrder& order, const Work& work);
  static ProcessGroup group_of(const std::vector<std::unique_ptr<LearnerProcess>>& others);

  ParallelModelOptions options_;
  std::vector<std::unique_ptr<LearnerProcess>> others_;
  ProcessGroup group_;
  std::unique_ptr<AdapterModel> own_;
};

}  // namespace cudal1
