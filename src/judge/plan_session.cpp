#include "judge/plan_session.hpp"

#include <ATen/Functions.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <fmt/format.h>

#include <algorithm>

#include "graph/tensor_at.hpp"
#include "judge/library_memory.hpp"

namespace cudal1 {
namespace {

constexpr std::uint64_t largest_library_factor = 64;
constexpr std::uint64_t reserve_bytes = std::uint64_t{1} << 30;  // for the judge's own tensors
constexpr std::uint64_t most_spare_bytes = std::uint64_t{256} << 20, most_spare_bytes_of_many = std::uint64_t{1} << 30;
constexpr std::uint64_t most_idle_region_bytes = std::uint64_t{2} << 30;
constexpr std::uint64_t bytes_a_process = std::uint64_t{1} << 30;  // a context with the library's kernels
constexpr int not_a_number_byte = 0xff;                            // NaN in every floating type, -1 in integers
constexpr int large_number_byte = 0x4b;                            // about 1.3e7 in f32 and bf16, 14.6 in f16

std::int64_t repeated(std::uint8_t byte) { return static_cast<std::int64_t>(byte * std::uint64_t{0x0101010101010101}); }

//! What red zones are filled with. A number below two in every floating type: one added to something huge or to NaN
//! would leave it as it was, and the write go unseen.
std::uint8_t zone_pattern(Random& random) {
  const std::uint64_t magnitude = 1 + random.below(0x3f), sign = random.below(2) << 7;
  return static_cast<std::uint8_t>(sign | magnitude);
}

//! The first of the device's flags that is set. All are brought at once: waiting for the device takes its time, above
//! all where others use it too.
std::optional<std::size_t> first_set(const std::vector<at::Tensor>& flags) {
  if (flags.empty()) return std::nullopt;
  const at::Tensor brought = at::stack(flags).to(at::kCPU);
  const auto* begin = brought.const_data_ptr<bool>();
  const auto* set = std::find(begin, begin + flags.size(), true);
  if (set == begin + flags.size()) return std::nullopt;
  return static_cast<std::size_t>(set - begin);
}

//! A flag on the device for each of some buffers.
class BufferFlags {
 public:
  void add(const Buffer& buffer, const at::Tensor& flag) {
    buffers_.push_back(&buffer);
    flags_.push_back(flag);
  }

  //! Null where none is set.
  const Buffer* first() const {
    const auto index = first_set(flags_);
    return index ? buffers_[*index] : nullptr;
  }

 private:
  std::vector<const Buffer*> buffers_;
  std::vector<at::Tensor> flags_;
};

}  // namespace

at::Tensor as_bits(const at::Tensor& tensor) {
  switch (tensor.element_size()) {
    case 1:
      return tensor.view(at::kByte);
    case 2:
      return tensor.view(at::kShort);
    case 4:
      return tensor.view(at::kInt);
    default:
      return tensor.view(at::kLong);
  }
}

PlanSession::PlanSession(Backend& backend, std::uint64_t seed, int processes)
    : backend_(backend),
      tensor_device_(backend.tensors_on_cuda() ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)),
      random_(seed),
      wanted_processes_(static_cast<std::size_t>(processes)) {}

PlanSession::~PlanSession() = default;

at::Tensor PlanSession::window(const TensorRef& ref) const {
  std::byte* address = arena_->base() + offsets_[static_cast<std::size_t>(ref.buffer)] + ref.byte_offset;
  return tensor_at(address, ref.meta, tensor_device_);
}

at::Tensor PlanSession::bytes_at(std::uint64_t offset, std::uint64_t bytes) const {
  return tensor_at(arena_->base() + offset, {DType::u8, {static_cast<std::int64_t>(bytes)}, {1}}, tensor_device_);
}

at::Tensor PlanSession::words_at(std::uint64_t offset, std::uint64_t bytes) const {
  return tensor_at(arena_->base() + offset, {DType::i64, {static_cast<std::int64_t>(bytes / 8)}, {1}}, tensor_device_);
}

void PlanSession::discard_runner() {
  runners_.clear();
  active_ = 0;
  runner_has_arena_ = false;
  runner_has_library_ = false;
}

