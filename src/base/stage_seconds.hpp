// How long the stages of some work took, by name: for whoever asks where the time went.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace cudal1 {

//! For one thread. A stage inside another one does not count for that.
class StageSeconds {
 public:
  //! What happens until this goes belongs to the stage.
  class Section {
   public:
    Section(StageSeconds& stages, const std::string& stage)
        : stages_(stages), seconds_(stages.seconds_[stage]), around_(std::exchange(stages.innermost_, this)) {}
    ~Section() {
      const Clock::duration taken = Clock::now() - begin_;
      seconds_ += std::chrono::duration<double>(taken - inside_).count();
      if (around_ != nullptr) around_->inside_ += taken;
      stages_.innermost_ = around_;
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    using Clock = std::chrono::steady_clock;
    StageSeconds& stages_;
    double& seconds_;
    Section* const around_;
    const Clock::time_point begin_ = Clock::now();
    Clock::duration inside_{};  // of other stages
  };

  [[nodiscard]] Section time(const std::string& stage) { return Section(*this, stage); }

  //! Adds up what came since the last time, and begins anew. Not inside a stage.
  std::map<std::string, double> take() { return std::exchange(seconds_, {}); }

 private:
  std::map<std::string, double> seconds_;
  Section* innermost_ = nullptr;
};

}  // namespace cudal1
