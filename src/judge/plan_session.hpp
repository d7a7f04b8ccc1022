// A plan in a runner, and the judge's hands on its memory. The judge writes what a call reads, poisons what it writes,
// and looks itself at what the call left behind.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/stage_seconds.hpp"
#include "graph/executor.hpp"
#include "judge/backend.hpp"
#include "judge/placement.hpp"

namespace cudal1 {

//! What memory holds that a call must write or may use. Two kinds, so that reading it shows in at least one run.
enum class Poison { not_a_number, large_number };

class PlanSession {
 public:
  using Done = RunnerProcess::Done;

  //! With several processes, each has the plan, on the same memory, and one at a time is used; fewer where they do not
  //! start. How fast a process is depends a little on where the system happened to put it, so figures are taken over
  //! several.
  PlanSession(Backend& backend, std::uint64_t seed, int processes = 1);
  ~PlanSession();

  //! Calls count in it: as `place`, what the judge does with memory before them, and as `run`.
  void count_time_in(StageSeconds& spent) { spent_ = &spent; }
  //! Called while a runner starts, which takes long, whenever nothing of it is running on the device.
  void between_pieces(std::function<void()> call) { between_pieces_ = std::move(call); }
  //! From now on placed as in a session of this seed.
  void reseed(std::uint64_t seed) { random_ = Random(seed); }
  //! Processes that loading the plan will need, as far as they come without using the device: who shares it does this
  //! before its turn. What goes wrong shows when the plan is loaded.
  void spawn_ahead(const Plan& plan);
  //! Starts a runner if there is none, makes room, loads. A new arena means a new runner.
  Result<Done> load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags);
  //! The same in two steps: the runner loads while the judge does something else.
  Result<Done> begin_load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags);
  Result<Done> finish_load();
  //! The next load uses a new process.
  void discard_runner();
  //! And makes the arena anew: whoever is short of memory has it meanwhile.
  void give_memory_back();
  //! So much is set aside for op steps at least, if a plan has any: what other plans will need, so that a runner lasts.
  void expect_library(std::uint64_t bytes) { least_library_bytes_ = bytes; }
  //! One after the other, with and without op steps: from the first one on there is what later ones will need.
  void expect_many_plans() { expects_many_plans_ = true; }
  //! After a call that was short of library memory: the next load sets more of it aside. False: there was much already.
  bool give_library_more();
  //! Are the processes that have the plan alive?
  bool has_runner();

  int processes() const { return static_cast<int>(runners_.size()); }
  //! One of them, counted round; the first after load(). The constants must be set again afterwards.
  void use_process(int process) { active_ = static_cast<std::size_t>(process) % runners_.size(); }
  //! Does the device wait in timed calls until they are enqueued? See CallOptions.
  void hold_device(bool hold) { hold_device_ = hold; }

  //! Places and writes weights and states, runs `prepare`, remembers what it made.
  Result<Done> set_constants(const TensorTable& leaves, std::chrono::milliseconds limit);

  //! One call on these inputs, at new addresses, all other memory poisoned. `timed`: caches flushed, runner awake.
  Result<CallTimes> call(const TensorTable& leaves, Poison poison, std::chrono::milliseconds limit, bool timed);

  //! A timed call that says what each step took, with the program's CUDA Graph taken apart.
  Result<CallTimes> time_steps(const TensorTable& leaves, std::chrono::milliseconds limit);

  //! A call of no consequence: the first one captures the program's CUDA Graph.
  Result<CallTimes> rehearse(const TensorTable& leaves, std::chrono::milliseconds limit);

  //! Windows on the arena, valid until the next call.
  std::vector<at::Tensor> outputs() const;
  std::vector<at::Tensor> states(const std::vector<ValueId>& state_values) const;

  //! Red zones and inputs after a call; with `constants` also weights and prepared buffers.
  std::optional<Failure> find_violation(bool constants);

  const Plan& plan() const { return plan_; }

 private:
  Result<CallTimes> call_with(const TensorTable& leaves, Poison poison, std::chrono::milliseconds limit, bool timed,
                              const CallOptions& options);
  at::Tensor window(const TensorRef& ref) const;
  at::Tensor bytes_at(std::uint64_t offset, std::uint64_t bytes) const;
  at::Tensor words_at(std::uint64_t offset, std::uint64_t bytes) const;
  ArenaPlan wanted_arena(const Plan& plan) const;
  bool fits(const ArenaPlan& wanted) const;
  bool keeps_runner(const ArenaPlan& wanted);
  Result<Done> ensure_room(const Plan& plan);
  Result<Done> spawn_up_to(std::size_t count);
  void place_call(const TensorTable& leaves, Poison poison, bool timed);
  bool has_region_in_use() const { return arena_plan_.op_region.bytes > 0 && plan_.has_op_steps(); }
  Result<Done> ensure_runner();
  Result<Done> start_runners();
  RunnerProcess& runner() { return runners_[active_]; }
  void write_leaves(const TensorTable& leaves, BufferRole role);
  void place_inputs(const TensorTable& leaves);
  void poison_buffers(Poison poison);
  void flush_caches();
  at::Tensor gap_is_damaged(const Gap& gap, std::uint8_t pattern) const;
  std::optional<Failure> find_damaged_gap() const;
  std::optional<Failure> find_changed_leaf(BufferRole role) const;
  std::optional<Failure> find_changed_prepared() const;

  Backend& backend_;
  at::Device tensor_device_;
  Random random_;
  std::unique_ptr<Arena> arena_;
  std::size_t wanted_processes_;
  std::vector<RunnerProcess> runners_;  // all have the same plan and memory
  std::vector<RunnerProcess> spawned_;  // ahead; they have seen no device
  std::size_t active_ = 0;
  std::uint64_t library_factor_ = 1, least_library_bytes_ = 0;
  bool expects_many_plans_ = false;
  StageSeconds* spent_ = nullptr;  // null: nobody wants to know
  std::function<void()> between_pieces_ = [] {};
  bool hold_device_ = true;
  bool runner_has_arena_ = false;
  bool runner_has_library_ = false;
  ArenaPlan arena_plan_;
  Plan plan_;
  BufferOffsets offsets_;
  std::vector<Gap> fixed_gaps_, moving_gaps_;
  std::uint8_t fixed_pattern_ = 0, moving_pattern_ = 0;
  TensorTable constants_, inputs_;    // what was written, for the comparison afterwards
  std::vector<at::Tensor> prepared_;  // by buffer
  at::Tensor flush_buffer_;
};

//! The same bits as integers, so that NaN equals NaN.
at::Tensor as_bits(const at::Tensor& tensor);

}  // namespace cudal1