void PlanSession::give_memory_back() {
  discard_runner();
  arena_.reset();
  prepared_.clear();
}

bool PlanSession::give_library_more() {
  if (library_factor_ >= largest_library_factor) return false;
  library_factor_ *= 4;
  discard_runner();
  return true;
}

//! The library keeps memory of its region between calls, so the region stays as it is under a live runner, if that is
//! enough; a large one that is of no use to this plan would cost too much to look after.
ArenaPlan PlanSession::wanted_arena(const Plan& plan) const {
  if (!backend_.tensors_on_cuda()) return plan_arena(plan, 0);
  std::uint64_t region_bytes = library_bytes(plan, library_factor_);
  const bool waits_for_others = expects_many_plans_ && least_library_bytes_ <= most_idle_region_bytes;
  if (region_bytes > 0 || waits_for_others) region_bytes = std::max(region_bytes, least_library_bytes_);
  const std::uint64_t kept = arena_plan_.op_region.bytes;
  if (runner_has_library_ && (region_bytes > 0 || kept <= most_idle_region_bytes))
    region_bytes = kept >= region_bytes / 4 * 3 ? kept : region_bytes;  // a guess; who is short of it gets more
  return plan_arena(plan, region_bytes, roaming_bytes);
}

//! A far larger arena, left by another program, would cost memory and time in every check.
bool PlanSession::fits(const ArenaPlan& wanted) const {
  return arena_ && wanted.total_bytes() <= arena_->bytes() &&
         arena_->bytes() <= 2 * wanted.total_bytes() + reserve_bytes;
}

bool PlanSession::keeps_runner(const ArenaPlan& wanted) {
  const bool region_stays = wanted.op_region == arena_plan_.op_region;
  return has_runner() && fits(wanted) && (region_stays || !runner_has_library_);
}

Result<PlanSession::Done> PlanSession::ensure_room(const Plan& plan) {
  const bool in_arena = backend_.tensors_on_cuda();
  const ArenaPlan wanted = wanted_arena(plan);
  const bool has_room = fits(wanted);
  if (!keeps_runner(wanted)) discard_runner();
  if (wanted.op_region != arena_plan_.op_region) runner_has_arena_ = false;
  arena_plan_ = wanted;
  if (has_room) return Done{};
  arena_.reset();
  // What the judge's own tensors have left behind counts as taken until it is given back.
  if (in_arena && wanted.total_bytes() + reserve_bytes > backend_.free_bytes())
    at::getDeviceAllocator(at::kCUDA)->emptyCache();
  const bool is_short = wanted.total_bytes() + reserve_bytes > backend_.free_bytes();
  if (is_short && std::exchange(least_library_bytes_, 0) > 0) return ensure_room(plan);  // with what this plan needs
  if (is_short)
    return Failure{Status::out_of_memory,
                   fmt::format("the program needs {:.1f} GiB of device memory, {:.1f} GiB are free",
                               static_cast<double>(wanted.total_bytes()) / (1 << 30),
                               static_cast<double>(backend_.free_bytes()) / (1 << 30))};
  // Programs of one task need about as much: with a little more, the next one need not start a runner for its arena.
  const std::uint64_t most_spare = expects_many_plans_ ? most_spare_bytes_of_many : most_spare_bytes;
  const std::uint64_t spare = in_arena ? std::min(wanted.total_bytes() / 4, most_spare) / 512 * 512 : 0;
  const bool has_spare = wanted.total_bytes() + spare + reserve_bytes <= backend_.free_bytes();
  try {
    arena_ = backend_.make_arena(wanted.total_bytes() + (has_spare ? spare : 0));
  } catch (const DeviceError& error) {
    return error.failure;
  }
  return Done{};
}

bool PlanSession::has_runner() {
  return !runners_.empty() && std::all_of(runners_.begin(), runners_.end(), [](RunnerProcess& r) { return r.alive(); });
}

// Every step for all of them at once: most of a start is waiting for the driver and for files.

