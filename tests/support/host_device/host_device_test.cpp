#include "host_device/host_device.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "host_device/block_scheduler.hpp"
#include "host_device/host_compiler.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t arena_bytes = std::size_t{1} << 20;

//! Compiles a program with one kernel and launches it over buffers laid out one after the other.
class HostDeviceTest : public testing::Test {
 protected:
  HostDeviceTest() {
    const int memory = memfd_create("arena", MFD_CLOEXEC);
    if (ftruncate(memory, arena_bytes) != 0) throw Error("no arena");
    arena_ = static_cast<std::byte*>(mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
    device_.map_arena(UniqueFd(memory), {arena_bytes, 0, 0});
  }
  ~HostDeviceTest() override { munmap(arena_, arena_bytes); }

  template <class T>
  T* buffer(DType dtype, std::int64_t count) {
    const std::uint64_t offset = next_offset_;
    plan_.buffers.push_back({"b" + std::to_string(offsets_.size()), BufferRole::scratch, {dtype, {count}, {1}}});
    offsets_.push_back(offset);
    next_offset_ += (static_cast<std::uint64_t>(count) * sizeof(T) + 255) / 256 * 256;
    launch_.args.push_back(TensorRef{static_cast<int>(offsets_.size()) - 1, 0, plan_.buffers.back().meta});
    return reinterpret_cast<T*>(arena_ + offset);
  }

  void scalar(std::int32_t value) {
    launch_.args.push_back(ScalarArgument{"i32", static_cast<std::uint32_t>(value), 4});
  }

  void launch(const std::string& kernel, Dim3 grid, Dim3 block, const std::string& code,
              std::int64_t shared_bytes = 0) {
    launch_.kernel = kernel;
    launch_.grid = grid;
    launch_.block = block;
    launch_.shared_bytes = shared_bytes;
    plan_.call = {launch_};
    plan_.kernels = {kernel};
    const auto module = compiler_.compile({code, plan_.kernels, HostCompiler::target});
    ASSERT_TRUE(module) << module.failure().message << "\n" << module.failure().details;
    const auto loaded = device_.load(plan_, module.value(), {});
    EXPECT_GT(loaded->call(offsets_, {}).host_ms, 0.0);
  }

  Failure compile_failure(const std::string& code) {
    const auto module = compiler_.compile({code, {"f"}, HostCompiler::target});
    return module ? Failure{Status::ok, "compiled"} : module.failure();
  }

  HostDevice device_;
  static inline HostCompiler compiler_;
  std::byte* arena_ = nullptr;
  std::uint64_t next_offset_ = 0;
  Plan plan_;
  LaunchStep launch_;
  BufferOffsets offsets_;
};

TEST_F(HostDeviceTest, EveryThreadOfEveryBlockRunsOnce) {
  auto* visits = buffer<int>(DType::i32, 4 * 3 * 2 * 48);
  launch("visit", {4, 3, 2}, {4, 3, 4}, R"(
    extern "C" __global__ void visit(int* visits) {
      int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
      int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      visits[block * (blockDim.x * blockDim.y * blockDim.z) + thread] += 1;
    })");
  for (int i = 0; i < 4 * 3 * 2 * 48; ++i) ASSERT_EQ(visits[i], 1) << i;
}

TEST_F(HostDeviceTest, BlockReductionWithSharedMemoryAndShuffles) {
  auto* x = buffer<float>(DType::f32, 5 * 1000);
  auto* sums = buffer<float>(DType::f32, 5);
  scalar(1000);
  std::iota(x, x + 5000, 0.0f);
  launch("row_sum", {5, 1, 1}, {1024, 1, 1}, R"(
    #include <cuda_runtime.h>
    __device__ __forceinline__ float warp_sum(float v) {
      #pragma unroll
      for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
      return v;
    }
    extern "C" __global__ void __launch_bounds__(1024) row_sum(const float* __restrict__ x, float* sums, int n) {
      __shared__ float partial[32];
      float v = threadIdx.x < n ? __ldg(x + blockIdx.x * n + threadIdx.x) : 0.0f;
      v = warp_sum(v);
      if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = v;
      __syncthreads();
      if (threadIdx.x < 32) {
        v = warp_sum(partial[threadIdx.x]);
        if (threadIdx.x == 0) sums[blockIdx.x] = v;
      }
    })");
  for (int row = 0; row < 5; ++row) EXPECT_NEAR(sums[row], 1000.0 * (row * 1000 + 499.5), 2.0) << row;
}

TEST_F(HostDeviceTest, AllFourShufflesRespectTheirWidth) {
  auto* results = buffer<int>(DType::i32, 4 * 32);
  launch("shuffles", {1, 1, 1}, {32, 1, 1}, R"(
    extern "C" __global__ void shuffles(int* r) {
      int lane = threadIdx.x;
      r[lane] = __shfl_sync(~0u, lane, 3, 8);
      r[32 + lane] = __shfl_up_sync(~0u, lane, 2, 16);
      r[64 + lane] = (int)__shfl_down_sync(~0u, (double)lane, 5, 16);
      r[96 + lane] = (int)__shfl_xor_sync(~0u, (long long)lane, 1);
    })");
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(results[lane], lane / 8 * 8 + 3);
    EXPECT_EQ(results[32 + lane], lane % 16 < 2 ? lane : lane - 2);
    EXPECT_EQ(results[64 + lane], lane % 16 + 5 < 16 ? lane + 5 : lane);
    EXPECT_EQ(results[96 + lane], lane ^ 1);
  }
}

