// Looks out for rewards that were not earned: what the judge measured twice, what is suddenly far better than anything
// before, and what was caught. Suspicions are lines of a file, each with its program, for a person to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/line_log.hpp"
#include "train/assess/assessor.hpp"
#include "train/reward_shaping.hpp"
#include "train/run/checkpoint.hpp"

namespace cudal1 {

struct HackWatchOptions {
  double jump_factor = 2.0;        //!< times the best speed-up of the task before: a jump
  double first_speedup = 3.0;      //!< above it the first success of a task is one, as the judge measures it again
  std::int64_t most_listed = 200;  //!< of each kind of suspicion; more are only counted
};

struct WatchCounts {
  double reward = 0.0, rechecked_reward = 0.0;  //!< sums of those above 0; the latter of results measured twice
  std::int64_t jumps = 0;
  std::map<std::string, std::int64_t> caught;  //!< by status

  double rechecked_share() const { return reward > 0.0 ? rechecked_reward / reward : 0.0; }
};

class HackWatch {
 public:
  //! Goes on from what state() said when a checkpoint was written; null: from the beginning. Lines of `file` that were
  //! written since then go, for the steps come again. Throws Error, also for what state() did not make.
  HackWatch(const std::filesystem::path& file, const nlohmann::json& state, const HackWatchOptions& options = {});

  //! Of one sample. Throws Error where the file cannot be written.
  void observe(const CheckpointName& step, const std::string& task, const std::string& program,
               const Assessment& assessment, const ShapedReward& reward);

  const WatchCounts& counts() const { return counts_; }
  //! "12% of the reward was measured twice, 2 jumps, caught: 3 forbidden, 1 faster_than_possible".
  std::string summary() const;

  //! For checkpoints: counts, the best of each task, how many lines there are.
  nlohmann::json state() const;

 private:
  void watch_for_jump(const CheckpointName& step, const std::string& task, const std::string& program,
                      const Assessment& assessment);
  void write(const std::string& kind, std::int64_t count, nlohmann::json suspicion);

  HackWatchOptions options_;
  LineLog log_;
  std::int64_t lines_ = 0;
  std::map<std::string, double> best_;  //!< speed-up, by task
  WatchCounts counts_;
};

}  // namespace cudal1