void PlanSession::spawn_ahead(const Plan& plan) {
  if (keeps_runner(wanted_arena(plan))) return;
  if (!spawn_up_to(wanted_processes_)) return;
  for (RunnerProcess& runner : spawned_) runner.begin_wake(plan.has_op_steps() || expects_many_plans_);
  for (RunnerProcess& runner : spawned_) (void)runner.finish();
}

Result<PlanSession::Done> PlanSession::spawn_up_to(std::size_t count) {
  std::erase_if(spawned_, [](RunnerProcess& runner) { return !runner.alive(); });
  while (spawned_.size() < count) {
    auto runner = RunnerProcess::spawn(backend_.runner_options());
    if (!runner) return runner.failure();
    spawned_.push_back(std::move(runner).value());
  }
  return Done{};
}

// As many as there is room for; one runner is enough to go on with.
Result<PlanSession::Done> PlanSession::start_runners() {
  const std::uint64_t room = backend_.free_bytes() / bytes_a_process;
  const std::size_t count = std::clamp<std::size_t>(room, 1, wanted_processes_);
  if (const auto all = spawn_up_to(count); !all)
    return Failure{Status::judge_error, "no runner: " + all.failure().message};
  std::vector<RunnerProcess> spawned = std::exchange(spawned_, {});
  while (spawned.size() > count) spawned.pop_back();
  std::optional<Failure> failure;
  const RunnerOptions options = backend_.runner_options();
  for (RunnerProcess& runner : spawned) runner.begin_start(options);
  for (RunnerProcess& runner : spawned) {
    const auto started = runner.finish();
    if (started)
      runners_.push_back(std::move(runner));
    else
      failure = started.failure();
  }
  if (runners_.empty()) return Failure{Status::judge_error, "no runner: " + failure->message};
  return Done{};
}

Result<PlanSession::Done> PlanSession::ensure_runner() {
  if (!has_runner()) discard_runner();
  if (runners_.empty())
    if (const auto started = start_runners(); !started) return started.failure();
  if (runner_has_arena_) return Done{};
  between_pieces_();
  for (RunnerProcess& runner : runners_)
    if (const auto mapped = runner.map(*arena_, arena_plan_.layout(arena_->bytes())); !mapped) return mapped.failure();
  runner_has_arena_ = true;
  return Done{};
}

Result<PlanSession::Done> PlanSession::load(const Plan& plan, const CompiledModule& module, PrecisionFlags flags) {
  if (const auto begun = begin_load(plan, module, flags); !begun) return begun.failure();
  return finish_load();
}

Result<PlanSession::Done> PlanSession::begin_load(const Plan& plan, const CompiledModule& module,
                                                  PrecisionFlags flags) {
  if (const auto room = ensure_room(plan); !room) return room.failure();
  if (const auto ready = ensure_runner(); !ready) return ready.failure();
  plan_ = plan;
  active_ = 0;
  offsets_.assign(plan.buffers.size(), no_offset);
  prepared_.assign(plan.buffers.size(), {});
  runner_has_library_ = runner_has_library_ || plan.has_op_steps();
  for (RunnerProcess& runner : runners_) runner.begin_load(plan, module, flags);
  return Done{};
}

Result<PlanSession::Done> PlanSession::finish_load() {
  Result<Done> result = Done{};
  for (RunnerProcess& runner : runners_)
    if (const auto loaded = runner.finish(); !loaded && result) result = loaded;
  return result;
}

void PlanSession::write_leaves(const TensorTable& leaves, BufferRole role) {
  for (std::size_t id = 0; id < leaves.size(); ++id) {  // a rewritten graph has more values, none of them leaves
    const TensorRef& ref = plan_.values[id];
    if (ref.buffer < 0 || !leaves[id].defined() || plan_.buffers[static_cast<std::size_t>(ref.buffer)].role != role)
      continue;
    window(ref).copy_(leaves[id]);
  }
}

