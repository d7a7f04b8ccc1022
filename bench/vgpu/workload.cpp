#include "workload.hpp"

#include <chrono>
#include <cstring>
#include <ctime>

#include "compile/clang_compiler.hpp"
#include "device/vgpu/checks/launch_checks.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"
#include "kernels.hpp"

namespace cudal1::bench {
namespace {

using namespace vgpu;

std::map<std::string, Kernel> compiled() {
  std::vector<std::string> names{"copy"};
  for (const Case& one : all_cases()) names.push_back(one.kernel);
  const auto result = ClangCompiler().compile({kernel_source, names, "sm_86"});
  if (!result) throw Error(result.failure().message);
  const ptx::Module module = ptx::parse(result.value().binary);
  std::map<std::string, Kernel> kernels;
  for (const std::string& name : names) kernels.emplace(name, decode(module, *module.find(name), {}));
  return kernels;
}

double cpu_clock() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

const std::vector<Case>& tiled_products() {
  static const std::vector<Case> cases{{"gemm_tiled", 256, {16, 16, 1}, {16, 16, 1}},
                                       {"gemm_registers", 256, {4, 4, 1}, {256, 1, 1}},
                                       {"gemm_vectors", 512, {8, 8, 1}, {256, 1, 1}}};
  return cases;
}

const std::vector<Case>& reductions() {
  static const std::vector<Case> cases{{"row_sum", 1024, {1024, 1, 1}, {256, 1, 1}},
                                       {"row_sum_vectors", 2048, {256, 1, 1}, {256, 1, 1}},
                                       {"row_sum_shared", 1024, {1024, 1, 1}, {256, 1, 1}}};
  return cases;
}

const std::vector<Case>& others() {
  static const std::vector<Case> cases{{"add", 1024, {4096, 1, 1}, {256, 1, 1}},
                                       {"transpose", 1024, {32, 32, 1}, {32, 8, 1}}};
  return cases;
}

std::vector<Case> all_cases() {
  std::vector<Case> all = tiled_products();
  all.insert(all.end(), reductions().begin(), reductions().end());
  all.insert(all.end(), others().begin(), others().end());
  return all;
}

const std::vector<Case>& large_products() {
  static const std::vector<Case> cases{{"gemm_tiled", 1024, {64, 64, 1}, {16, 16, 1}},
                                       {"gemm_registers", 1024, {16, 16, 1}, {256, 1, 1}},
                                       {"gemm_vectors", 1024, {16, 16, 1}, {256, 1, 1}}};
  return cases;
}

RunTime best(const RunTime& a, const RunTime& b) {
  return {std::min(a.seconds, b.seconds), std::min(a.cpu_seconds, b.cpu_seconds),
          std::max(a.warp_instructions, b.warp_instructions)};
}

Workload::Workload(std::size_t floats) : kernels_(compiled()), a_(floats), b_(floats), c_(floats) {
  for (std::size_t i = 0; i < floats; ++i) {
    a_[i] = static_cast<float>(i % 7) - 3.0f;
    b_[i] = static_cast<float>(i % 5) - 2.0f;
  }
}

RunTime Workload::run(const Case& one, const RunOptions& options) {
  const Kernel& kernel = kernels_.at(one.kernel);
  const double cpu_begin = cpu_clock();
  const auto begin = std::chrono::steady_clock::now();
  const KernelCounters counters = launch(kernel, one, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {seconds, cpu_clock() - cpu_begin, static_cast<double>(counters.warp_instructions())};
}

RunTime Workload::best_of(int repetitions, const Case& one, const RunOptions& options) {
  RunTime fastest;
  for (int i = 0; i < repetitions; ++i) fastest = best(fastest, run(one, options));
  return fastest;
}

KernelCounters Workload::launch(const Kernel& kernel, const Case& one, const RunOptions& options) {
  const std::uint64_t a = std::uint64_t{1} << 40, b = 2 * a, c = 3 * a;
  std::array<std::byte, 32> parameters{};
  std::memcpy(parameters.data(), &a, 8);
  std::memcpy(parameters.data() + 8, &b, 8);
  std::memcpy(parameters.data() + 16, &c, 8);
  std::memcpy(parameters.data() + 24, &one.n, 4);
  GlobalMemory memory;
  memory.add({a, 4 * a_.size(), reinterpret_cast<std::byte*>(a_.data()), "a", false});
  memory.add({b, 4 * b_.size(), reinterpret_cast<std::byte*>(b_.data()), "b", false});
  memory.add({c, 4 * c_.size(), reinterpret_cast<std::byte*>(c_.data()), "c", true});
  Launch launch{&kernel, one.grid, one.block, 0, std::span(parameters).first(kernel.parameter_bytes)};
  launch.threads = options.threads;
  launch.sample = options.sample;
  ScratchMarks unwritten;
  if (options.checks.uninitialised) unwritten.add_uninitialised(c, 4 * c_.size());
  launch.observers = make_observers(options.checks, {one.kernel, one.grid, one.block, kernel.static_shared_bytes,
                                                     kernel.local_bytes, &memory, &unwritten});
  return run_grid(launch, memory);
}

}  // namespace cudal1::bench
