// Examples as other people's trainers read them (docs/training_data.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/data/training_example.hpp"

namespace cudal1 {

enum class ExportFormat {
  trl,       //!< prompt and completion as conversations; for SFT, and its prompts for GRPO
  verl,      //!< data_source, prompt, ability, reward_model, extra_info; as JSON lines, not as Parquet
  messages,  //!< whole conversations, as OpenAI's fine-tuning reads them
};

std::string_view to_string(ExportFormat format);
std::optional<ExportFormat> export_format_from_string(std::string_view name);

//! One object without a newline. `index`: its place among all that are exported.
std::string export_line(const TrainingExample& example, ExportFormat format, std::size_t index);
std::string export_text(std::span<const TrainingExample> examples, ExportFormat format);

//! What a training run keeps: examples.jsonl, pairs that it was trained on; samples.jsonl, what it wrote in stage 3.
enum class ExamplesOfRun { pairs, samples };

//! Those of a file, or of a run. Throws Error where there are none.
std::vector<TrainingExample> load_examples(const std::filesystem::path& run_or_file,
                                           ExamplesOfRun which = ExamplesOfRun::pairs);

}  // namespace cudal1