Result<PlanSession::Done> PlanSession::set_constants(const TensorTable& leaves, std::chrono::milliseconds limit) {
  constants_ = leaves;
  fixed_gaps_ = place_buffers(plan_, arena_plan_, false, random_, offsets_);
  fixed_pattern_ = zone_pattern(random_);
  words_at(arena_plan_.fixed.offset, arena_plan_.fixed.bytes).fill_(repeated(fixed_pattern_));
  // The arena may be larger than this plan needs; what is left over is a red zone too.
  if (const std::uint64_t end = arena_plan_.total_bytes(); end < arena_->bytes()) {
    words_at(end, arena_->bytes() - end).fill_(repeated(fixed_pattern_));
    fixed_gaps_.push_back({end, arena_->bytes() - end});
  }
  // So is a region that other plans have left.
  if (const Zone region = arena_plan_.op_region; region.bytes > 0 && !has_region_in_use()) {
    words_at(region.offset, region.bytes).fill_(repeated(fixed_pattern_));
    fixed_gaps_.push_back(region);
  }
  write_leaves(leaves, BufferRole::weight);
  write_leaves(leaves, BufferRole::state);
  poison_buffers(Poison::not_a_number);
  if (plan_.prepare.empty() && !plan_.cuda_graph) return Done{};
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].role == BufferRole::prepared)
      bytes_at(offsets_[i], static_cast<std::uint64_t>(plan_.buffers[i].meta.span_bytes())).fill_(not_a_number_byte);
  backend_.synchronize();
  const auto done = runner().prepare(offsets_, limit);
  if (!done) return done.failure();
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].role == BufferRole::prepared)
      prepared_[i] = bytes_at(offsets_[i], static_cast<std::uint64_t>(plan_.buffers[i].meta.span_bytes())).clone();
  return done;
}

void PlanSession::poison_buffers(Poison poison) {
  const int byte = poison == Poison::not_a_number ? not_a_number_byte : large_number_byte;
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (is_written_by_call(buffer.role) && offsets_[i] != no_offset && buffer.meta.span_bytes() > 0)
      bytes_at(offsets_[i], static_cast<std::uint64_t>(buffer.meta.span_bytes())).fill_(byte);
  }
  if (has_region_in_use()) bytes_at(arena_plan_.op_region.offset, arena_plan_.op_region.bytes).fill_(byte);
}

void PlanSession::flush_caches() {
  if (!backend_.tensors_on_cuda()) return;
  if (!flush_buffer_.defined())
    flush_buffer_ = at::empty({4 * backend_.info().l2_bytes}, at::TensorOptions(tensor_device_).dtype(at::kByte));
  flush_buffer_.fill_(static_cast<int>(random_.below(256)));
}

void PlanSession::place_inputs(const TensorTable& leaves) {
  inputs_ = leaves;
  moving_gaps_ = place_buffers(plan_, arena_plan_, true, random_, offsets_);
  moving_pattern_ = zone_pattern(random_);
  words_at(arena_plan_.moving.offset, arena_plan_.moving.bytes).fill_(repeated(moving_pattern_));
  write_leaves(leaves, BufferRole::input);
  write_leaves(constants_, BufferRole::state);
}

Result<CallTimes> PlanSession::rehearse(const TensorTable& leaves, std::chrono::milliseconds limit) {
  // The same in every respect as a timed call, so that a program cannot tell which is which.
  return call(leaves, Poison::not_a_number, limit, true);
}

Result<CallTimes> PlanSession::call(const TensorTable& leaves, Poison poison, std::chrono::milliseconds limit,
                                    bool timed) {
  return call_with(leaves, poison, limit, timed, {.hold_device = timed && hold_device_});
}

Result<CallTimes> PlanSession::time_steps(const TensorTable& leaves, std::chrono::milliseconds limit) {
  return call_with(leaves, Poison::not_a_number, limit, true, {.hold_device = hold_device_, .time_steps = true});
}

Result<CallTimes> PlanSession::call_with(const TensorTable& leaves, Poison poison, std::chrono::milliseconds limit,
                                         bool timed, const CallOptions& options) {
  if (timed) runner().get_ready();
  place_call(leaves, poison, timed);
  std::optional<StageSeconds::Section> timing;
  if (spent_ != nullptr) timing.emplace(*spent_, "run");
  return runner().call(offsets_, limit, options);
}

