// Which tasks of a suite are meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "suite/suite.hpp"

namespace cudal1 {

//! "2,4-10": what `--id` and `--level` take.
class NumberList {
 public:
  NumberList() = default;
  explicit NumberList(std::string_view text);  //!< throws UsageError
  bool empty() const { return ranges_.empty(); }
  bool contains(int number) const;
  bool lies_within(int first, int last) const;

 private:
  std::vector<std::pair<int, int>> ranges_;
};

//! Some of several equal shares of a suite, by the hash of the task's name: who runs one knows which tasks the others
//! have, whatever else they select.
struct SuiteShare {
  NumberList chosen;  //!< empty: all
  int count = 1;
  static SuiteShare parse(std::string_view text);  //!< "2/4", "2,4-6/8"; throws UsageError
  bool contains(const std::string& task_name) const;
};

//! "ReLU" of "19_ReLU"; a name without a number as it is.
std::string_view without_number(std::string_view name);

//! Empty parts choose everything; the others must all agree.
struct TaskSelection {
  std::vector<std::string> suites;
  NumberList levels, ids;
  std::vector<std::string> names;  //!< whole, or without the number in front
  std::vector<std::string> globs;  //!< of the name, or of "level1/19_ReLU" where they have a slash
  SuiteShare share;

  bool contains(const SuiteTask& task) const;
};

//! Throws Error when nothing is left: "no task of 12 is chosen".
std::vector<SuiteTask> select_tasks(const Suite& suite, const TaskSelection& selection,
                                    const std::filesystem::path& path);

}  // namespace cudal1