TEST_F(HostDeviceTest, WarpOperationsWaitForTheNamedLanesThatHaveNotExited) {
  auto* results = buffer<unsigned>(DType::i32, 3 * 48);
  launch("votes", {1, 1, 1}, {48, 1, 1}, R"(
    extern "C" __global__ void votes(unsigned* r) {
      int t = threadIdx.x;
      r[t] = __ballot_sync(0xffffffff, t % 3 == 0);
      if (t % 2 == 0) r[48 + t] = __popc(__activemask());
      else r[48 + t] = 100;
      if (t == 5) return;
      r[96 + t] = __any_sync(~0u, t == 40) + 2 * __all_sync(~0u, t != 5);
    })");
  for (int t = 0; t < 48; ++t) {
    unsigned expected = 0;
    for (int lane = 0; lane < (t < 32 ? 32 : 16); ++lane)
      if ((t / 32 * 32 + lane) % 3 == 0) expected |= 1u << lane;
    EXPECT_EQ(results[t], expected) << t;
    EXPECT_EQ(results[48 + t], t % 2 != 0 ? 100u : t < 32 ? 16u : 8u) << t;
    if (t != 5) {
      EXPECT_EQ(results[96 + t], t < 32 ? 2u : 3u) << t;
    }
  }
}

TEST_F(HostDeviceTest, DynamicSharedMemoryIsPoisonedAndTemplatesAreFound) {
  auto* results = buffer<float>(DType::f32, 64);
  launch("reverse<64, float>", {1, 1, 1}, {64, 1, 1}, R"(
    template <int N, typename T>
    __global__ void reverse(T* r) {
      extern __shared__ __align__(16) unsigned char raw[];
      T* values = reinterpret_cast<T*>(raw);
      bool poisoned = isnan(values[threadIdx.x]);
      __syncthreads();
      values[threadIdx.x] = poisoned ? T(threadIdx.x) : T(-1);
      __syncthreads();
      r[threadIdx.x] = values[N - 1 - threadIdx.x];
    })",
         64 * sizeof(float));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(results[i], 63 - i);
}

TEST_F(HostDeviceTest, StaticSharedMemoryRemembersNothingFromOneBlockToTheNext) {
  auto* poisoned = buffer<int>(DType::i32, 3 * 2);
  launch("remember<float>", {3, 1, 1}, {32, 1, 1}, R"(
    __device__ float& plain_cell() { __shared__ float cell; return cell; }
    template <class T>
    __global__ void remember(int* poisoned) {
      __shared__ T cells[4];
      poisoned[blockIdx.x * 2] = isnan(cells[3]);
      poisoned[blockIdx.x * 2 + 1] = isnan(plain_cell());
      __syncthreads();
      cells[3] = 7;
      plain_cell() = 7;
    })");
  for (int i = 0; i < 6; ++i) EXPECT_EQ(poisoned[i], 1) << i;
}

TEST_F(HostDeviceTest, TwoDimensionalDynamicSharedMemoryAtFileScope) {
  auto* results = buffer<float>(DType::f32, 64);
  launch("transpose", {1, 1, 1}, {8, 8, 1}, R"(
    extern __shared__ float tile[][9];
    extern "C" __global__ void transpose(float* r) {
      tile[threadIdx.y][threadIdx.x] = threadIdx.y * 8 + threadIdx.x;
      __syncthreads();
      r[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
    })",
         8 * 9 * sizeof(float));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(results[i], i % 8 * 8 + i / 8);
}

