// What a model is trained on, and what other trainers read: one example a line, as JSON (docs/training_data.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/prompt/program_form.hpp"
#include "tasks/generated_task.hpp"

namespace cudal1 {

struct TrainingExample {
  std::string task;  //!< its name
  TaskSplit split = TaskSplit::train;
  std::string group;       //!< the same for all that answer one prompt
  std::string prompt;      //!< the user's message
  std::string completion;  //!< a line of analysis, then the program
  std::string plan_hash;
  double speedup = 0.0;  //!< 0: it was no success
  double reward = 0.0;
  std::size_t exemplars = 0;  //!< in the prompt
  ProgramForm form = ProgramForm::directives;
  bool operator==(const TrainingExample&) const = default;
};

//! Follows from the prompt.
std::string group_of_prompt(std::string_view prompt);

//! Without a newline.
std::string to_json_line(const TrainingExample& example);
//! Throws Error in one line that begins with the origin, such as "pairs.jsonl:3", for what is no example.
TrainingExample example_from_json_line(std::string_view line, const std::string& origin);

//! The file is there as a whole or not at all.
void write_examples(const std::filesystem::path& file, std::span<const TrainingExample> examples);
//! Empty lines count as nothing. Throws Error as above.
std::vector<TrainingExample> read_examples(const std::filesystem::path& file);

}  // namespace cudal1