void PlanSession::place_call(const TensorTable& leaves, Poison poison, bool timed) {
  std::optional<StageSeconds::Section> timing;
  if (spent_ != nullptr) timing.emplace(*spent_, "place");
  place_inputs(leaves);
  poison_buffers(poison);
  if (timed) flush_caches();
  backend_.synchronize();
}

std::vector<at::Tensor> PlanSession::outputs() const {
  std::vector<at::Tensor> result;
  for (const ValueId id : plan_.outputs) result.push_back(window(plan_.values[static_cast<std::size_t>(id)]));
  return result;
}

std::vector<at::Tensor> PlanSession::states(const std::vector<ValueId>& state_values) const {
  std::vector<at::Tensor> result;
  for (const ValueId id : state_values) result.push_back(window(plan_.values[static_cast<std::size_t>(id)]));
  return result;
}

at::Tensor PlanSession::gap_is_damaged(const Gap& gap, std::uint8_t pattern) const {
  const std::uint64_t words_start = (gap.offset + 7) / 8 * 8, end = gap.offset + gap.bytes;
  const at::Tensor words = words_at(words_start, end - words_start).ne(repeated(pattern)).any();
  if (words_start == gap.offset) return words;
  return words.logical_or(bytes_at(gap.offset, words_start - gap.offset).ne(pattern).any());
}

std::optional<Failure> PlanSession::find_damaged_gap() const {
  std::vector<at::Tensor> flags;
  for (const Gap& gap : fixed_gaps_) flags.push_back(gap_is_damaged(gap, fixed_pattern_));
  for (const Gap& gap : moving_gaps_) flags.push_back(gap_is_damaged(gap, moving_pattern_));
  const auto damaged = first_set(flags);
  if (!damaged) return std::nullopt;
  const Gap& gap = *damaged < fixed_gaps_.size() ? fixed_gaps_[*damaged] : moving_gaps_[*damaged - fixed_gaps_.size()];
  std::string place = "memory that belongs to no tensor";
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (offsets_[i] == no_offset) continue;
    const auto bytes = static_cast<std::uint64_t>(plan_.buffers[i].meta.span_bytes());
    if (offsets_[i] + bytes == gap.offset)
      place = fmt::format("memory after the end of '{}'", plan_.buffers[i].name);
    else if (offsets_[i] == gap.offset + gap.bytes && place.starts_with("memory that"))
      place = fmt::format("memory before the start of '{}'", plan_.buffers[i].name);
  }
  return Failure{Status::out_of_bounds, "the program wrote to " + place};
}

std::optional<Failure> PlanSession::find_changed_leaf(BufferRole role) const {
  const TensorTable& written = role == BufferRole::input ? inputs_ : constants_;
  BufferFlags changed;
  for (std::size_t id = 0; id < written.size(); ++id) {
    const TensorRef& ref = plan_.values[id];
    if (ref.buffer < 0 || !written[id].defined()) continue;
    const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(ref.buffer)];
    if (buffer.role != role || ref.meta.numel() == 0) continue;
    changed.add(buffer, as_bits(window(ref)).ne(as_bits(written[id])).any());
  }
  const Buffer* first = changed.first();
  if (!first) return std::nullopt;
  return Failure{Status::modified_input, fmt::format("the program changed {} '{}'",
                                                     role == BufferRole::input ? "input" : "weight", first->name)};
}

std::optional<Failure> PlanSession::find_changed_prepared() const {
  BufferFlags changed;
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (!prepared_[i].defined()) continue;
    const auto bytes = static_cast<std::uint64_t>(plan_.buffers[i].meta.span_bytes());
    changed.add(plan_.buffers[i], bytes_at(offsets_[i], bytes).ne(prepared_[i]).any());
  }
  const Buffer* first = changed.first();
  if (!first) return std::nullopt;
  return Failure{Status::modified_input, fmt::format("a call changed the prepared buffer '{}'", first->name)};
}

std::optional<Failure> PlanSession::find_violation(bool constants) {
  if (auto found = find_damaged_gap()) return found;
  if (auto found = find_changed_leaf(BufferRole::input)) return found;
  if (!constants) return std::nullopt;
  if (auto found = find_changed_leaf(BufferRole::weight)) return found;
  return find_changed_prepared();
}

}  // namespace cudal1
