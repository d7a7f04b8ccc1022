// The pairs of stage 1 (docs/training_data.md): a task, none to two scored programs, and a program to write. The target
// is drawn without a look at scores: a model learns the format here, not the preference.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "train/data/program_variants.hpp"
#include "train/data/training_example.hpp"
#include "train/data/training_prompt.hpp"

namespace cudal1 {

//! A program that was right, and how fast it was.
struct ScoredVariant {
  ProgramVariant program;
  double speedup = 1.0;
};

//! What a task is taught with. Plans are distinct.
struct TaskVariants {
  const TrainingTask* task = nullptr;
  std::vector<ScoredVariant> variants;
};

struct SupervisedDataOptions {
  std::size_t pairs = 20000;
  double written_out_share = 0.25;  //!< of pairs whose program is CUDA
  TrainingPromptOptions prompt;
};

//! What became of all draws.
struct SupervisedCounts {
  std::size_t too_long_prompt = 0;  //!< graph or exemplars beside the room for an answer
  std::size_t too_long_answer = 0;
  std::size_t too_few_variants = 0;  //!< for so many exemplars besides the target
  std::size_t unfilled = 0;          //!< pairs that several draws in a row did not give
};

struct SupervisedData {
  std::vector<TrainingExample> examples;
  SupervisedCounts counts;
};

//! A third of the pairs each has 0, 1 and 2 exemplars, in random order. Tasks take turns, and so do the targets of a
//! task. The same Random gives the same pairs.
SupervisedData supervised_data(std::span<const TaskVariants> tasks, const SupervisedDataOptions& options,
                               Random& random);

//! The answer that is learned: the line of analysis, then the program.
std::string completion_of(const TrainingTask& task, const vgpu::GpuProfile& gpu,
                          std::span<const PromptExemplar> exemplars, std::string_view directives,
                          std::string_view program);

}  // namespace cudal1