TEST_F(HostDeviceTest, HalfAndBfloat16RoundToNearestEven) {
  auto* results = buffer<float>(DType::f32, 8);
  auto* stored = buffer<std::uint16_t>(DType::f16, 4);
  launch("convert", {1, 1, 1}, {1, 1, 1}, R"(
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    extern "C" __global__ void convert(float* r, __half* h) {
      r[0] = __half2float(__float2half(2049.0f));   // between 2048 and 2050: the even one
      r[1] = __half2float(__float2half(2051.0f));
      r[2] = __bfloat162float(__float2bfloat16(257.0f));
      r[3] = __bfloat162float(__float2bfloat16(259.0f));
      half a = __float2half(1.5f), b = 2.0f;
      r[4] = float(a * b + a);
      float2 pair = __half22float2(__hfma2(__floats2half2_rn(1, 2), __float2half2_rn(3), __half2half2(a)));
      r[5] = pair.x;
      r[6] = pair.y;
      r[7] = __float2half(70000.0f) > __float2half(65504.0f) ? INFINITY : 0.0f;
      *reinterpret_cast<half2*>(h) = __floats2half2_rn(1.0f, -2.0f);
      h[2] = hexp(__half(0.0f));
      h[3] = __hmax(a, b);
    })");
  const float expected[] = {2048, 2052, 256, 260, 4.5f, 4.5f, 7.5f, INFINITY};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(results[i], expected[i]) << i;
  const std::uint16_t expected_bits[] = {0x3c00, 0xc000, 0x3c00, 0x4000};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(stored[i], expected_bits[i]) << i;
}

TEST_F(HostDeviceTest, AtomicsAddUpOverAllBlocks) {
  auto* integers = buffer<unsigned long long>(DType::i64, 4);
  auto* floats = buffer<float>(DType::f32, 2);
  floats[1] = -INFINITY;
  launch("count", {8, 1, 1}, {96, 1, 1}, R"(
    extern "C" __global__ void count(unsigned long long* n, float* f) {
      unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
      atomicAdd(n, 1);
      atomicMax(n + 1, i);
      atomicAdd(f, 0.5f);
      unsigned long long seen = n[2], expected;
      do { expected = seen; seen = atomicCAS(n + 2, expected, expected + 2); } while (seen != expected);
      int* bits = (int*)(f + 1);
      int old = *bits;
      while (__int_as_float(old) < (float)i && old != atomicCAS(bits, old, __float_as_int((float)i))) old = *bits;
      if (i == 7) atomicExch(n + 3, 42);
    })");
  EXPECT_EQ(integers[0], 768u);
  EXPECT_EQ(integers[1], 767u);
  EXPECT_EQ(integers[2], 1536u);
  EXPECT_EQ(integers[3], 42u);
  EXPECT_EQ(floats[0], 384.0f);
  EXPECT_EQ(floats[1], 767.0f);
}

TEST_F(HostDeviceTest, CooperativeGroupsWithinAWarp) {
  auto* results = buffer<int>(DType::i32, 64);
  launch("tiles", {1, 1, 1}, {64, 1, 1}, R"(
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void tiles(int* r) {
      auto block = cg::this_thread_block();
      auto tile = cg::tiled_partition<16>(block);
      r[block.thread_rank()] = cg::reduce(tile, (int)block.thread_rank(), cg::plus<int>());
      block.sync();
    })");
  for (int t = 0; t < 64; ++t) EXPECT_EQ(results[t], 16 * (t / 16 * 16) + 120) << t;
}

TEST_F(HostDeviceTest, AFaultOrTrapEndsTheProcessWithItsOwnCode) {
  buffer<float>(DType::f32, 1);
  testing::FLAGS_gtest_death_test_style = "fast";
  const auto exit_with_fault = testing::ExitedWithCode(BlockScheduler::fault_exit_code);
  EXPECT_EXIT(launch("f", {1, 1, 1}, {1, 1, 1}, R"(extern "C" __global__ void f(float* x) { x[1ll << 40] = 1; })"),
              exit_with_fault, "");
  EXPECT_EXIT(launch("f", {1, 1, 1}, {1, 1, 1}, R"(extern "C" __global__ void f(float* x) { __trap(); })"),
              exit_with_fault, "");
  EXPECT_EXIT(launch("f", {1, 1, 1}, {32, 1, 1}, R"(
                extern "C" __global__ void f(float* x) {
                  extern __shared__ float s[];
                  s[threadIdx.x] = 1;
                })",
                     31 * sizeof(float) - 12),
              exit_with_fault, "");
  EXPECT_EXIT(launch("f", {1, 1, 1}, {1, 1, 1}, R"(
                __device__ float deep(volatile float* x, int n) {
                  volatile float local[1000];
                  local[n % 1000] = *x;
                  return n == 0 ? local[0] : deep(x, n - 1) + local[1];
                }
                extern "C" __global__ void f(float* x) { *x = deep(x, 1000); })"),
              exit_with_fault, "");
}

