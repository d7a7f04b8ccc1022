// Which launches fit which declarations. The text has one kernel `k`; it replaces max_1 (f32[8], i64[8]) or cast_1.
#include <gtest/gtest.h>

#include <ctime>

#include "program/plan.hpp"
#include "sample_graphs.hpp"

namespace cudal1 {
namespace {

struct Fit {
  std::string declaration;
  std::string args;  //!< besides the outputs, which a helper launch takes
  bool fits;
};

std::ostream& operator<<(std::ostream& out, const Fit& fit) { return out << fit.declaration << " <- " << fit.args; }

class Signature : public testing::TestWithParam<Fit> {};

TEST_P(Signature, DecidesWhetherALaunchFits) {
  const Fit& fit = GetParam();
  const std::string text = fit.declaration +
                           "\n__global__ void rest(float* a, long long* b) {}\n"
                           "//! buffer d f64 [4]\n//! buffer u u8 [4]\n//! buffer i i32 [4]\n"
                           "//! buffer s i16 [4]\n//! buffer m bool [4]\n//! buffer c i8 [4]\n"
                           "__global__ void touch(void* d, void* u, void* i, void* s, void* m, void* c) {}\n"
                           "//! group g replaces max_1\n"
                           "//! launch touch : grid=1 block=1 args=(d, u, i, s, m, c)\n"
                           "//! launch k : grid=1 block=1 args=(" +
                           fit.args +
                           ")\n"
                           "//! launch rest : grid=1 block=1 args=(max_1, max_1[1])\n";
  const Result<Plan> result = make_plan(sample::several_outputs(), text);
  EXPECT_EQ(result.ok(), fit.fits) << (result.ok() ? "" : result.failure().message);
  if (!result.ok()) {
    EXPECT_EQ(result.failure().status, Status::plan_error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Elements, Signature,
    testing::Values(
        Fit{"__global__ void k(const float *x) {}", "x", true}, Fit{"__global__ void k(const float *x) {}", "h", false},
        Fit{"__global__ void k(float4* x) {}", "x", true}, Fit{"__global__ void k(float4* x) {}", "h", false},
        Fit{"__global__ void k(const __half* x) {}", "h", true}, Fit{"__global__ void k(half* x) {}", "x", false},
        Fit{"__global__ void k(double* x) {}", "d", true}, Fit{"__global__ void k(double2* x) {}", "x", false},
        Fit{"__global__ void k(const unsigned char* x) {}", "u", true},
        Fit{"__global__ void k(uint8_t* x) {}", "m", true}, Fit{"__global__ void k(bool* x) {}", "m", true},
        Fit{"__global__ void k(bool* x) {}", "i", false}, Fit{"__global__ void k(int* x) {}", "i", true},
        Fit{"__global__ void k(std::int32_t* x) {}", "i", true}, Fit{"__global__ void k(int* x) {}", "max_1[1]", false},
        Fit{"__global__ void k(long long int* x) {}", "max_1[1]", true},
        Fit{"__global__ void k(int64_t* x) {}", "max_1[1]", true}, Fit{"__global__ void k(short* x) {}", "s", true},
        Fit{"__global__ void k(short* x) {}", "h", false}, Fit{"__global__ void k(char* x) {}", "c", true},
        Fit{"__global__ void k(signed char* x) {}", "x", false}, Fit{"__global__ void k(uint4* x) {}", "h", true},
        Fit{"__global__ void k(unsigned short* x) {}", "h", true},
        Fit{"__global__ void k(const void* x) {}", "h", true},
        Fit{"template <class T> __global__ void k(const T* x) {}", "h", true},
        Fit{"template <class T> __global__ void k(const T* x) {}", "i32:1", false},
        Fit{"__global__ void k(float x[]) {}", "x", true}, Fit{"__global__ void k(float x[]) {}", "h", false},
        Fit{"using real = float; __global__ void k(real* x, real y) {}", "h, f64:1", true}));

INSTANTIATE_TEST_SUITE_P(Numbers, Signature,
                         testing::Values(Fit{"__global__ void k(half x) {}", "f32:1", false},
                                         Fit{"__global__ void k(bool x) {}", "i32:1", false},
                                         Fit{"__global__ void k(float4 x) {}", "f32:1", false},
                                         Fit{"__global__ void k(double x) {}", "f64:1", true},
                                         Fit{"__global__ void k(unsigned x) {}", "i32:-1", false},
                                         Fit{"__global__ void k(int x) {}", "u32:0x80000000", false},
                                         Fit{"__global__ void k(int) {}", "i32:1", true},
                                         Fit{"__global__ void k(unsigned) {}", "i32:1", true},
                                         Fit{"__global__ void k(const int n = 3) {}", "i32:1", true},
                                         Fit{"__global__ void k(int, float) {}", "i32:1", false}));

INSTANTIATE_TEST_SUITE_P(
    Declarations, Signature,
    testing::Values(
        Fit{"__global__ void k() {}", "", true}, Fit{"__global__ void k(void) {}", "", true},
        Fit{"__global__ void k() {}", "x", false},
        Fit{"__global__ __launch_bounds__(256, 2) void k(float* x) {}", "x", true},
        Fit{"__global__ void __launch_bounds__(256) k(float* x) {}", "i32:1", false},
        Fit{"extern \"C\" __global__ void __cluster_dims__(2, 1, 1) k(float* /* , int */ x) {}", "x", true},
        Fit{"#define BOUNDS(n) __launch_bounds__(n)\n__global__ void BOUNDS(256) k(float* x) {}", "i32:1", false},
        Fit{"template <int N> __global__ void k(cuda::std::array<float, N> a, float* x) {}", "i32:1, x", true},
        Fit{"__global__ void k(float* x);\n__global__ void k(float* x) {}", "x", true},
        Fit{"#if A\n__global__ void k(float* x) {}\n#else\n__global__ void k(float* x, int n) {}\n#endif", "x, i32:1",
            true},
        Fit{"__global__ void k(float* x\n#ifdef A\n, int n\n#endif\n) {}", "x", true},
        Fit{"#define PARAMETERS float* x, int n\n__global__ void k(PARAMETERS) {}", "x, i32:1", true},
        Fit{"#define KERNEL(name) __global__ void name(float* x) {}\nKERNEL(k)", "x, i32:1", true},
        Fit{"#define KERNEL(name) __global__ void k##name(float* x) {}\nKERNEL()", "x", true},
        Fit{"const char* s = \"__global__ void k(float* x)\";", "x", false},
        Fit{"template <typename... T> __global__ void k(T... x) {}", "x, i32:1", true}));

//! CPU seconds to decide about a text that repeats a fragment.
double seconds_for(const std::string& fragment, std::size_t bytes) {
  std::string text = "//! kernel k replaces max_1 : grid=1 block=1 args=(max_1, max_1[1])\n";
  while (text.size() < bytes) text += fragment;
  const std::clock_t begin = std::clock();
  (void)make_plan(sample::several_outputs(), text);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

class LongText : public testing::TestWithParam<std::string> {};

TEST_P(LongText, CostsTimeInProportionToItsLength) {
  const double seconds = seconds_for(GetParam(), std::size_t{64} << 10);
  EXPECT_LT(seconds_for(GetParam(), std::size_t{1} << 20), 64 * seconds + 0.2);  // 16 times the length
}

INSTANTIATE_TEST_SUITE_P(Hostile, LongText,
                         testing::Values("__global__ ", "__global__ a(", "__global__ a<", "a<", "(", "R\"\n", "R\"(",
                                         "/*", "'", "\\\n", "<\\\n", "#define a\n", "//! graph\n",
                                         "//! buffer a f32 [1]\n", "//! \\\n", "int x;\n"));

TEST(LongText, OfOneSumNeedsNoStack) {
  std::string text = "//! kernel k replaces max_1 : grid=1";
  while (text.size() < (std::size_t{1} << 20)) text += "+0";
  const Result<Plan> result =
      make_plan(sample::several_outputs(),
                text + " block=1 args=(max_1, max_1[1])\n__global__ void k(float* a, long long* b) {}");
  EXPECT_TRUE(result.ok()) << result.failure().message;
}

}  // namespace
}  // namespace cudal1
