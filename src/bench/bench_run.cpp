#include "bench/bench_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "bench/preparation_process.hpp"
#include "bench/worker_pool.hpp"
#include "bridge/bridge_process.hpp"
#include "judge/gpu_lock.hpp"
#include "suite/task_export.hpp"
#include "suite/task_pool.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// PyTorch and its exporter take under one; the rest is for the weights. A judge has an oracle in twice the width.
constexpr std::uint64_t bytes_per_export = std::uint64_t{3} << 30, bytes_per_judge = std::uint64_t{6} << 30;
constexpr std::uint64_t bytes_per_worker = std::uint64_t{4} << 30, device_bytes_per_worker = std::uint64_t{24} << 30;
constexpr int judges_on_one_gpu = 10, most_workers_alive = 24;
constexpr std::chrono::milliseconds device_settles{50};  // what was enqueued before the standstill runs out

//! Changes whenever the code does that makes a result: executables, and the Python that they run.
std::string code_hash() {
  Sha256 hash;
  for (const char* name : {"cudal1", "cudal1-prepare", "cudal1-runner", "cudal1-vgpu-runner", "_cudal1_native.so",
                           "cudal1-solution", "libcudal1_restrict.so"}) {
    const fs::path file = executable_directory() / name;
    std::error_code problem;
    if (fs::exists(file, problem)) hash.add_field(read_file(file));
  }
  for (const fs::path& file : files_below(bridge_directory()))
    if (file.extension() == ".py") hash.add_field(read_file(file));
  return hash.hex();
}