TEST_F(HostDeviceTest, LaunchesBeyondTheLimitsAreRefused) {
  buffer<float>(DType::f32, 1);
  const std::string code = R"(extern "C" __global__ void f(float* x) {})";
  const auto status_of = [&](Dim3 grid, Dim3 block, std::int64_t shared_bytes) {
    try {
      launch("f", grid, block, code, shared_bytes);
    } catch (const DeviceError& error) {
      return error.failure.status;
    }
    return Status::ok;
  };
  EXPECT_EQ(status_of({1, 1, 1}, {1024, 1, 1}, 227 * 1024), Status::ok);
  EXPECT_EQ(status_of({1, 1, 1}, {1025, 1, 1}, 0), Status::launch_error);
  EXPECT_EQ(status_of({1, 1, 1}, {32, 64, 1}, 0), Status::launch_error);
  EXPECT_EQ(status_of({0, 1, 1}, {32, 1, 1}, 0), Status::launch_error);
  EXPECT_EQ(status_of({1, 65536, 1}, {32, 1, 1}, 0), Status::launch_error);
  EXPECT_EQ(status_of({1, 1, 1}, {32, 1, 1}, 227 * 1024 + 1), Status::launch_error);
  scalar(3);
  EXPECT_EQ(status_of({1, 1, 1}, {32, 1, 1}, 0), Status::launch_error) << "one argument too many";
}

TEST_F(HostDeviceTest, PlansLoadedAtTheSameTimeKeepTheirOwnCode) {
  auto* x = buffer<float>(DType::f32, 1);
  launch_.kernel = "f";
  plan_.call = {launch_};
  plan_.kernels = {"f"};
  std::vector<std::unique_ptr<LoadedPlan>> plans;
  for (const std::string value : {"1", "2", "3"}) {
    const std::string code = "extern \"C\" __global__ void f(float* x) { *x = " + value + "; }";
    plans.push_back(device_.load(plan_, compiler_.compile({code, {"f"}, HostCompiler::target}).value(), {}));
  }
  for (int i = 0; i < 3; ++i) {
    plans[i]->call(offsets_, {});
    EXPECT_EQ(*x, i + 1.0f);
  }
}

TEST_F(HostDeviceTest, ZeroStepsClearTheirBuffer) {
  auto* x = buffer<float>(DType::f32, 3);
  x[0] = x[1] = x[2] = 7.0f;
  plan_.call = {ZeroStep{0}};
  device_.load(plan_, {}, {})->call(offsets_, {});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(x[i], 0.0f);
}

TEST_F(HostDeviceTest, CompileErrorsNameThePlaceInTheText) {
  const Failure failure = compile_failure("// first\nextern \"C\" __global__ void f(float* x) {\n  x[0] = yy;\n}\n");
  EXPECT_EQ(failure.status, Status::compile_error);
  EXPECT_EQ(failure.at, (SourcePosition{3, 10}));
  EXPECT_NE(failure.message.find("yy"), std::string::npos) << failure.message;
  EXPECT_EQ(compile_failure("extern \"C\" __global__ void g(float* x) {}").status, Status::compile_error);
}

TEST_F(HostDeviceTest, ForbiddenThingsAreRefusedBeforeCompiling) {
  EXPECT_EQ(compile_failure("__device__ int counter;\nextern \"C\" __global__ void f() { counter++; }").status,
            Status::forbidden);
  EXPECT_EQ(compile_failure("extern \"C\" __global__ void f() { void* p = malloc(4); }").status, Status::forbidden);
  EXPECT_EQ(compile_failure("#include <vector>\nextern \"C\" __global__ void f() {}").status, Status::forbidden);
}

TEST_F(HostDeviceTest, TheSameSourceIsCompiledOnce) {
  const CompileRequest request{"extern \"C\" __global__ void once() {}", {"once"}, HostCompiler::target};
  EXPECT_FALSE(compiler_.compile(request).value().from_cache);
  EXPECT_TRUE(compiler_.compile(request).value().from_cache);
}

}  // namespace
}  // namespace cudal1
