#pragma once

#include <deque>
#include <future>
#include <semaphore>
#include <string>
#include <vector>

#include "judge/judge.hpp"

namespace cudal1 {

//! Compiles programs ahead of the judge, so many at a time.
class CompileQueue {
 public:
  CompileQueue(const TaskJudge& judge, int jobs);
  void add(const std::string& name, const std::string& text);
  CompiledProgram next();  //!< in the order of add()

 private:
  const TaskJudge& judge_;
  std::counting_semaphore<> free_slots_;
  std::deque<std::future<CompiledProgram>> programs_;
};

}  // namespace cudal1
