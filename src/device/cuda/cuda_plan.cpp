#include "device/cuda/cuda_plan.hpp"

#include <fmt/format.h>

#include <chrono>

#include "device/cuda/stream_memory.hpp"

namespace cudal1::cuda {
CudaPlan::CudaPlan(CudaDevice& device, const Plan& plan, const CompiledModule& module, PrecisionFlags flags)
    : device_(device), plan_(plan), addresses_(plan.buffers.size(), nullptr) {
  if (plan_.has_launches()) module_ = std::make_unique<Module>(module.binary);
  prepare_launches_ = launches_of(plan_.prepare, module_.get(), module);
  call_launches_ = launches_of(plan_.call, module_.get(), module);
  if (plan_.has_op_steps()) {
    const ArenaLayout& layout = device_.layout();
    ops_ = make_op_runtime(plan_, {.cuda = true,
                                   .stream = device_.stream(),
                                   .region = device_.arena_base() + layout.op_region_offset,
                                   .region_bytes = layout.op_region_bytes,
                                   .precision = flags});
  }
  check(driver().cuEventCreate(&start_, CU_EVENT_DEFAULT), "make an event");
  check(driver().cuEventCreate(&stop_, CU_EVENT_DEFAULT), "make an event");
}

CudaPlan::~CudaPlan() {
  driver().cuCtxSynchronize();
  drop_graph();
  driver().cuEventDestroy(start_);
  driver().cuEventDestroy(stop_);
}

void CudaPlan::place(const BufferOffsets& offsets) {
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const bool placed = offsets[i] != no_offset && !plan_.buffers[i].allocated_by_op;
    addresses_[i] = placed ? device_.arena_base() + offsets[i] : nullptr;
  }
}

//! The judge draws offsets anew for every call; what the library allocates moves with them.
void CudaPlan::begin_ops(const BufferOffsets& offsets) {
  std::uint64_t variation = 0;
  for (const std::uint64_t offset : offsets) variation = (variation ^ offset) * 0x9e3779b97f4a7c15u;
  ops_->begin({addresses_.begin(), addresses_.end()}, variation >> 16);
}

void CudaPlan::run_op(const OpStep& step, std::size_t index) {
  ops_->run(step, index);
  for (const ValueId id : step.node.outputs) {
    const int buffer = plan_.values[static_cast<std::size_t>(id)].buffer;
    if (buffer >= 0 && plan_.buffers[static_cast<std::size_t>(buffer)].allocated_by_op)
      addresses_[static_cast<std::size_t>(buffer)] = static_cast<std::byte*>(ops_->address_of(buffer));
  }
}

void CudaPlan::run_steps(const std::vector<Step>& steps, std::vector<PreparedLaunch>& launches, StepClock* clock,
                         StepCapture* capture) {
  std::size_t next_launch = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const CUstream stream = capture ? capture->begin(i) : device_.stream();
    if (std::holds_alternative<LaunchStep>(steps[i])) {
      PreparedLaunch& launch = launches[next_launch++];
      launch.set_addresses(addresses_);
      launch.launch(stream);
    } else if (const auto* zero = std::get_if<ZeroStep>(&steps[i])) {
      const auto buffer = static_cast<std::size_t>(zero->buffer);
      zero_async(addresses_[buffer], plan_.buffers[buffer], stream);
    } else {
      if (capture) ops_->use_stream(stream);
      const auto& op = std::get<OpStep>(steps[i]);
      &steps == &plan_.prepare ? ops_->prepare(op, i) : run_op(op, i);
    }
    if (clock) clock->tick(stream);
    if (capture) capture->end(i);
  }
  if (capture) capture->join();
}

void CudaPlan::prepare(const BufferOffsets& offsets) {
  drop_graph();  // weights may have moved
  place(offsets);
  const bool by_library = ops_ && !plan_.prepare.empty();
  if (by_library) begin_ops(offsets);
  run_steps(plan_.prepare, prepare_launches_);
  finish();
  if (by_library) ops_->end();
}

void CudaPlan::finish() {
  device_.synchronize();
  // Before the judge flushes caches for the next call: lines that a kernel asked to keep would survive that.
  check(driver().cuCtxResetPersistingL2Cache(), "reset the persisting cache");
  if (module_) module_->globals().check_unchanged();
}

void CudaPlan::copy_op_outputs(const BufferOffsets& offsets) {
  if (!ops_) return;
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].allocated_by_op && offsets[i] != no_offset)
      copy_async(device_.arena_base() + offsets[i], addresses_[i],
                 static_cast<std::size_t>(plan_.buffers[i].meta.span_bytes()), device_.stream());
}

CallTimes CudaPlan::call(const BufferOffsets& offsets, const CallOptions& options) {
  place(offsets);
  if (options.time_steps)
    drop_graph();
  else if (plan_.cuda_graph && !graph_)
    build_graph(offsets);
  if (options.warm_launch) device_.scrub();
  if (ops_ && !graph_) begin_ops(offsets);  // a caller of PyTorch has its tensors already
  device_.synchronize();
  const CallTimes times = time_call(offsets, options.hold_device && gate_limit_.useful() ? device_.gate() : nullptr,
                                    options.time_steps ? &step_clock_ : nullptr);
  if (!graph_) copy_op_outputs(offsets);
  if (ops_ && !graph_) ops_->end();
  finish();
  return times;
}

