// How fast the virtual GPU's machine goes: nanoseconds a warp instruction, counters on, for one and two threads.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <ctime>

#include "compile/clang_compiler.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {
namespace {

// Every kernel takes (a, b, c, n): two matrices of n x n floats to read, one to write.
constexpr const char* source = R"(
extern "C" __global__ void gemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < n; first += 16) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum = fmaf(a_tile[threadIdx.y][k], b_tile[k][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// 64 x 64 results a block, 4 x 4 a thread.
extern "C" __global__ void __launch_bounds__(256) gemm_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[16][68], b_tile[16][68];
  const int row = 4 * (threadIdx.x / 16), column = 4 * (threadIdx.x % 16);
  float sum[4][4] = {};
  for (int first = 0; first < n; first += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      a_tile[i % 16][i / 16] = a[(blockIdx.y * 64 + i / 16) * n + first + i % 16];
      b_tile[i / 64][i % 64] = b[(first + i / 64) * n + blockIdx.x * 64 + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(a_tile[k][row + i], b_tile[k][column + j], sum[i][j]);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(blockIdx.y * 64 + row + i) * n + blockIdx.x * 64 + column + j] = sum[i][j];
}

// The same with 128-bit accesses.
extern "C" __global__ void __launch_bounds__(256) gemm_vectors(const float* a, const float* b, float* c, int n) {
  __shared__ float4 a_tile[16][17], b_tile[16][16];
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sum[4][4] = {};
  for (int first = 0; first < n; first += 16) {
    b_tile[row][column] = reinterpret_cast<const float4*>(b + (first + row) * n + blockIdx.x * 64)[column];
    float* transposed = reinterpret_cast<float*>(a_tile);
    const float4 v = reinterpret_cast<const float4*>(a + (blockIdx.y * 64 + threadIdx.x / 4) * n + first)[threadIdx.x % 4];
    const int k0 = 4 * (threadIdx.x % 4), r = threadIdx.x / 4;
    transposed[(k0 + 0) * 68 + r] = v.x;
    transposed[(k0 + 1) * 68 + r] = v.y;
    transposed[(k0 + 2) * 68 + r] = v.z;
    transposed[(k0 + 3) * 68 + r] = v.w;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 x = a_tile[k][row], y = b_tile[k][column];
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(xs[i], ys[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    reinterpret_cast<float4*>(c + (blockIdx.y * 64 + 4 * row + i) * n + blockIdx.x * 64)[column] =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// A block a row.
extern "C" __global__ void row_sum(const float* a, const float*, float* c, int n) {
  __shared__ float sums[8];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) sum += a[blockIdx.x * n + i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < 8 ? sums[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) c[blockIdx.x] = sum;
  }
}

// A warp a row, 128 bits at a time.
extern "C" __global__ void row_sum_vectors(const float* a, const float*, float* c, int n) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const float4* in = reinterpret_cast<const float4*>(a + row * n);
  float sum = 0.0f;
  for (int i = lane; i < n / 4; i += 32) sum += (in[i].x + in[i].y) + (in[i].z + in[i].w);
  sum = warp_sum(sum);
  if (lane == 0) c[row] = sum;
}

// Halving in shared memory.
extern "C" __global__ void row_sum_shared(const float* a, const float*, float* c, int n) {
  __shared__ float sums[256];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) sum += a[blockIdx.x * n + i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) c[blockIdx.x] = sums[0];
}

extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n * n) c[i] = a[i] + b[i];
}

extern "C" __global__ void transpose(const float* a, const float*, float* c, int n) {
  __shared__ float tile[32][33];
  for (int y = threadIdx.y; y < 32; y += 8) tile[y][threadIdx.x] = a[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) c[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}
)";

struct Case {
  const char* kernel;
  std::uint32_t n;
  Index3 grid, block;
};

const std::vector<Case> cases{{"gemm_tiled", 256, {16, 16, 1}, {16, 16, 1}},
                              {"gemm_registers", 256, {4, 4, 1}, {256, 1, 1}},
                              {"gemm_vectors", 256, {4, 4, 1}, {256, 1, 1}},
                              {"row_sum", 1024, {1024, 1, 1}, {256, 1, 1}},
                              {"row_sum_vectors", 1024, {128, 1, 1}, {256, 1, 1}},
                              {"row_sum_shared", 1024, {1024, 1, 1}, {256, 1, 1}},
                              {"add", 1024, {4096, 1, 1}, {256, 1, 1}},
                              {"transpose", 1024, {32, 32, 1}, {32, 8, 1}}};

const std::vector<Case> products{{"gemm_tiled", 1024, {64, 64, 1}, {16, 16, 1}},
                                 {"gemm_registers", 1024, {16, 16, 1}, {256, 1, 1}},
                                 {"gemm_vectors", 1024, {16, 16, 1}, {256, 1, 1}}};

ptx::Module compiled() {
  std::vector<std::string> kernels;
  for (const Case& one : cases) kernels.emplace_back(one.kernel);
  const auto result = ClangCompiler().compile({source, kernels, "sm_86"});
  if (!result) throw Error(result.failure().message);
  return ptx::parse(result.value().binary);
}

//! Of this process, all its threads: on a machine where others are at work too, this and not the clock is its speed.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Bench {
 public:
  Bench() : module_(compiled()) {
    for (std::size_t i = 0; i < a_.size(); ++i) {
      a_[i] = static_cast<float>(i % 7) - 3.0f;
      b_[i] = static_cast<float>(i % 5) - 2.0f;
    }
  }

  struct Outcome {
    double seconds = 1e9, cpu = 1e9;
    KernelCounters counters;
  };

  //! The fastest of some runs: others may be at work on this machine.
  Outcome run(const Case& one, std::uint32_t threads, std::uint64_t sample, int repetitions) {
    const Kernel kernel = decode(module_, *module_.find(one.kernel), {});
    Outcome best;
    for (int i = 0; i < repetitions; ++i) {
      const double cpu_begin = cpu_seconds();
      const auto begin = std::chrono::steady_clock::now();
      const KernelCounters counters = run_once(kernel, one, threads, sample);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const double cpu = cpu_seconds() - cpu_begin;
      if (seconds < best.seconds) best = {seconds, std::min(cpu, best.cpu), counters};
      best.cpu = std::min(cpu, best.cpu);
    }
    return best;
  }

 private:
  KernelCounters run_once(const Kernel& kernel, const Case& one, std::uint32_t threads, std::uint64_t sample) {
    constexpr std::uint64_t a = 1 << 30, b = 2u << 30, c = 3u << 30;
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
    launch.threads = threads;
    launch.sample = sample;
    return run_grid(launch, memory);
  }

  ptx::Module module_;
  std::vector<float> a_ = std::vector<float>(1 << 20), b_ = a_, c_ = a_;
};

