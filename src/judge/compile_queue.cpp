#include "judge/compile_queue.hpp"

#include <algorithm>

namespace cudal1 {
namespace {

CompiledProgram compile_or_say_why(const CompileQueue::Compile& compile, const std::string& name,
                                   const std::string& text) {
  try {
    return compile(name, text);
  } catch (const std::exception& error) {
    return {name, text, Failure{Status::judge_error, error.what()}, {}, {}};
  }
}

}  // namespace

CompileQueue::CompileQueue(Compile compile, int jobs) : compile_(std::move(compile)) {
  for (int i = 0; i < std::max(1, jobs); ++i) workers_.emplace_back([this] { work(); });
}

CompileQueue::~CompileQueue() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
}

void CompileQueue::add(const std::string& name, const std::string& text) {
  std::packaged_task<CompiledProgram()> task([this, name, text] { return compile_or_say_why(compile_, name, text); });
  programs_.push_back(task.get_future());
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void CompileQueue::add(CompiledProgram program) {
  std::promise<CompiledProgram> ready;
  programs_.push_back(ready.get_future());
  ready.set_value(std::move(program));
}

void CompileQueue::work() {
  for (;;) {
    std::packaged_task<CompiledProgram()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      if (closed_) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task();
  }
}

CompiledProgram CompileQueue::next() {
  CompiledProgram program = programs_.front().get();
  programs_.pop_front();
  return program;
}

}  // namespace cudal1
