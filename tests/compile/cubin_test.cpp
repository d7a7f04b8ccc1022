#include "compile/cubin.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compile_fixture.hpp"

namespace cudal1 {
namespace {

class CubinTest : public CompileTest {
 protected:
  //! Compiles and expects the verdict "forbidden" with this in its message.
  void expect_forbidden(const std::string& source, const std::string& message) {
    const auto result = compile(source);
    ASSERT_FALSE(result.ok()) << source;
    EXPECT_EQ(result.failure().status, Status::forbidden) << reason(result);
    EXPECT_NE(result.failure().message.find(message), std::string::npos) << reason(result);
    EXPECT_EQ(result.failure().message.find('\n'), std::string::npos);
  }
  void expect_allowed(const std::string& source) {
    const auto result = compile(source);
    EXPECT_TRUE(result.ok()) << source << "\n" << reason(result);
  }
};

TEST_F(CubinTest, WritableGlobalsAreForbiddenByName) {
  const std::string kernel = " extern \"C\" __global__ void k(int* x) { x[0] = counter++; }";
  expect_forbidden("__device__ int counter;" + kernel, "'counter' is a writable device global");
  expect_forbidden("__device__ int counter = 4;" + kernel, "'counter' is a writable device global");
  expect_forbidden("static __device__ int counter;" + kernel, "'counter' is a writable device global");
  expect_forbidden("extern __device__ int counter;" + kernel, "'counter' is a writable device global");
  expect_forbidden("__managed__ int counter;" + kernel, "'counter' is a writable device global");
  expect_forbidden("int counter;" + kernel, "'counter' is a writable device global");
  expect_forbidden("namespace a { __device__ int counter; } using a::counter;" + kernel, "'a::counter'");
}

TEST_F(CubinTest, HiddenMemoryIsForbidden) {
  expect_forbidden("extern \"C\" __global__ void k(int* x) { static int calls; x[0] = calls++; }", "calls");
  expect_forbidden(
      "extern \"C\" __global__ void k(int* x) { asm volatile(\"{.global .u32 hid; .reg .u32 r;"
      "ld.global.u32 r,[hid]; add.u32 r,r,1; st.global.u32 [hid],r; st.global.u32 [%0],r;}\"::\"l\"(x)); }",
      "hid");
  expect_forbidden(
      "__device__ const int table[2] = {1, 2}; extern \"C\" __global__ void k(int* x, int i) {"
      "x[0] = table[i]; atomicAdd(const_cast<int*>(&table[i]), 1); }",
      "table");
  expect_forbidden(
      "__constant__ int table[4] = {1, 2, 3, 4}; extern \"C\" __global__ void k(int* x, int i) {"
      "x[0] = table[i]; asm volatile(\"{.reg .u64 a; cvta.const.u64 a, table; st.u32 [a], %0;}\"::\"r\"(i)); }",
      "'table' in __constant__ memory");
}

TEST_F(CubinTest, ForgedToolkitTableIsForbidden) {
  expect_forbidden(
      "__device__ unsigned __cudart_i2opi_f[6] = {0x3c439041, 0xdb629599, 0xf534ddc0, 0xfc2757d1, 0x4e441529,"
      "0xa2f9836e}; extern \"C\" __global__ void k(unsigned* x, float y) {"
      "x[1] = sinf(y); x[0] = __cudart_i2opi_f[0]++; }",
      "__cudart_i2opi_f");
}

TEST_F(CubinTest, DeviceRuntimeCallsAreForbidden) {
  expect_forbidden("extern \"C\" __global__ void k(float** x) { x[0] = (float*)malloc(4); }", "'malloc'");
  expect_forbidden("extern \"C\" __global__ void k(float** x) { free(x[0]); }", "'free'");
  expect_forbidden("extern \"C\" __global__ void k(float** x) { x[0] = new float[4]; }", "'malloc'");
  expect_forbidden("#include <stdio.h>\nextern \"C\" __global__ void k(float* x) { printf(\"%f\", x[0]); }", "printf");
  expect_forbidden("extern \"C\" __global__ void k(float* x) { __assertfail(\"a\", \"b\", 1, \"c\", 1); }", "assert");
}

TEST_F(CubinTest, TablesThatAreOnlyReadAreAllowed) {
  const std::string kernel = " extern \"C\" __global__ void k(float* x, int i) { x[0] = t[i]; }";
  expect_allowed("__constant__ float t[4] = {1, 2, 3, 4};" + kernel);
  expect_allowed("constexpr float t[4] = {1, 2, 3, 4};" + kernel);
  expect_allowed("__device__ const float t[4] = {1, 2, 3, 4};" + kernel);
  expect_allowed(
      "extern \"C\" __global__ void k(float* x, int i) { static constexpr float t[2] = {1, 2}; x[0] = t[i]; }");
}

TEST_F(CubinTest, MathFunctionsWithTablesAreAllowed) {
  expect_allowed("extern \"C\" __global__ void k(float* x) { x[0] = sinf(x[1]) + cosf(x[2]) + tanf(x[3]); }");
  expect_allowed("extern \"C\" __global__ void k(double* x) { x[0] = sin(x[1]) + pow(x[2], x[3]) + tgamma(x[4]); }");
}

TEST_F(CubinTest, SharedMemoryAndFunctionPointersAreAllowed) {
  expect_allowed(
      "extern \"C\" __global__ void k(float* x) { __shared__ float s[32]; extern __shared__ float d[];"
      "s[threadIdx.x] = x[threadIdx.x]; d[threadIdx.x] = 1; __syncthreads(); x[0] = s[31 - threadIdx.x] + d[0]; }");
  expect_allowed(
      "__device__ __noinline__ float f(float a) { return a + 1; } __device__ __noinline__ float g(float a) "
      "{ return a * 2; } extern \"C\" __global__ void k(float* x, int i) { auto p = i ? f : g; x[0] = p(x[1]); }");
}

TEST_F(CubinTest, WithoutPtxEveryGlobalCountsAsWritable) {
  const auto module = compile(
      "__constant__ float t[4] = {1, 2, 3, 4}; extern \"C\" __global__ void k(float* x, int i) "
      "{ x[0] = t[i]; }");
  ASSERT_TRUE(module.ok());
  EXPECT_TRUE(forbidden_content(module.value().binary));
}

TEST_F(CubinTest, NamesWhatOutlivesACall) {
  const auto table = compile(
      "__device__ const float t[4] = {1, 2, 3, 4}; __constant__ float c[4] = {1, 2, 3, 4};"
      "extern \"C\" __global__ void k(float* x, int i) { x[0] = t[i] + c[i]; }");
  ASSERT_TRUE(table.ok()) << reason(table);
  const std::vector<std::string> names = module_variables(table.value().binary);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_NE((names[0] + names[1]).find('t'), std::string::npos) << names[0];
  EXPECT_NE((names[0] + names[1]).find('c'), std::string::npos) << names[0];
  const auto plain = compile("extern \"C\" __global__ void k(float* x) { x[0] = 2 * x[1]; }");
  ASSERT_TRUE(plain.ok()) << reason(plain);
  EXPECT_TRUE(module_variables(plain.value().binary).empty());
  EXPECT_THROW(module_variables("garbage"), Error);
}

TEST_F(CubinTest, MutatedBytesNeverCrashTheInspection) {
  const auto module = compile("extern \"C\" __global__ void k(float* x) { x[0] = sinf(x[1]); }");
  ASSERT_TRUE(module.ok()) << reason(module);
  const std::string& cubin = module.value().binary;
  for (std::size_t length = 0; length < cubin.size(); length += 1 + length / 64)
    EXPECT_TRUE(forbidden_content(std::string_view(cubin).substr(0, length))) << length;
  unsigned state = 1;
  for (int round = 0; round < 3000; ++round) {
    std::string mutated = cubin;
    for (int change = 0; change < 4; ++change) {
      state = state * 1664525u + 1013904223u;
      // Half of the changes hit the header or the section table, where the offsets are.
      const std::size_t range = state & 0x80000000u ? 64 : mutated.size();
      mutated[(state >> 3) % range] = static_cast<char>(state >> 20);
    }
    forbidden_content(mutated);
  }
}

TEST(Cubin, BytesThatAreNoCubinAreRefused) {
  EXPECT_TRUE(forbidden_content(""));
  EXPECT_TRUE(forbidden_content("garbage"));
  EXPECT_TRUE(forbidden_content(std::string(100'000, '\x7f')));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = 190;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 0xfff0;
  header.e_shoff = UINT64_MAX - 10;
  EXPECT_TRUE(forbidden_content({reinterpret_cast<const char*>(&header), sizeof header}));
}

}  // namespace
}  // namespace cudal1
