// Whatever clang makes of real programs, the machine can decode.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <regex>

#include "base/files.hpp"
#include "compile/clang_compiler.hpp"
#include "compile/clang_process.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/ptx/lexer.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {
namespace {

namespace fs = std::filesystem;

class DecodeCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_clang()) GTEST_SKIP() << "no clang on this machine: " << clang_search_description();
  }

  //! Every kernel of the source; a program that does not compile has none.
  void decode_all(ClangCompiler& compiler, const std::string& name, const std::string& source,
                  const std::vector<std::string>& kernels) {
    const auto compiled = compiler.compile({source, kernels, "sm_90"});
    if (!compiled.ok()) {
      refused_ += compiled.failure().status == Status::compile_error ? 1 : 0;
      return;
    }
    try {
      const ptx::Module module = ptx::parse(compiled.value().binary);
      VariableAddresses variables;
      for (const ptx::Variable& variable : module.variables) variables[variable.name] = 4096;
      for (const auto& [kernel, entry] : compiled.value().symbols) {
        decode(module, *module.find(entry), variables);
        ++decoded_;
      }
    } catch (const ptx::PtxError& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
  }

  int decoded_ = 0, refused_ = 0;
};

//! The kernels that a program's directives launch.
std::vector<std::string> kernels_of(const std::string& source) {
  static const std::regex directive(
      "(?:^|\n)[ \t]*//![ \t]*(?:kernel|launch|prepare)[ \t]+(.+?)[ \t]*(?:replaces|:[ \t])");
  std::vector<std::string> kernels;
  for (std::sregex_iterator found(source.begin(), source.end(), directive), end; found != end; ++found)
    if (std::find(kernels.begin(), kernels.end(), (*found)[1].str()) == kernels.end())
      kernels.push_back((*found)[1].str());
  return kernels;
}

TEST_F(DecodeCorpus, EveryProgramOfTheExamplesAndTheMatchRule) {
  ClangCompiler compiler{ClangCompilerOptions{}};
  int programs = 0;
  for (const char* folder : {"examples", "tests/match_rule"})
    for (const fs::path& file : files_below(fs::path(CUDAL1_SOURCE_DIR) / folder)) {
      const std::string name = file.filename().string();
      if (file.extension() != ".cu" || name.starts_with("compile_timeout") || name.starts_with("parse_error")) continue;
      const std::string source = read_file(file);
      decode_all(compiler, file.string(), source, kernels_of(source));
      ++programs;
    }
  std::cout << decoded_ << " kernels of " << programs << " programs decoded\n";
  EXPECT_GT(decoded_, 350);
  EXPECT_LT(refused_, 10);
}

constexpr const char* intrinsics_source = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

__global__ void halves(__half2* x, __half* y, float* z) {
  __half2 a = x[0], b = x[1], c = x[2];
  x[3] = __hfma2(a, b, c);
  x[4] = __hfma2_relu(a, b, c);
  x[5] = __hadd2(__hmul2(a, b), __hsub2(b, c));
  x[6] = __hmax2(a, __hmin2(b, c));
  x[7] = __hneg2(__habs2(a));
  x[8] = h2exp2(a);
  y[0] = __hfma(y[1], y[2], __hadd_sat(y[3], y[4]));
  z[0] = __half2float(y[5]) + __low2float(a);
  z[1] = __hgt(y[6], y[7]) ? 1.0f : 0.0f;
  atomicAdd(x + 9, a);
  atomicAdd(y + 40, y[8]);
}

__global__ void bfloats(__nv_bfloat162* x, __nv_bfloat16* y, float* z) {
  x[3] = __hfma2(x[0], x[1], x[2]);
  x[4] = __hadd2(x[0], x[1]);
  x[5] = __floats2bfloat162_rn(z[0], z[1]);
  y[0] = __float2bfloat16_rz(z[2]);
  z[3] = __bfloat162float(__hmul(y[1], y[2]));
  x[6] = __hmax2(x[0], x[1]);
}

__global__ void bits(unsigned* x, int* y, unsigned long long* w, float* z) {
  x[0] = __byte_perm(x[1], x[2], x[3]) + __brev(x[4]) + __clz(y[0]) + __popc(x[5]) + __ffs(y[1]);
  x[6] = __funnelshift_l(x[7], x[8], x[9]) + __umulhi(x[1], x[2]) + __sad(y[0], y[1], x[3]);
  y[2] = __dp4a(y[0], y[1], y[3]) + __mul24(y[4], y[5]);
  w[0] = __umul64hi(w[1], w[2]) + __brevll(w[3]) + __popcll(w[4]) + clock64();
  x[10] = __match_any_sync(~0u, x[11]) + __reduce_add_sync(~0u, x[12]) + __activemask() + clock();
  z[0] = __fadd_rz(z[1], z[2]) + __fmul_ru(z[3], z[4]) + __fdiv_rd(z[5], z[6]) + __fsqrt_ru(z[7]);
  z[8] = __saturatef(z[9]) + __frcp_rd(z[10]) + __fmaf_rz(z[1], z[2], z[3]) + (float)__float2int_ru(z[4]);
}

__global__ void products(const __half* a, const __half* b, float* c) {
  __shared__ __half tile[16 * 16];
  __pipeline_memcpy_async(tile + 8 * threadIdx.x, a + 8 * threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
  wmma::fill_fragment(z, 0.0f);
  wmma::load_matrix_sync(x, tile, 16);
  wmma::load_matrix_sync(y, b, 16);
  wmma::mma_sync(z, x, y, z);
  wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
}

__device__ __noinline__ float power(float x, int n) { return n == 0 ? 1.0f : x * power(x + 1.0f, n - 1); }
__global__ void calls(float* x, int n) { x[threadIdx.x] = power(x[threadIdx.x], n); }

__global__ void table(int* x) {
  switch (x[threadIdx.x]) {
    case 0: x[1] = 5; break;
    case 1: x[2] = 7; __syncwarp(); break;
    case 2: x[3] = 9; atomicAdd(x, 1); break;
    case 3: x[4] = 11; break;
    case 4: x[5] = 13; break;
    case 5: x[6] = x[7]; break;
    default: break;
  }
}
)";

TEST_F(DecodeCorpus, WhatTheHeadersOffer) {
  ClangCompiler compiler{ClangCompilerOptions{}};
  for (const char* kernel : {"halves", "bfloats", "bits", "products", "calls", "table"}) {
    const auto compiled = compiler.compile({intrinsics_source, {kernel}, "sm_90"});
    ASSERT_TRUE(compiled.ok()) << kernel << ": " << compiled.failure().message << compiled.failure().details;
    decode_all(compiler, kernel, intrinsics_source, {kernel});
  }
  EXPECT_EQ(decoded_, 6);
}

}  // namespace
}  // namespace cudal1::vgpu
