#include "cli/compile_queue.hpp"

namespace cudal1 {

CompileQueue::CompileQueue(const TaskJudge& judge, int jobs) : judge_(judge), free_slots_(jobs) {}

void CompileQueue::add(const std::string& name, const std::string& text) {
  programs_.push_back(std::async(std::launch::async, [this, name, text] {
    free_slots_.acquire();
    CompiledProgram program{name, text, {}, {}, {}};
    try {
      program = judge_.compile(name, text);
    } catch (const std::exception& error) {
      program.failure = Failure{Status::judge_error, error.what(), {}, {}};
    }
    free_slots_.release();
    return program;
  }));
}

CompiledProgram CompileQueue::next() {
  CompiledProgram program = programs_.front().get();
  programs_.pop_front();
  return program;
}

}  // namespace cudal1
