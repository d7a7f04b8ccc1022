#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "judge/judge.hpp"

namespace cudal1 {

//! Compiles programs ahead of the judge, so many at a time and in the order they come.
class CompileQueue {
 public:
  //! TaskJudge::compile, from several threads at once.
  using Compile = std::function<CompiledProgram(const std::string& name, const std::string& text)>;

  //! As many threads as `jobs`, at least one.
  CompileQueue(Compile compile, int jobs);
  //! Waits for the programs that are being compiled; drops those that are not.
  ~CompileQueue();

  void add(const std::string& name, const std::string& text);
  //! One that has failed before any compiler sees it, or is ready.
  void add(CompiledProgram program);
  //! In the order of add(), once for each; an exception of the compiler has become a failure of its program.
  CompiledProgram next();

 private:
  void work();

  Compile compile_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<CompiledProgram()>> waiting_;
  bool closed_ = false;
  std::deque<std::future<CompiledProgram>> programs_;
  std::vector<std::jthread> workers_;  // last: they end before what they use
};

}  // namespace cudal1