void print_speeds(Bench& bench, const std::string& only) {
  fmt::print("nanoseconds a warp instruction, counters on\n{:16} {:>12} {:>9} {:>9} {:>9} {:>8}\n", "kernel",
             "instructions", "CPU", "1 thread", "2 threads", "faster");
  for (const Case& one : cases) {
    if (!only.empty() && only != one.kernel) continue;
    const auto alone = bench.run(one, 1, 0, 25), both = bench.run(one, 2, 0, 25);
    const auto instructions = static_cast<double>(alone.counters.warp_instructions());
    fmt::print("{:16} {:12.0f} {:9.2f} {:9.2f} {:9.2f} {:8.2f}\n", one.kernel, instructions,
               alone.cpu / instructions * 1e9, alone.seconds / instructions * 1e9, both.seconds / instructions * 1e9,
               alone.seconds / both.seconds);
  }
}

void print_products(Bench& bench) {
  fmt::print("\n{:16} {:>14} {:>14} {:>14}\n", "1024^3 product", "s, 2 threads", "s, 1 thread", "s, 8 blocks");
  for (const Case& one : products)
    fmt::print("{:16} {:14.2f} {:14.2f} {:14.3f}\n", one.kernel, bench.run(one, 2, 0, 1).seconds,
               bench.run(one, 1, 0, 1).seconds, bench.run(one, 2, 8, 1).seconds);
}

}  // namespace
}  // namespace cudal1::vgpu

//! With the name of a kernel: only that one.
int main(int count, char** arguments) {
  cudal1::vgpu::Bench bench;
  cudal1::vgpu::print_speeds(bench, count > 1 ? arguments[1] : "");
  if (count == 1) cudal1::vgpu::print_products(bench);
}
