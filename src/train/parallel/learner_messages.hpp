// What the process that leads a run tells the others, who hold the same model: which of its functions to call.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "train/rollout/adapter_model.hpp"

namespace cudal1 {

//! The first message: which model to hold. Who takes turns on a GPU and who learns together is not sent.
struct HoldModel {
  AdapterModelOptions options;
  std::size_t member = 1, size = 2;
};

struct LearnPairs {
  std::vector<PromptAndAnswer> pairs;
  double learning_rate = 0.0;
};

struct ImproveAnswers {
  std::vector<WeighedAnswer> answers;
  GrpoOptions options;
  int updates = 1;
  double learning_rate = 0.0;
};

struct WriteAnswers {
  std::vector<PromptToAnswer> prompts;
};

struct KeepReference {};
struct BeginStage {};
struct LoadAdapter {
  std::string folder;
};
struct LoadOptimiser {
  std::string file;
};

using LearnerOrder =
    std::variant<LearnPairs, ImproveAnswers, WriteAnswers, KeepReference, BeginStage, LoadAdapter, LoadOptimiser>;
//! What a process replies to each order once it is carried out; empty but after WriteAnswers.
using WrittenAnswers = std::vector<std::vector<SampledAnswer>>;

// As bytes; numbers keep all their bits, those that are not finite too. Reading throws Error.
std::string bytes_of(const HoldModel& message);
std::string bytes_of(const LearnerOrder& order);
std::string bytes_of(const WrittenAnswers& answers);
HoldModel hold_model_from(const std::string& bytes);
LearnerOrder learner_order_from(const std::string& bytes);
WrittenAnswers written_answers_from(const std::string& bytes);

}  // namespace cudal1
