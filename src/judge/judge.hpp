// A program text goes in, a trustworthy Evaluation comes out.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "graph/task.hpp"
#include "judge/backend.hpp"
#include "judge/evaluation.hpp"
#include "judge/timing_statistics.hpp"
#include "program/plan.hpp"

namespace cudal1 {

enum class JudgeMode {
  fast,    //!< for training: 3% intervals, runners reused
  result,  //!< for figures: 1% intervals, a fresh process for every program
};

enum class Precision { standard, strict, tf32, paper };

//! A virtual GPU that counts what programs do, with this file's profile. Throws Error saying what is missing.
using MakeCountingBackend = std::function<std::unique_ptr<Backend>(const std::string& gpu_file)>;

struct JudgeOptions {
  JudgeMode mode = JudgeMode::result;
  TimingProtocol protocol = TimingProtocol::standard;
  Precision precision = Precision::standard;
  bool demand_equal_bits = false;
  bool measure_time = true;          //!< false: verify only; no reward
  bool caller_shares_gpu = false;    //!< and holds its lock for as long as this goes on; not where times are measured
  bool beside_other_judges = false;  //!< on the same GPU, while nobody measures: programs are given longer
  double call_limit_seconds = 0.0;   //!< 0: 1000 times the reference, at least one second, beside other judges ten
  double paper_window_seconds = 1800.0;
  double longest_measurement_seconds = 0.0;  //!< 0: as the mode says; ends a measurement that does not settle
  bool confirm_only_records = false;         //!< surprising results below the best known are not measured again
  bool profile_steps = false;                //!< of programs that were timed: where does their time go?
  MakeCountingBackend counting_backend;      //!< for that; empty: nothing is counted
  //! Fast mode: so much memory holds input sets that serve several programs. 0: every program has its own.
  std::uint64_t bytes_for_input_sets = 0;
  std::uint64_t seed = 0;  //!< 0: from the operating system
};

std::string_view to_string(JudgeMode mode);
std::string_view to_string(TimingProtocol protocol);
std::string_view to_string(Precision precision);

//! A program as far as it comes without a device.
struct CompiledProgram {
  std::string name, text;
  std::optional<Failure> failure;
  Plan plan;
  CompiledModule module;
};

//! What programs may round operands to where this is declared; the error budget has its say afterwards.
OperandRounding rounding_allowed(Precision precision);

//! Text -> plan -> module for a task whose metas are known. Safe to call from many threads.
CompiledProgram compile_program(const OpGraph& graph, Backend& backend, const std::string& name,
                                const std::string& text, Precision precision = Precision::standard);

//! A task as judge and compiler want it: with sizes, strides and dtypes of all its values. Throws Error.
Task load_task_with_metas(const std::filesystem::path& path);

//! One task, ready to judge programs for it. Not thread-safe but for compile().
class TaskJudge {
 public:
  //! Throws Error when the task cannot be read or its reference does not run.
  TaskJudge(Backend& backend, const std::filesystem::path& task, const JudgeOptions& options);
  //! Throws Error when the reference does not run. `task` has its metas.
  TaskJudge(Backend& backend, Task task, const JudgeOptions& options);
  ~TaskJudge();

  const std::string& name() const;
  const std::string& hash() const;
  const std::string& source_text() const;

  //! compile_program for this task.
  CompiledProgram compile(const std::string& program_name, const std::string& text) const;

  //! Once more, in a fresh process, on as many inputs as results are and of its own; and a few calls like timed ones,
  //! if this judge measures. No time is taken.
  Evaluation verify_again(const CompiledProgram& program);
  //! Where the time of the reference's steps goes (vgpu::ProfileReport as text). Empty: they could not be timed.
  std::string profile_reference();
  //! From now on draws inputs and places of their own, of this seed alone (not 0): whatever was judged before.
  void reseed(std::uint64_t seed);
  //! From now on, of programs that are timed: where does their time go?
  void profile_steps(bool wanted);
  //! `best_known`: the best speed-up on record for this task and GPU, 0 if there is none.
  Evaluation evaluate(const CompiledProgram& program, double best_known = 0.0);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

//! What PyTorch keeps of the device's memory for later goes back to the device.
void give_back_cached_memory(const Backend& backend);
//! The most that tensors of this process have taken of a GPU since this was last asked; 0: they are elsewhere.
std::uint64_t take_peak_tensor_bytes(const Backend& backend);

}  // namespace cudal1
