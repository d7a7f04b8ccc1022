// Who judges the programs of a training run: the real judge on a real or virtual GPU, or numbers in a test.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "train/sample_outcome.hpp"
#include "train/training_task.hpp"

namespace cudal1 {

//! A program for one of the run's tasks.
struct SubmittedProgram {
  const TrainingTask* task = nullptr;
  std::string text;
};

//! What became of it.
struct Assessment {
  SampleOutcome outcome;
  std::string message = {};                  //!< one line: what was wrong; empty: nothing
  std::vector<std::string> techniques = {};  //!< by which the writer made it, sorted, each once
  bool is_measured_again = false;            //!< a surprising result that a second process confirmed
  bool is_known = false;                     //!< measured before: nothing was run
};

//! Of a whole run; for the progress report.
struct AssessorCounts {
  std::int64_t assessed = 0, known = 0;        //!< known: answered from what was measured before
  std::map<std::string, std::int64_t> caught;  //!< programs that tried what no honest one does, by status
  double seconds = 0.0;                        //!< of assess(), by the wall clock
};

class Assessor {
 public:
  virtual ~Assessor() = default;

  //! One for each program, in their order; programs with the same plan are measured once. Failure is data: Error is
  //! thrown only where nothing can be judged any more.
  virtual std::vector<Assessment> assess(std::span<const SubmittedProgram> programs) = 0;

  //! Of the program that says nothing; a model that writes it has written nothing.
  virtual std::string empty_plan_hash(const TrainingTask& task) = 0;

  //! Also while another thread has programs assessed.
  virtual AssessorCounts counts() const = 0;
};

}  // namespace cudal1
