// How far a training run is and how it fares: one line that changes on a terminal, plain lines elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace cudal1 {

//! Of one step; a stage says what it knows. Shares are from 0 to 1.
struct StepReport {
  std::string stage;
  std::int64_t step = 0, steps = 0;
  std::optional<double> loss, reward;  //!< means over the step
  std::optional<double> success_rate;
  std::optional<double> best;             //!< speed-up, of the run
  std::optional<double> distinct_plans;   //!< mean over groups
  std::optional<double> entropy, kl;      //!< nats a token
  std::optional<double> tie_share;        //!< of groups
  std::optional<double> copy_share;       //!< of samples
  std::optional<double> cache_hit_share;  //!< of evaluations
  std::optional<double> gpu_idle_share;   //!< of the step's time
  std::optional<double> tokens_per_s, evaluations_per_s;
  std::optional<double> seconds_left;
};

//! "contrastive 12/70: reward 0.213, 91% right, best 3.42x, …". In `columns` at most, parts from the end make way, the
//! time left last of all.
std::string text_of(const StepReport& report, std::size_t columns = SIZE_MAX);

class ProgressLine {
 public:
  //! `stream` is usually standard error. Where it is no terminal, lines are `plain_interval_s` apart at least.
  explicit ProgressLine(std::FILE* stream, double plain_interval_s = 10.0);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  //! `now_s` from any clock that goes forward. The first and the last step of a stage are always shown.
  void show(const StepReport& report, double now_s);
  //! Makes way for what somebody else prints.
  void clear();

 private:
  void show_plain(const StepReport& report, double now_s);

  std::FILE* stream_;
  double plain_interval_s_;
  bool is_terminal_;
  std::string stage_;  //!< of the last plain line
  double shown_s_ = 0.0;
};

}  // namespace cudal1
