// When and where a run was started, on which stages each start worked, and what came of them: what reports and model
// cards say of a run beside its numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cudal1 {

//! One start of the command, of which a run that was killed or stopped has several.
struct RunStart {
  double begun_s = 0.0;                  //!< since 1970
  std::optional<double> ended_s = {};    //!< nothing: it was killed, or goes on
  bool is_through = false;               //!< else somebody asked to stop
  std::string command = {};              //!< as it can be typed again
  std::string judge = {};                //!< the device on which programs were judged
  bool is_predicted = false;             //!< its times are
  std::string model_device = {};         //!< where the model was computed
  std::string host = {};                 //!< its processor
};

//! What the model could do after a stage, on tasks that it did not learn from.
struct StageValidation {
  std::string stage;
  std::int64_t step = 0, tasks = 0;
  double first_success = 0.0, first_distinct = 0.0, reward = 0.0, later_reward = 0.0, best_log = 0.0, copy_rate = 0.0;
  bool operator==(const StageValidation&) const = default;
};

//! `RUN/history.jsonl`: a line for each beginning, stage, validation and end, there as soon as it is known.
class RunHistory {
 public:
  explicit RunHistory(std::filesystem::path file) : file_(std::move(file)) {}

  //! Throw Error where they cannot be written.
  void begin(const RunStart& start) const;
  void end(double seconds_since_1970, bool is_through) const;
  //! The last start begins it, or goes on with it after so many steps.
  void begin_stage(const std::string& stage, std::int64_t steps_done) const;
  void add(const StageValidation& validation) const;

  //! In their order; lines that cannot be read are passed over, none where there is no file.
  std::vector<RunStart> starts() const;
  //! Whose steps a stage is made of; one whose steps were all made again by a later one is not among them.
  std::vector<RunStart> starts_of(const std::string& stage) const;
  //! Of each stage the last, in the order of stages.
  std::vector<StageValidation> validations() const;
  //! At this very step; nothing: nobody has come so far.
  std::optional<StageValidation> validation_at(const std::string& stage, std::int64_t step) const;

 private:
  std::filesystem::path file_;
};

//! "Intel(R) Xeon(R) …, 16 threads": of this machine.
std::string processor_name();

//! In quotation marks where a shell would take it apart.
std::string shell_word(const std::string& word);
//! What shell_word() has put together, with spaces between.
std::vector<std::string> shell_words(const std::string& command);

}  // namespace cudal1