//! The module's text: the more of it, the longer whatever is done with it takes, as far as can be told beforehand.
std::uintmax_t source_bytes(const SuiteTask& task) {
  if (!task.code.empty()) return task.code.size();
  std::error_code problem;
  const std::uintmax_t bytes = fs::file_size(task.path, problem);
  return problem ? 0 : bytes;
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

//! "reference 3.1, program 0.9"
std::string stages_text(const std::vector<std::pair<std::string, double>>& stages) {
  std::vector<std::string> parts;
  for (const auto& [stage, seconds] : stages) parts.push_back(fmt::format("{} {:.1f}", stage, seconds));
  return fmt::format("{}", fmt::join(parts, ", "));
}

struct Item {
  const SuiteTask* task = nullptr;
  std::optional<ProgramChoice> program;
  TaskFolder folder;
  fs::path package;
  BenchRow row;
  std::vector<double> ratios;  // of a solution that was timed already: eager's time over its own
  int nodes = 0;
  bool done = false;
};

using Choice = std::function<bool(const Item&)>;

//! The GPU's lock, where there is a GPU: shared from the start, since whatever a bench does uses it.
class GpuTurn {
 public:
  explicit GpuTurn(const std::string& gpu_id) {
    if (!gpu_id.empty()) lock_.emplace(gpu_id);
    share();
  }
  void share() {
    if (lock_) guard_ = std::make_unique<GpuLock::Guard>(lock_->share());
  }
  void take_alone() {
    give_up();
    if (lock_) guard_ = std::make_unique<GpuLock::Guard>(lock_->alone());
  }
  void give_up() { guard_.reset(); }

 private:
  std::optional<GpuLock> lock_;
  std::unique_ptr<GpuLock::Guard> guard_;
};

class Run {
 public:
  Run(const std::vector<SuiteTask>& tasks, const BenchOptions& options, const BenchEvents& events)
      : options_(options), events_(events), random_(options.seed) {
    for (const SuiteTask& task : tasks) {
      Item& item = items_.emplace_back();
      item.task = &task;
      item.row.suite = task.suite;
      item.row.level = task.level;
      item.row.id = task.id;
      item.row.name = task.name;
      item.row.device = options.gpu;
      item.package = packages_.path() / fmt::format("task_{}", items_.size());
    }
  }

  std::vector<BenchRow> run(const std::vector<BenchRow>& known) {
    export_all();
    take_over(known);
    if (options_.device == "vgpu") {
      predict_all();
    } else {
      judge_solutions();
      prepare_and_time_alone(prepare_and_time());
    }
    std::vector<BenchRow> rows;
    for (Item& item : items_) rows.push_back(std::move(item.row));
    return rows;
  }

 private:
  void finish(Item& item, const std::string& status, const std::string& error) {
    const std::lock_guard lock(mutex_);
    item.row.status = status;
    item.row.error = error.substr(0, error.find('\n'));
    item.done = true;
    events_.row(item.row);
  }

  void log(const std::string& what, double seconds, const Item& item, const std::string& details) {
    const std::lock_guard lock(mutex_);
    events_.took(what, seconds, item.task->label(), details);
  }

  //! What takes longest comes first, or everybody waits for it in the end.
  std::vector<std::size_t> remaining_longest_first(const Choice& wanted) const {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (!items_[i].done && wanted(items_[i])) numbers.push_back(i);
    std::ranges::stable_sort(numbers, std::greater<>(), [&](std::size_t i) { return source_bytes(*items_[i].task); });
    return numbers;
  }

  //! `work` returns what went wrong, or nothing; it is tried again, alone, where memory was short.
  void in_parallel(
      const std::string& phase, const PoolLimits& limits, const std::function<std::string(Item&)>& work,
      const Choice& wanted = [](const Item&) { return true; }) {
    const std::vector<std::size_t> numbers = remaining_longest_first(wanted);
    std::vector<bool> tried(numbers.size(), false);
    std::size_t done = 0;
    run_jobs(numbers.size(), limits, [&](std::size_t i) {
      Item& item = items_[numbers[i]];
      const std::string error = work(item);
      {
        const std::lock_guard lock(mutex_);
        if (!error.empty() && !tried[i] && says_short_of_memory(error)) {
          tried[i] = true;
          return JobEnd::short_of_memory;
        }
        events_.progress(phase, ++done, numbers.size(), item.task->label());
      }
      if (!error.empty()) finish(item, phase == "exporting" ? "no_task" : "failed", error);
      return JobEnd::done;
    });
  }

  void export_all() {
    in_parallel("exporting", {options_.jobs, bytes_per_export}, [&](Item& item) -> std::string {
      const auto begin = Clock::now();
      try {
        item.folder = task_folder_of(*item.task);
        if (item.folder.module.empty() && fs::exists(item.folder.folder / "source.py"))
          item.folder.module = item.folder.folder / "source.py";
        log("exported", seconds_since(begin), item, "");
        if (item.folder.module.empty() && options_.device != "vgpu")
          return fmt::format("{}: a native task: there is no PyTorch module to compare with", item.task->place);
        return {};
      } catch (const std::exception& problem) {
        return problem.what();
      }
    });
    for (Item& item : items_) {
      if (item.done) continue;
      item.program = options_.programs.program_for(*item.task);
      if (!item.program) finish(item, "no_program", "there is no program for it");
    }
  }

  std::string program_identity(const ProgramChoice& program) const {
    if (!program.file.empty()) return read_file(program.file);
    if (program.is_solution()) return program.solution;
    std::error_code problem;
    if (program.archive.empty() || !fs::exists(program.archive, problem)) return {};
    return sha256_hex(read_file(program.archive, std::size_t{1} << 40));
  }

  std::string key_of(const Item& item, const std::string& code) const {
    Sha256 hash;
    hash.add_field(code).add_field(options_.device).add_field(options_.gpu).add_field(options_.verify ? "v" : "");
    hash.add_field(fmt::format("{} {} {}", fmt::join(options_.baselines, ","), options_.timing.seconds,
                               options_.timing.half_width));
    for (const char* name : {"graph.json", "source.py", "imports.json"})
      if (const fs::path file = item.folder.folder / name; fs::exists(file)) hash.add_field(read_file(file));
    return hash.add_field(program_identity(*item.program)).hex().substr(0, 16);
  }

  void take_over(const std::vector<BenchRow>& known) {
    const std::string code = code_hash();
    for (Item& item : items_) {
      if (item.done) continue;
      item.row.sample = item.program->sample;
      try {
        item.row.key = key_of(item, code);
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

  PreparationRequest request_for(const Item& item) const {
    PreparationRequest request;
    request.task = item.folder.folder;
    request.module = item.folder.module;
    request.program = *item.program;
    request.device = options_.device;
    if (options_.device == "vgpu") request.gpu = options_.gpu;
    request.verify = options_.verify;
    request.seconds = options_.timing.seconds;
    request.caller_shares_gpu = !options_.gpu_id.empty() && !item.program->is_in_python();
    request.baselines = options_.baselines;
    request.package = item.package;
    return request;
  }

  //! Compiles, verifies and packs a program. Returns why that came to nothing; a verdict, or a prediction, is its end.
  std::string prepare_one(Item& item) {
    const auto begin = Clock::now();
    const Preparation made = run_preparation_process(request_for(item));
    item.nodes = made.nodes;
    item.row.program = made.program;
    item.row.own_kernels = made.own_kernels;
    item.row.degenerate = made.degenerate;
    item.row.predicted = made.predicted;
    if (!made.device.empty()) item.row.device = made.device;
    item.row.seconds = seconds_since(begin);
    log("judged", item.row.seconds, item, stages_text(made.stages));
    if (made.status == "failed" || made.status == "out_of_memory") return made.error;
    item.row.ways = made.ways;
    item.ratios = made.ratios;
    if (!made.is_ready() || options_.device == "vgpu") finish(item, made.status, made.error);
    return {};
  }

  PoolLimits judging_limits() const {
    return {options_.device == "cuda" ? std::min(options_.jobs, judges_on_one_gpu) : options_.jobs, bytes_per_judge};
  }

  void predict_all() {
    in_parallel("judging", judging_limits(), [&](Item& item) { return prepare_one(item); });
  }

  WorkerLimits worker_limits(bool alone) const {
    WorkerLimits limits;
    limits.at_once = alone ? 1 : options_.jobs;
    limits.alive = alone ? 1 : std::max(options_.jobs, most_workers_alive);
    limits.device_bytes = options_.device == "cuda" ? device_bytes_per_worker : 0;
    limits.host_bytes = bytes_per_worker;
    limits.compile_threads = alone ? 0 : 1;
    return limits;
  }

  WorkerPool::OnMade log_of_making() {
    return [this](const WorkerPool::Ready& ready) {
      std::vector<std::pair<std::string, double>> stages;
      for (const WayTimes& way : ready.prepared.ways) stages.emplace_back(way.way, way.make_seconds);
      log("made", ready.seconds, items_[ready.task], stages_text(stages));
    };
  }

  WorkerJob job_of(const Item& item) const {
    return {static_cast<std::size_t>(&item - items_.data()), item.folder.module,
            item.ratios.empty() ? item.package : fs::path(), item.nodes};
  }

  //! These are timed by their judges, each with the GPU's lock alone: nobody of ours may share it yet, nor compile.
  void judge_solutions() {
    in_parallel(
        "judging", judging_limits(), [&](Item& item) { return prepare_one(item); },
        [](const Item& item) { return item.program->is_in_python(); });
  }

  //! What is judged goes on to be made while others are still judged: one needs the GPU most, the other the processors.
  //! Nothing is measured before all of them are judged. Returns those that were short of memory.
  std::vector<std::size_t> prepare_and_time() {
    GpuTurn turn(options_.gpu_id);
    WorkerPool pool(options_.baselines, options_.device, worker_limits(false), log_of_making());
    std::vector<std::size_t> short_of_memory;
    in_parallel("judging", judging_limits(), [&](Item& item) -> std::string {
      std::string error = item.ratios.empty() ? prepare_one(item) : std::string();
      if (says_short_of_memory(error)) {  // workers have it: another time
        const std::lock_guard lock(mutex_);
        short_of_memory.push_back(job_of(item).task);
        return {};
      }
      if (error.empty() && !item.done) pool.add(job_of(item));
      return error;
    });
    pool.no_more();
    std::ranges::copy(time_made(pool, turn, false), std::back_inserter(short_of_memory));
    return short_of_memory;
  }

  //! One after the other, with nothing else on the device.
  void prepare_and_time_alone(const std::vector<std::size_t>& numbers) {
    for (const std::size_t i : numbers) {
      Item& item = items_[i];
      GpuTurn turn(options_.gpu_id);
      std::error_code problem;
      const bool is_judged = !item.ratios.empty() || fs::exists(item.package, problem);
      if (const std::string error = is_judged ? "" : prepare_one(item); !error.empty()) finish(item, "failed", error);
      if (item.done) continue;
      WorkerPool pool(options_.baselines, options_.device, worker_limits(true), log_of_making());
      pool.add(job_of(item));
      pool.no_more();
      time_made(pool, turn, true);
    }
  }

  //! Returns those that were short of memory, unless they had it for themselves already.
  std::vector<std::size_t> time_made(WorkerPool& pool, GpuTurn& turn, bool alone) {
    std::vector<std::size_t> again;
    std::jthread ending;
    for (auto some = pool.next(); !some.empty(); some = pool.next()) {
      if (ending.joinable()) ending.join();
      const WorkerPool::Standstill standstill(pool);
      turn.take_alone();
      std::this_thread::sleep_for(device_settles);
      std::vector<std::unique_ptr<ModuleWorker>> finished;
      for (WorkerPool::Ready& ready : some) {
        if (time_one(ready, alone)) again.push_back(ready.task);
        if (ready.prepared.worker) finished.push_back(std::move(ready.prepared.worker));
      }
      turn.give_up();
      // A process with gigabytes on the GPU takes its time to end, and must not while another is timed.
      ending = std::jthread([&pool, workers = std::move(finished)]() mutable {
        const std::size_t count = workers.size();
        for (const auto& worker : workers) worker->end();  // all at once
        workers.clear();
        pool.ended(count);
      });
      turn.share();
    }
    return again;
  }

  //! Returns whether to try again, since memory was short.
  bool time_one(WorkerPool::Ready& ready, bool alone) {
    Item& item = items_[ready.task];
    const auto begin = Clock::now();
    try {
      if (ready.prepared.worker) time_ways(ready.prepared, options_.timing, random_);
      if (ready.prepared.worker && !item.ratios.empty()) add_program_by_ratios(ready.prepared.ways, item.ratios);
    } catch (const std::exception& problem) {
      ready.error = problem.what();
    }
    events_.progress("measuring", ++timed_, items_.size(), item.task->label());
    item.row.seconds = seconds_since(begin);
    log("measured", item.row.seconds, item, "");
    if (!ready.error.empty() && !alone && says_short_of_memory(ready.error)) return true;
    if (ready.error.empty()) item.row.ways = std::move(ready.prepared.ways);
    finish(item, ready.error.empty() ? "ok" : "failed", ready.error);
    return false;
  }

  const BenchOptions& options_;
  const BenchEvents& events_;
  Random random_;
  TemporaryFolder packages_;
  std::vector<Item> items_;
  std::mutex mutex_;
  std::size_t timed_ = 0;
};

}  // namespace

bool is_final(const BenchRow& row) {
  return row.status != "failed" && row.status != "no_task" && row.status != "no_program" &&
         row.status != "judge_error" && row.status != "out_of_memory";
}

std::vector<BenchRow> run_bench(const std::vector<SuiteTask>& tasks, const BenchOptions& options,
                                const std::vector<BenchRow>& known, const BenchEvents& events) {
  return Run(tasks, options, events).run(known);
}

}  // namespace cudal1
