// A task with everything that a search for it needs: its judge, the compilers, the policy, what is on record.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "graph/task.hpp"
#include "judge/compile_queue.hpp"
#include "judge/judge.hpp"
#include "optimize/part_effects.hpp"
#include "optimize/search_progress.hpp"
#include "optimize/search_run.hpp"

namespace cudal1 {

struct TaskSearchOptions {
  SearchLimits limits;
  std::string policy_name = "search";
  std::filesystem::path progress_file;  //!< how far it has come
  int jobs = 1;                         //!< compilers at once
  Precision precision = Precision::standard;
  std::uint64_t bytes_for_input_sets = 0;  //!< that programs are verified on
  bool beside_other_judges = false;        //!< on the same GPU
  bool profile_programs = false;           //!< the policy wants to know where their time goes
  bool best_is_timed_later = false;        //!< as a package, by somebody else
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string& problem)> report = [](const std::string&) {};
};

class TaskSearch {
 public:
  //! `archive` may be null. Throws Error when the reference does not run.
  TaskSearch(Backend& backend, Task task, Archive* archive, std::unique_ptr<Policy> policy, TaskSearchOptions options);

  const Task& task() const { return task_; }
  const SearchRun& run() const { return *run_; }
  //! Judges one program, and keeps what came of it. False: the search is over.
  bool step();

  //! Is there a program for confirmed_best() to look at?
  bool has_candidates() const;
  //! The best program of this run, or of the record where this run found none that is better, judged again in fresh
  //! processes on inputs of its own, unless times are predicted; if it is wrong there, the next best one. Times are
  //! measured as figures are, with narrow intervals, or are those of the search where somebody else measures later.
  //! Nothing: none is right.
  std::optional<JudgedProgram> confirmed_best();
  //! Of a program's directives, in the mode of the search.
  std::vector<PartEffect> effects(const std::string& text);
  //! Times the reference's steps. Before confirmed_best(), while the judge of the search is there.
  void profile_reference();
  //! Of the reference's time, by a program's own kernels or rewrites; nothing where its steps were not timed.
  std::optional<double> replaced_share(const std::string& text) const;

 private:
  enum class Use { search, confirm };
  //! Somebody has found it right.
  struct Candidate {
    std::string text;
    double reward = 0.0;
    const JudgedProgram* found = nullptr;  //!< by this run
  };
  TaskJudge& judge_for(Use use);
  Evaluation judged(Use use, const std::string& name, const std::string& text);
  CompiledProgram compiled(const std::string& name, const std::string& text) const;
  std::vector<ScoredProgram> on_record();
  SearchRun::Spent spent_before(const std::vector<ScoredProgram>& known) const;
  std::vector<Candidate> best_first();
  JudgedProgram confirmed(const Candidate& candidate);
  JudgedProgram found_again(const Candidate& candidate);
  JudgedProgram verified_again(const JudgedProgram& found);
  void record(const JudgedProgram& finding);

  Backend& backend_;
  Task task_;
  Archive* archive_;
  TaskSearchOptions options_;
  std::unique_ptr<TaskJudge> judge_;  //!< one at a time: each holds a reference in the device's memory
  Use judge_is_for_ = Use::search;
  std::unique_ptr<Policy> policy_;
  CompileQueue queue_;
  SearchIdentity identity_;
  std::unique_ptr<SearchRun> run_;
  int started_ = 0;
  std::string reference_profile_;  //!< empty: none
};

}  // namespace cudal1
