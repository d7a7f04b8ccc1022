#include "bench/bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/files.hpp"
#include "base/host_memory.hpp"
#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "bench/awaited_packages.hpp"
#include "bench/bench_item.hpp"
#include "bench/compile_ahead.hpp"
#include "bench/gpu_turn.hpp"
#include "bench/judge_processes.hpp"
#include "bench/judging_memory.hpp"
#include "bench/measuring.hpp"
#include "bench/memory_need.hpp"
#include "bench/preparation_process.hpp"
#include "bench/row_key.hpp"
#include "bench/stage_texts.hpp"
#include "bench/worker_pool.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// PyTorch and its exporter take under one; the rest is for the weights. A judge has an oracle in twice the width.
constexpr std::uint64_t bytes_per_export = std::uint64_t{3} << 30, bytes_per_judge = std::uint64_t{6} << 30;
constexpr std::uint64_t bytes_per_worker = std::uint64_t{4} << 30;
constexpr int judges_on_one_gpu = 14, most_workers_alive = 24, most_early_workers = 8;

//! The module's text: the more of it, the longer whatever is done with it takes, as far as can be told beforehand.
std::uintmax_t source_bytes(const SuiteTask& task) {
  if (!task.code.empty()) return task.code.size();
  std::error_code problem;
  const std::uintmax_t bytes = fs::file_size(task.path, problem);
  return problem ? 0 : bytes;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

using Numbers = std::vector<std::size_t>;  // of items

//! How far a stage is that several threads, or groups of them, work on.
struct Progress {
  std::string stage;
  std::size_t total = 0, done = 0;
};

class Run {
 public:
  Run(const std::vector<SuiteTask>& tasks, const BenchOptions& options, const BenchEvents& events)
      : options_(options), events_(events), random_(options.seed), memory_(options.device_bytes), items_(tasks.size()) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      BenchItem& item = items_[i];
      item.task = &tasks[i];
      item.row.suite = tasks[i].suite;
      item.row.level = tasks[i].level;
      item.row.id = tasks[i].id;
      item.row.name = tasks[i].name;
      item.package = packages_.path() / fmt::format("task_{}", i + 1);
    }
  }

  std::vector<BenchRow> run(const std::vector<BenchRow>& known) {
    export_all();
    take_over(known);
    judge_solutions();
    GpuTurn turn(options_.gpu_id);
    while (!remaining().empty()) judge_make_and_time(remaining(), turn);
    std::vector<BenchRow> rows;
    for (BenchItem& item : items_) rows.push_back(std::move(item.row));
    return rows;
  }

 private:
  void finish(BenchItem& item, const std::string& status, const std::string& error) {
    const std::lock_guard lock(mutex_);
    item.row.status = status;
    item.row.error = first_line(error);
    item.done = true;
    events_.row(item.row);
  }

  void log(const std::string& what, double seconds, const BenchItem& item, const std::string& details) {
    const std::lock_guard lock(mutex_);
    events_.took(what, seconds, item.task->label(), details);
  }

  //! What takes longest comes first, or everybody waits for it in the end: whoever has much to say.
  Numbers remaining() const {
    Numbers numbers;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (!items_[i].done) numbers.push_back(i);
    std::ranges::stable_sort(numbers, std::greater<>(), [&](std::size_t i) { return source_bytes(*items_[i].task); });
    return numbers;
  }

  void in_parallel(Progress& progress, const Numbers& numbers, const PoolLimits& limits,
                   const std::function<JobEnd(BenchItem&)>& work) {
    run_jobs(numbers.size(), limits, [&](std::size_t i) {
      BenchItem& item = items_[numbers[i]];
      const JobEnd end = work(item);
      const std::lock_guard lock(mutex_);
      if (end == JobEnd::done) events_.progress(progress.stage, ++progress.done, progress.total, item.task->label());
      return end;
    });
  }

  void export_all() {
    const Numbers all = remaining();
    Progress progress{"exporting", all.size()};
    in_parallel(progress, all, {options_.jobs, bytes_per_export}, [&](BenchItem& item) { return export_one(item); });
    for (BenchItem& item : items_) {
      if (item.done) continue;
      item.program = options_.programs.program_for(*item.task);
      if (!item.program) finish(item, "no_program", "there is no program for it");
    }
  }

  //! Once more, alone, where memory was short.
  JobEnd export_one(BenchItem& item) {
    const auto begin = Clock::now();
    try {
      item.folder = task_folder_of(*item.task);
      item.folder.module = module_of(item.folder);
      estimate_memory(item);
      log("exported", seconds_since(begin), item, memory_text(item));
      if (item.folder.module.empty() && options_.device != "vgpu")
        throw Error(fmt::format("{}: a native task: there is no PyTorch module to compare with", item.task->place));
    } catch (const std::exception& problem) {
      if (says_short_of_memory(problem.what()) && !std::exchange(item.exported_alone, true))
        return JobEnd::short_of_memory;
      finish(item, "no_task", problem.what());
    }
    return JobEnd::done;
  }

  //! A task that cannot be read is its judge's business.
  void estimate_memory(BenchItem& item) const {
    if (!options_.read_task) return;
    try {
      const Task task = options_.read_task(item.folder.folder);
      item.nodes = static_cast<int>(task.graph.nodes.size());
      if (options_.verify) item.judge_bytes = judge_bytes(task);
      item.worker_bytes = worker_bytes(task, options_.baselines);
    } catch (const std::exception&) {
    }
  }

  void take_over(const std::vector<BenchRow>& known) {
    const std::string code = hash_of_code();
    for (BenchItem& item : items_) {
      if (item.done) continue;
      item.row.sample = item.program->sample;
      try {
        item.row.key = row_key(item, options_, code);
      } catch (const std::exception& problem) {
        finish(item, "no_program", problem.what());
        continue;
      }
      const auto same = std::ranges::find_if(known, [&](const BenchRow& row) {
        return row.key == item.row.key && row.suite == item.row.suite && row.level == item.row.level &&
               row.name == item.row.name && is_final(row);
      });
      if (same == known.end()) continue;
      item.row = *same;
      item.done = true;
    }
  }

  bool is_judged_beside_others(const BenchItem& item) const {
    return !options_.gpu_id.empty() && !item.program->is_in_python();
  }

  PreparationRequest request_for(const BenchItem& item) const {
    PreparationRequest request;
    request.task = item.folder.folder;
    request.module = item.folder.module;
    request.program = *item.program;
    request.device = options_.device;
    if (options_.device == "vgpu") request.gpu = options_.gpu;
    request.verify = options_.verify;
    request.seconds = options_.timing.seconds;
    request.caller_shares_gpu = is_judged_beside_others(item);
    request.baselines = options_.baselines;
    request.package = item.package;
    return request;
  }

  //! Compiles, verifies and packs a program.
  Preparation prepare(BenchItem& item, PreparationProcess& process) {
    const auto begin = Clock::now();
    Preparation made = process.run(request_for(item));
    item.row.seconds = seconds_since(begin);
    log("judged", item.row.seconds, item,
        made.is_ready() ? stages_text(made.stages) + peak_text(made) : first_line(made.error));
    return made;
  }

  //! A verdict, or a prediction, is a task's end; other programs go on to be made.
  void settle(BenchItem& item, const Preparation& made) {
    item.nodes = made.nodes;
    item.row.program = made.program;
    item.row.own_kernels = made.own_kernels;
    item.row.degenerate = made.degenerate;
    item.row.predicted = made.predicted;
    item.row.device = made.device;
    item.row.ways = made.ways;
    item.ratios = made.ratios;
    if (!made.is_ready() || options_.device == "vgpu") finish(item, made.status, made.error);
    const std::lock_guard lock(mutex_);
    item.judged = made.is_ready();
    if (const auto waiting = awaited_.find(number_of(item)); waiting != awaited_.end())
      waiting->second.set_value(package_of(item));
    begin_beside_judges(item);
  }

  //! These are timed by their judges, each with the GPU's lock alone: nobody of ours may share it then, nor compile,
  //! nor keep a process there.
  void judge_solutions() {
    Numbers numbers = remaining();
    std::erase_if(numbers, [&](std::size_t i) { return !items_[i].program->is_in_python(); });
    Progress progress{"judging", numbers.size()};
    const auto all_memory = [&](std::uint64_t) -> DeviceMemory& { return memory_; };
    in_parallel(progress, numbers, judging_limits(numbers, all_memory, judges()), [&](BenchItem& item) {
      PreparationProcess process;
      return judge(item, process, memory_, Company::none);
    });
  }

  //! Whether others use the device beside a judge that has all of the memory that judges share.
  enum class Company { none, others };

  //! Who was short of memory is judged again with a larger share of it, as soon as others have left that much. Who
  //! wants all of it, or was short of time while others took turns with its program, is judged in the next round,
  //! alone.
  JobEnd judge(BenchItem& item, PreparationProcess& process, const DeviceMemory& most, Company company) {
    const Preparation made = prepare(item, process);
    const std::uint64_t had = item.judge_share.bytes();
    item.judge_share.give_back();
    const bool was_late = made.status == to_string(Status::timeout) && is_judged_beside_others(item);
    const bool is_short = is_short_of_memory(made);
    const std::uint64_t next = most.more_than(had);
    if (company == Company::others && (was_late || (is_short && most.is_everything(next)))) {
      item.wants_to_be_alone = true;
      item.judge_bytes = memory_.total_bytes();
      return JobEnd::done;
    }
    if (!is_short || most.is_everything(had)) {
      settle(item, made);
      return JobEnd::done;
    }
    item.judge_bytes = next;
    return JobEnd::again;
  }

  int judges() const { return options_.device == "cuda" ? std::min(options_.jobs, judges_on_one_gpu) : options_.jobs; }

  using MemoryForJudge = std::function<DeviceMemory&(std::uint64_t bytes)>;

  PoolLimits judging_limits(const Numbers& numbers, const MemoryForJudge& memory, int jobs) {
    PoolLimits limits{jobs, bytes_per_judge};
    limits.may_begin = [this, &numbers, memory](std::size_t i) {
      BenchItem& item = items_[numbers[i]];
      return takes(item.judge_share, memory(item.judge_bytes), item.judge_bytes);
    };
    return limits;
  }

  static bool takes(DeviceMemory::Share& place, DeviceMemory& memory, std::uint64_t bytes) {
    auto share = memory.try_take(bytes);
    if (share) place = std::move(*share);
    return share.has_value();
  }

  //! So many processes of that size fit into the machine's memory.
  static int fitting(std::uint64_t bytes) {
    return static_cast<int>(std::min<std::uint64_t>(free_memory_bytes() / bytes, 1 << 20));
  }

  //! One keeps the GPU busy, the other the processors. Small programs do not wait for large ones: what they take is
  //! mostly time to begin and to end. Huge ones would wait for all the others, and come first, beside compilers.
  void judge_and_compile(const Numbers& numbers, WorkerPool& pool) {
    const auto unjudged = std::ranges::count_if(numbers, [&](std::size_t i) { return !items_[i].judged; });
    Progress progress{"judging", static_cast<std::size_t>(unjudged)};
    judge_one_by_one(chosen(numbers, &BenchItem::wants_to_be_alone), memory_, Company::none, progress);
    const std::uint64_t for_early = begin_early_workers(numbers, pool);
    JudgingMemory memory(memory_.total_bytes() - for_early, judges());
    auto kept_for_small = memory_.try_take(memory.small.total_bytes());  // workers that begin again have none of it
    const auto kept_for_large = memory_.try_take(memory.total_bytes() - memory.small.total_bytes());
    const auto is_huge = [&](const BenchItem& item) { return memory.is_huge(item.judge_bytes); };
    std::vector<Compilation> compilations = compilations_for(numbers, memory);
    std::atomic<bool> all_judged = false;
    const std::jthread compiling([&] { compile_all(compilations, memory, all_judged); });
    const Company company = for_early > 0 || !compilations.empty() ? Company::others : Company::none;
    judge_one_by_one(chosen(numbers, is_huge), memory.large, company, progress);
    memory.huge_are_judged();
    judge_side_by_side(numbers, memory, progress, [&] {
      kept_for_small.reset();
      begin_beside_judges(numbers, pool);
    });
    all_judged = true;
  }

  //! Of those that are to be judged in this round.
  Numbers chosen(const Numbers& numbers, const std::function<bool(const BenchItem&)>& has) const {
    Numbers some;
    std::ranges::copy_if(numbers, std::back_inserter(some),
                         [&](std::size_t i) { return !items_[i].judged && !items_[i].done && has(items_[i]); });
    return some;
  }

  void judge_one_by_one(const Numbers& numbers, DeviceMemory& memory, Company company, Progress& progress) {
    const auto all_memory = [&](std::uint64_t) -> DeviceMemory& { return memory; };
    judge_all(numbers, 1, all_memory, memory, company, progress);
  }

  void judge_all(const Numbers& numbers, int jobs, const MemoryForJudge& memory, const DeviceMemory& most,
                 Company company, Progress& progress) {
    JudgeProcesses processes;  // they end with the threads that have started them
    in_parallel(progress, numbers, judging_limits(numbers, memory, std::max(1, jobs)),
                [&](BenchItem& item) { return judge(item, processes.of_this_thread(), most, company); });
  }

  //! `small_are_judged`: called while large ones still are.
  void judge_side_by_side(const Numbers& numbers, JudgingMemory& memory, Progress& progress,
                          const std::function<void()>& small_are_judged) {
    const auto is_left = [&](const BenchItem& item) {
      return !item.wants_to_be_alone && !memory.is_huge(item.judge_bytes);
    };
    Numbers small, large;
    for (const std::size_t i : chosen(numbers, is_left))
      (memory.is_small(items_[i].judge_bytes) ? small : large).push_back(i);
    const int judging =
        std::min(judges(), fitting(bytes_per_judge) * 2 / 3);  // the rest of the machine is for compilers
    const int for_large = large.empty() ? 0 : std::max(1, judging / 3);
    const auto memory_for = [&](std::uint64_t bytes) -> DeviceMemory& { return memory.for_judge(bytes); };
    const std::jthread judging_large(
        [&] { judge_all(large, for_large, memory_for, memory.large, Company::others, progress); });
    judge_all(small, judging - for_large, memory_for, memory.large, Company::others, progress);
    small_are_judged();
  }

  //! From now on workers begin as soon as their programs are judged, in the memory that small ones have left.
  void begin_beside_judges(const Numbers& numbers, WorkerPool& pool) {
    const std::lock_guard lock(mutex_);
    pool_beside_judges_ = &pool;
    for (const std::size_t i : numbers) begin_beside_judges(items_[i]);
  }

  //! With the mutex held. Where its baselines are being compiled ahead, it waits for them.
  void begin_beside_judges(BenchItem& item) {
    if (pool_beside_judges_ && item.compilations_left == 0) begin_worker(item, *pool_beside_judges_);
  }

  //! Large graphs take compilers so long that everybody would wait for their workers in the end. These begin beside
  //! judges, with the baselines. Returns how much of the device's memory is theirs.
  std::uint64_t begin_early_workers(const Numbers& numbers, WorkerPool& pool) {
    if (options_.device == "vgpu" || compiled_baselines(options_.baselines).empty()) return 0;
    std::uint64_t bytes = 0;
    const std::lock_guard lock(mutex_);
    for (const std::size_t i : chosen(numbers, std::not_fn(&BenchItem::wants_to_be_alone))) {
      BenchItem& item = items_[i];
      const std::uint64_t wanted = std::max<std::uint64_t>(1, item.worker_bytes);
      if (!is_large_graph(item.nodes) || bytes + wanted > memory_.total_bytes() / 10) continue;
      if (awaited_.size() >= most_early_workers) break;
      bytes += wanted;
      item.in_pool = true;
      pool.add(job_of(item, awaited_[i].get_future().share()));
    }
    return bytes;
  }

  struct Compilation {
    BenchItem* item;
    CompileJob job;
    DeviceMemory::Share share;
  };

  //! Of tasks that have room for it beside judges.
  std::vector<Compilation> compilations_for(const Numbers& numbers, const JudgingMemory& memory) {
    const std::vector<std::string> baselines = compiled_baselines(options_.baselines);
    if (baselines.empty() || options_.device == "vgpu") return {};
    std::vector<Compilation> compilations;
    for (const std::size_t i : numbers)
      if (BenchItem& item = items_[i]; !item.done && memory.may_compile(item.worker_bytes)) {
        std::vector<CompileJob> jobs = compile_jobs({item.folder.module, options_.device, baselines, item.nodes});
        if (awaited_.contains(i)) jobs.erase(jobs.begin());  // its worker is at it
        item.compilations_left = static_cast<int>(jobs.size());
        for (CompileJob& job : jobs) compilations.push_back({&item, std::move(job), {}});
      }
    std::ranges::stable_sort(compilations, std::greater<>(), [](const Compilation& made) { return made.item->nodes; });
    return compilations;
  }

  //! What the workers will ask for; they compile themselves what was not begun when the last program was judged.
  void compile_all(std::vector<Compilation>& compilations, JudgingMemory& memory, const std::atomic<bool>& all_judged) {
    if (compilations.empty()) return;
    PoolLimits limits{std::max(1, std::min(options_.jobs * 3 / 4, fitting(bytes_per_worker) / 3)), bytes_per_worker};
    limits.may_begin = [&](std::size_t i) {
      return takes(compilations[i].share, memory.for_compiler(), compilations[i].item->worker_bytes);
    };
    run_jobs(compilations.size(), limits, [&](std::size_t i) {
      BenchItem& item = *compilations[i].item;
      if (!all_judged) compile_for(item, compilations[i].job);
      compilations[i].share.give_back();
      const std::lock_guard lock(mutex_);
      --item.compilations_left;
      begin_beside_judges(item);
      return JobEnd::done;
    });
  }

  void compile_for(BenchItem& item, const CompileJob& job) {
    const auto begin = Clock::now();
    std::string said;
    try {
      const auto stages = compile_ahead(job);
      said = stages_text(stages);
      const std::lock_guard lock(mutex_);
      item.compile_seconds.insert(stages.begin(), stages.end());
    } catch (const std::exception& problem) {
      said = first_line(problem.what());
    }
    log("compiled", seconds_since(begin), item, said);
  }

  WorkerLimits worker_limits() const {
    return {options_.jobs, std::max(options_.jobs, most_workers_alive), bytes_per_worker};
  }

  WorkerPool::OnMade log_of_making() {
    return [this](const WorkerPool::Ready& ready) {
      std::vector<std::pair<std::string, double>> stages;
      for (const WayTimes& way : ready.prepared.ways) stages.emplace_back(way.way, way.make_seconds);
      log("made", ready.seconds, items_[ready.task],
          ready.error.empty() ? stages_text(stages) : first_line(ready.error));
    };
  }

  std::size_t number_of(const BenchItem& item) const { return static_cast<std::size_t>(&item - items_.data()); }

  //! To be measured; empty where there is none, or somebody else has measured the program.
  static fs::path package_of(const BenchItem& item) {
    return item.judged && item.ratios.empty() ? item.package : fs::path();
  }

  WorkerJob job_of(const BenchItem& item, std::shared_future<fs::path> package) const {
    return {number_of(item), item.folder.module, std::move(package), item.nodes, item.worker_bytes};
  }

  //! Some may be left that shall have more memory.
  void judge_make_and_time(const Numbers& numbers, GpuTurn& turn) {
    WorkerPool pool(options_.baselines, options_.device, worker_limits(), memory_, log_of_making());
    const NobodyAwaited nobody(awaited_);
    pool_beside_judges_ = nullptr;
    for (const std::size_t i : numbers) items_[i].in_pool = false;
    judge_and_compile(numbers, pool);
    pool_beside_judges_ = nullptr;
    for (const std::size_t i : numbers) begin_worker(items_[i], pool);
    awaited_.clear();
    pool.no_more();
    Measuring(items_, memory_, options_.timing, random_, listener()).time_all(pool, turn);
  }

  //! If its program is right.
  void begin_worker(BenchItem& item, WorkerPool& pool) const {
    if (item.judged && !item.done && !std::exchange(item.in_pool, true))
      pool.add(job_of(item, known_package(package_of(item))));
  }

  MeasuringListener listener() {
    MeasuringListener made;
    made.measured = [this](const BenchItem& item, double seconds, const std::string& details) {
      log("measured", seconds, item, first_line(details));
    };
    made.through = [this](const BenchItem& item) {
      events_.progress("measuring", ++timed_, items_.size(), item.task->label());
    };
    made.finish = [this](BenchItem& item, const std::string& status, const std::string& error) {
      finish(item, status, error);
    };
    return made;
  }

  const BenchOptions& options_;
  const BenchEvents& events_;
  Random random_;
  TemporaryFolder packages_;
  DeviceMemory memory_;
  std::vector<BenchItem> items_;
  AwaitedPackages awaited_;                   //!< by workers that were begun early
  WorkerPool* pool_beside_judges_ = nullptr;  //!< while there is memory for workers though programs are judged
  std::mutex mutex_;
  std::size_t timed_ = 0;
};

}  // namespace

bool is_final(const BenchRow& row) {
  return row.status != "failed" && row.status != "no_task" && row.status != "no_program" &&
         row.status != "judge_error" && row.status != "out_of_memory" && row.status != to_string(Status::unstable);
}

std::vector<BenchRow> run_bench(const std::vector<SuiteTask>& tasks, const BenchOptions& options,
                                const std::vector<BenchRow>& known, const BenchEvents& events) {
  return Run(tasks, options, events).run(known);
}

}  // namespace cudal1
