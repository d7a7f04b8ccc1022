// What a training run is to do, as its configuration file says it (docs/train.md). Every number has a default that is
// the recipe; a file names what is different.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/collapse_watch.hpp"
#include "train/exemplar_pool.hpp"
#include "train/group_advantages.hpp"
#include "train/grpo_loss.hpp"
#include "train/reward_shaping.hpp"

namespace cudal1 {

//! [model]
struct ModelSettings {
  std::filesystem::path path;     //!< a GGUF file or a Hugging Face folder; empty: the product's own
  std::filesystem::path adapter;  //!< from which to start; empty: a new one
  std::int64_t rank = 32;
  double alpha = 64.0;
  std::string device = "auto";  //!< auto, cpu, cuda
  std::string dtype = "auto";   //!< auto (f32 on a CPU, bf16 on a GPU), f32, bf16, f16: of the frozen weights
};

//! [tasks]
struct TaskSettings {
  std::uint64_t seed = 1;
  std::int64_t train = 400, validation = 40, test = 100;
  double reference_us_low = 15.0, reference_us_high = 200.0;
  double difficulty = -1.0;           //!< 0 to 1; below 0: every task draws its own
  std::vector<std::string> families;  //!< empty: all
  double least_speed_ratio = 1.3;     //!< for stage 3: of the 90th to the 10th percentile of random programs; 0: any
  std::int64_t spread_programs = 16;  //!< so many random programs say it
};

//! [judge]
struct JudgeSettings {
  std::string device = "auto";    //!< auto, cuda, vgpu
  std::string gpu = "h200";       //!< whose times the virtual one predicts
  std::int64_t jobs = 0;          //!< programs that are compiled at once; 0: as many as there are cores
  std::filesystem::path archive;  //!< where measurements are kept and shared; empty: in the run's folder
};

//! [supervised]
struct SupervisedSettings {
  std::int64_t pairs = 20000;
  double written_out_share = 0.25;  //!< of pairs: CUDA with `kernel … replaces`, not directives
  std::int64_t epochs = 2;
  std::int64_t batch = 64;  //!< texts a step
  double learning_rate = 3e-3;
  std::int64_t warm_up_steps = 20;
  std::int64_t variants = 24;      //!< programs tried for each task
  std::filesystem::path programs;  //!< another run's variants.jsonl, whose tasks are not judged again; empty: none
};

//! [self_supervised]
struct SelfSupervisedSettings {
  std::int64_t rounds = 2;
  std::int64_t samples = 8;       //!< a task and round
  std::int64_t most_plans = 4;    //!< distinct ones of a task that are learned from, in all rounds
  double supervised_share = 0.5;  //!< of a batch: pairs of stage 1; fewer where own ones are few
  std::int64_t batch = 64;
  double learning_rate = 6e-4;
};

//! [contrastive]
struct ContrastiveSettings {
  std::int64_t steps = 70;
  std::int64_t prompts = 8;   //!< a step
  std::int64_t samples = 16;  //!< a prompt
  std::int64_t updates = 1;   //!< of the weights for the samples of one step
  bool ahead = false;         //!< a step's answers are written and judged beside what is left to do of the one before
  double learning_rate = 1e-4;
  std::int64_t warm_up_steps = 5;
  bool smoothing = true;  //!< with the paper's reward: clip((r - mean) / std, -1.5, 1.5)
  RewardOptions reward;
  GroupOptions group;
  GrpoOptions loss;
  ExemplarPoolOptions exemplars{.share_without = 0.2};
};

//! [run]
struct RunSettings {
  std::uint64_t seed = 1;
  std::vector<std::string> stages = {"supervised", "self_supervised", "contrastive"};
  std::int64_t answer_tokens = 160;       //!< of directives
  std::int64_t written_out_tokens = 700;  //!< of an answer with CUDA in it; longer ones are not learned
  bool grammar = true;                    //!< answers in directives are held to that of their task
  std::int64_t context_tokens = 2048;     //!< of prompt and answer together
  std::int64_t tokens_at_once = 16384;    //!< of texts whose gradients are computed together
  std::int64_t processes = 1;             //!< that compute gradients together
  std::int64_t slots = 128;               //!< texts that are written at once; fewer on a CPU
  double longest_gradient = 1.0;          //!< norm to which longer gradients are scaled
  double weight_decay = 0.0;              //!< of AdamW
  std::int64_t checkpoint_every = 10;     //!< steps
  std::int64_t keep_checkpoints = 2;      //!< of a stage, beside its last one
  std::int64_t validate_every = 0;        //!< steps of stage 3; 0: at the end only
};

struct TrainingConfig {
  RunSettings run;
  ModelSettings model;
  TaskSettings tasks;
  JudgeSettings judge;
  SupervisedSettings supervised;
  SelfSupervisedSettings self_supervised;
  ContrastiveSettings contrastive;
  CollapseLimits collapse;
};

//! Reads TOML: sections in brackets, `key = value` lines. Throws UsageError in one line with the place: for a section
//! or key that is not known, with the nearest that is; for a value of another kind or out of range; for a key that
//! stands there twice.
TrainingConfig parse_training_config(std::string_view text, std::string_view origin);
TrainingConfig load_training_config(const std::filesystem::path& file);

//! `section.key=value`, as on the command line, where strings need no quotes and arrays no brackets. Throws UsageError.
void set_training_option(TrainingConfig& config, std::string_view assignment);

//! All keys with their values, in the order of the manual: what a run keeps, and what identifies it.
std::string to_toml(const TrainingConfig& config);

//! The first key that a run begun with `before` may not go on with, as one line; nothing if it may. Those that change
//! nothing of what is learned (how often checkpoints are written, how many processes compile, when to stop) may differ.
std::optional<std::string> difference(const TrainingConfig& before, const TrainingConfig& now);

//! All keys with defaults, ranges and meanings: a table a section, for docs/train.md.
std::string training_options_markdown();

//! Throws UsageError for numbers that make no sense together.
void check(const TrainingConfig& config);

}  // namespace cudal1