StepTimes CudaPlan::step_times(const StepClock& clock) const {
  const std::vector<double> intervals = clock.intervals_ms();  // the first has nothing in it
  StepTimes times{intervals.at(0), {}};
  std::size_t next_launch = 0;
  for (std::size_t i = 0; i < plan_.call.size(); ++i) {
    StepTime& step = times.steps.emplace_back(StepTime{intervals.at(i + 1), {}});
    if (std::holds_alternative<LaunchStep>(plan_.call[i]))
      step.resources = call_launches_[next_launch++].resources(device_.most_resident_threads());
  }
  return times;
}

CallTimes CudaPlan::time_call(const BufferOffsets& offsets, StartGate* gate, StepClock* clock) {
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  if (gate) gate->close(device_.stream(), gate_limit_.longest_wait());
  check(driver().cuEventRecord(start_, device_.stream()), "start the clock");
  const auto begin = Clock::now();
  if (clock) {
    clock->restart();
    clock->tick(device_.stream());
    clock->tick(device_.stream());
  }
  if (graph_)
    launch_graph(offsets);
  else
    run_steps(plan_.call, call_launches_, clock);
  const auto enqueued = Clock::now();
  check(driver().cuEventRecord(stop_, device_.stream()), "stop the clock");
  const auto released = gate ? Clock::now() : begin;
  const bool held = gate && gate->open();
  if (gate) gate_limit_.learn(enqueued - begin, held);
  device_.synchronize();
  const auto end = Clock::now();
  float milliseconds = 0.0f;
  check(driver().cuEventElapsedTime(&milliseconds, start_, stop_), "read the clock");
  CallTimes times;
  times.device_ms = milliseconds;
  times.host_ms = Milliseconds(end - released).count();
  times.enqueue_ms = Milliseconds(enqueued - begin).count();
  if (gate) times.gate = held ? Gate::held : Gate::expired;
  if (clock) times.steps = step_times(*clock);
  return times;
}

CudaPlan::States CudaPlan::save_states() const {
  States states;
  device_.synchronize();
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(plan_.buffers[i].meta.span_bytes());
    if (plan_.buffers[i].role != BufferRole::state || !addresses_[i] || bytes == 0) continue;
    std::vector<std::byte>& copy = states[i];
    copy.resize(bytes);
    check(driver().cuMemcpyDtoH(copy.data(), reinterpret_cast<CUdeviceptr>(addresses_[i]), bytes), "save a state");
  }
  return states;
}

void CudaPlan::restore_states(const States& states) const {
  for (const auto& [buffer, copy] : states)
    check(driver().cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(addresses_[buffer]), copy.data(), copy.size()),
          "restore a state");
  device_.synchronize();
}

//! Libraries initialise themselves in their first call, which must not be captured. It updates the state, which the
//! call that follows must find as the judge wrote it; the capture itself runs nothing.
void CudaPlan::warm_up(const BufferOffsets& offsets) {
  const States states = save_states();
  if (ops_) begin_ops(offsets);
  run_steps(plan_.call, call_launches_);
  if (ops_) ops_->end();
  device_.synchronize();
  restore_states(states);
}

CapturedGraph CudaPlan::captured_steps(CapturedCall& made) {
  struct Branching {
    explicit Branching(const CudaPlan& plan) : ops(plan.ops_.get()), stream(plan.device_.stream()) {
      if (ops && !plan.plan_.branches.empty()) ops->keep_streams_apart(true);
    }
    Branching(const Branching&) = delete;
    Branching& operator=(const Branching&) = delete;
    ~Branching() {
      if (!ops) return;
      ops->keep_streams_apart(false);
      ops->use_stream(stream);
    }
    OpRuntime* ops;
    CUstream stream;
  };
  const Branching branching(*this);
  StepCapture steps(plan_, made, device_.side_streams().behind(device_.stream(), plan_));
  return capture(device_.stream(), [&] { run_steps(plan_.call, call_launches_, nullptr, &steps); });
}

void CudaPlan::build_graph(const BufferOffsets& offsets) {
  warm_up(offsets);

  auto made = std::make_unique<CapturedCall>(plan_);
  const std::vector<std::byte*> fresh = addresses_;
  for (const int buffer : made->standing()) addresses_[static_cast<std::size_t>(buffer)] = fixed_buffer(buffer);
  if (ops_) begin_ops(offsets);
  CapturedGraph captured;
  try {
    captured = captured_steps(*made);
  } catch (...) {
    drop_graph();
    throw;
  }
  made->instantiate(std::move(captured), addresses_, device_.stream());
  graph_ = std::move(made);
  addresses_ = fresh;
}

void CudaPlan::launch_graph(const BufferOffsets& offsets) {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].allocated_by_op)
      addresses_[i] = offsets[i] != no_offset ? device_.arena_base() + offsets[i] : nullptr;
  graph_->launch(addresses_, call_launches_, device_.stream());
}

std::byte* CudaPlan::fixed_buffer(int buffer) {
  std::byte*& address = fixed_buffers_[buffer];
  if (!address) {
    const TensorMeta& meta = plan_.buffers[static_cast<std::size_t>(buffer)].meta;
    address = static_cast<std::byte*>(ops_->reserve(static_cast<std::size_t>(meta.span_bytes())));
  }
  return address;
}

void CudaPlan::drop_graph() {
  graph_.reset();
  if (ops_) ops_->end();
}

}  // namespace cudal1::cuda
