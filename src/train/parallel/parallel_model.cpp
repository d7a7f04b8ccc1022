#include "train/parallel/parallel_model.hpp"

#include <utility>

#include "model/sampling/scores_not_numbers.hpp"

namespace cudal1 {
namespace {

std::vector<std::unique_ptr<LearnerProcess>> started(const AdapterModelOptions& model, std::size_t processes) {
  std::vector<std::unique_ptr<LearnerProcess>> others;
  for (std::size_t member = 1; member < processes; ++member)
    others.push_back(std::make_unique<LearnerProcess>(HoldModel{model, member, processes}));
  return others;
}

}  // namespace

ProcessGroup ParallelModel::group_of(const std::vector<std::unique_ptr<LearnerProcess>>& others) {
  std::vector<Channel*> channels;
  for (const auto& other : others) channels.push_back(&other->channel());
  return {std::move(channels), [&others](std::size_t member) { return others[member - 1]->how_it_ended(); }};
}

ParallelModel::ParallelModel(AdapterModelOptions model, const ParallelModelOptions& options)
    : options_(options), others_(started(model, options.processes)), group_(group_of(others_)) {
  model.group = &group_;
  own_ = std::make_unique<AdapterModel>(model);  // while the others make theirs
}

void ParallelModel::tell(const LearnerOrder& order) {
  if (others_.empty()) return;
  const std::string bytes = bytes_of(order);
  for (std::size_t member = 1; member < group_.size(); ++member) group_.send(member, bytes);
}

void ParallelModel::wait_for_others() {
  for (std::size_t member = 1; member < group_.size(); ++member) group_.receive(member);
}

template <class Work>
auto ParallelModel::together(const LearnerOrder& order, const Work& work) {
  tell(order);
  auto made = work();
  wait_for_others();
  return made;
}

//! Beside others, which have ended by then or wait to be read, no step can be left out: the run ends.
WrittenAnswers ParallelModel::own_answers(std::span<const PromptToAnswer> prompts) try {
  return own_->answers(prompts);
} catch (const ScoresNotNumbers& problem) {
  throw Error(problem.what());
}

WrittenAnswers ParallelModel::answers(std::span<const PromptToAnswer> prompts) {
  if (!options_.writes_together || others_.empty()) return own_->answers(prompts);
  std::vector<std::size_t> samples;
  for (const PromptToAnswer& prompt : prompts) samples.push_back(static_cast<std::size_t>(prompt.samples));
  const auto shares = shares_of(samples, group_.size());
  std::vector<WriteAnswers> orders(shares.size());
  for (std::size_t member = 0; member < shares.size(); ++member)
    for (const std::size_t place : shares[member]) orders[member].prompts.push_back(prompts[place]);
  for (std::size_t member = 1; member < shares.size(); ++member)
    group_.send(member, bytes_of(LearnerOrder(orders[member])));
  WrittenAnswers all(prompts.size());
  for (std::size_t member = 0; member < shares.size(); ++member) {
    WrittenAnswers some = member == 0 ? own_answers(orders[0].prompts) : written_answers_from(group_.receive(member));
    for (std::size_t k = 0; k < shares[member].size(); ++k) all[shares[member][k]] = std::move(some.at(k));
  }
  return all;
}

SupervisedUpdate ParallelModel::learn(std::span<const PromptAndAnswer> pairs, double learning_rate) {
  return together(LearnPairs{{pairs.begin(), pairs.end()}, learning_rate},
                  [&] { return own_->learn(pairs, learning_rate); });
}

PolicyUpdate ParallelModel::improve(std::span<const WeighedAnswer> answers, const GrpoOptions& options, int updates,
                                    double learning_rate) {
  return together(ImproveAnswers{{answers.begin(), answers.end()}, options, updates, learning_rate},
                  [&] { return own_->improve(answers, options, updates, learning_rate); });
}

void ParallelModel::keep_as_reference() {
  tell(KeepReference{});
  own_->keep_as_reference();
  wait_for_others();
}

void ParallelModel::begin_stage() {
  tell(BeginStage{});
  own_->begin_stage();
  wait_for_others();
}

//! The others read the same files, which may be gone once this returns.
void ParallelModel::load_adapter(const std::filesystem::path& folder) {
  tell(LoadAdapter{folder.string()});
  own_->load_adapter(folder);
  wait_for_others();
}

void ParallelModel::load_optimiser(const std::filesystem::path& file) {
  tell(LoadOptimiser{file.string()});
  own_->load_optimiser(file);
  wait_for_others();
}

std::vector<pid_t> ParallelModel::others() const {
  std::vector<pid_t> all;
  for (const auto& other : others_) all.push_back(other->pid());
  return all;
}

}  // namespace cudal1
