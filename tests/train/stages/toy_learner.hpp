// A policy over a handful of answers that learns as a language model does, and a judge that knows their speeds: what a
// stage does can be seen without tensors, compilers or a GPU.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/random.hpp"
#include "model/sampling/scores_not_numbers.hpp"
#include "train/assess/assessor.hpp"
#include "train/rollout/learning_model.hpp"
#include "train/stages/program_pool.hpp"

namespace cudal1::testing {

//! An answer is one token, the number of a program. Its scores do not depend on the prompt.
class ToyLearner : public LearningModel {
 public:
  explicit ToyLearner(std::size_t programs) : scores_(programs), reference_(programs) {}

  //! What it would say; the judge finds the program in it.
  static std::string text_of(std::size_t program) { return fmt::format("Analysis: none.\n//! program_{}", program); }
  std::vector<double> probabilities() const { return softmax(scores_); }
  std::vector<std::string> prompts;                           //!< all that it was asked
  std::vector<std::string> asked_grammars, learned_grammars;  //!< of each prompt, of each answer that it improved by
  std::vector<bool> learned_from_earlier;                     //!< of each improvement: by answers of an earlier policy?
  int improvements = 0;
  std::int64_t answers_until_broken = -1;  //!< so many prompts are answered, then its scores are no numbers; -1: all

  std::size_t count_tokens(std::string_view text) const override { return text.size(); }

  std::vector<std::vector<SampledAnswer>> answers(std::span<const PromptToAnswer> asked) override {
    std::vector<std::vector<SampledAnswer>> groups;
    for (const PromptToAnswer& prompt : asked) {
      if (answers_until_broken == 0) throw ScoresNotNumbers();
      if (answers_until_broken > 0) --answers_until_broken;
      prompts.push_back(prompt.prompt);
      asked_grammars.push_back(prompt.grammar);
      groups.emplace_back();
      for (std::int64_t i = 0; i < prompt.samples; ++i)
        groups.back().push_back(drawn(Random(prompt.seed + static_cast<std::uint64_t>(i))));
    }
    return groups;
  }

  SupervisedUpdate learn(std::span<const PromptAndAnswer> pairs, double learning_rate) override {
    SupervisedUpdate update;
    for (const PromptAndAnswer& pair : pairs)
      for (std::size_t program = 0; program < scores_.size(); ++program)
        if (pair.answer == text_of(program)) {
          update.loss -= std::log(probabilities()[program]) / static_cast<double>(pairs.size());
          scores_[program] += learning_rate / static_cast<double>(pairs.size());
          ++update.answer_tokens;
        }
    return update;
  }
  double loss_of(std::span<const PromptAndAnswer> pairs) override {
    ToyLearner copy = *this;
    return copy.learn(pairs, 0.0).loss;
  }

  PolicyUpdate improve(std::span<const WeighedAnswer> answers, const GrpoOptions&, int, double learning_rate) override {
    const std::vector<double> before = probabilities(), at_first = softmax(reference_);
    PolicyUpdate update;
    ++improvements;
    learned_from_earlier.push_back(!answers.empty() && answers.front().by_earlier_policy);
    for (std::size_t i = 0; i < before.size(); ++i) update.kl += before[i] * std::log(before[i] / at_first[i]);
    for (const WeighedAnswer& answer : answers) {
      learned_grammars.push_back(answer.grammar);
      for (std::size_t i = 0; i < scores_.size(); ++i)
        scores_[i] += learning_rate * answer.advantage *
                      ((static_cast<std::size_t>(answer.tokens.front().id) == i ? 1.0 : 0.0) - before[i]);
    }
    return update;
  }

  void keep_as_reference() override { reference_ = scores_; }
  void begin_stage() override {}
  void save_adapter(const std::filesystem::path& folder) override {
    std::filesystem::create_directories(folder);
    std::string text;
    for (const double score : scores_) text += fmt::format("{}\n", score);
    write_file_atomically(folder / "scores", text);
  }
  void load_adapter(const std::filesystem::path& folder) override {
    const std::string text = read_file(folder / "scores");
    std::size_t at = 0;
    for (double& score : scores_) {
      score = std::stod(text.substr(at));
      at = text.find('\n', at) + 1;
    }
  }
  void save_optimiser(const std::filesystem::path& file) override { write_file_atomically(file, "none"); }
  void load_optimiser(const std::filesystem::path& file) override { read_file(file); }
  const std::string& base_sha256() const override { return sha256_; }

 private:
  static std::vector<double> softmax(const std::vector<double>& scores) {
    std::vector<double> shares;
    for (const double score : scores) shares.push_back(std::exp(score));
    const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= all;
    return shares;
  }
  SampledAnswer drawn(Random random) const {
    const std::vector<double> shares = probabilities();
    double left = random.uniform();
    std::size_t program = 0;
    while (program + 1 < shares.size() && (left -= shares[program]) >= 0.0) ++program;
    const auto log_probability = static_cast<float>(std::log(shares[program]));
    return {{{static_cast<std::int32_t>(program), log_probability, log_probability, false}},
            text_of(program),
            FinishReason::stop};
  }

  std::vector<double> scores_, reference_;
  std::string sha256_ = "toy";
};

//! Program n has the n-th of these speed-ups; one that is 0 is wrong.
class ToyAssessor : public Assessor {
 public:
  explicit ToyAssessor(std::vector<double> of_programs) : program_speedups(std::move(of_programs)) {}

  std::vector<double> program_speedups;
  double replaced_share = 1.0;  //!< of the reference's time, by each program

  std::vector<Assessment> assess(std::span<const SubmittedProgram> programs) override {
    std::vector<Assessment> assessments;
    for (const SubmittedProgram& program : programs) assessments.push_back(assess(program.text));
    return assessments;
  }
  std::string empty_plan_hash(const TrainingTask&) override { return "plan of nothing"; }
  AssessorCounts counts() const override { return counts_; }

 private:
  Assessment assess(const std::string& text) {
    ++counts_.assessed;
    const std::size_t number = std::stoul(text.substr(text.rfind('_') + 1));
    const double speedup = program_speedups.at(number);
    Assessment made;
    made.techniques = {fmt::format("technique_{}", number)};
    made.outcome = {speedup > 0.0 ? Status::ok : Status::wrong_result,
                    fmt::format("plan {}", number),
                    speedup,
                    speedup * 0.99,
                    speedup * 1.01,
                    replaced_share};
    return made;
  }
  AssessorCounts counts_;
};

inline std::vector<TrainingTask> toy_tasks(std::size_t count) {
  std::vector<TrainingTask> tasks(count);
  for (std::size_t i = 0; i < count; ++i) {
    tasks[i].family = "toy";
    tasks[i].task.name = fmt::format("toy_{}", i);
    tasks[i].task.hash = fmt::format("hash {}", i);
  }
  return tasks;
}

inline std::string toy_grammar(const TrainingTask& task) { return "grammar of " + task.task.name; }

//! The exemplars' scores, as a prompt would show them.
inline std::string toy_prompt(const TrainingTask& task, const ShownPrograms& shown) {
  std::string text = task.task.name;
  for (const PromptExemplar& exemplar : shown.exemplars) text += fmt::format(" {:.2f}", exemplar.speedup);
  return text;
}

}  // namespace cudal1::testing
