#include "host_device/program_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace cudal1 {
namespace {

TEST(ProgramText, CommentsAndStringsAreBlankedInPlace) {
  EXPECT_EQ(without_comments("a /* b\nc */ d // e\nf"), "a     \n     d     \nf");
  EXPECT_EQ(without_comments(R"(x = "//\"" + 'y';)"), R"(x = "    " + ' ';)");
  EXPECT_EQ(without_comments("int n = 1'000; // it's"), "int n = 1'000;        ");
}

TEST(ProgramText, WritableGlobalsAreFoundWhereTheyStand) {
  const auto failure = find_forbidden("int f();\n  __device__ __align__(16) float memory[4];\n");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->at, (SourcePosition{2, 3}));
  EXPECT_TRUE(find_forbidden("__device__ int x = 0;"));
  EXPECT_TRUE(find_forbidden("__device__ int x{0};"));
  EXPECT_TRUE(find_forbidden("__global__ void f() { static int calls; }"));
  EXPECT_TRUE(find_forbidden("__managed__ int x;"));
}

TEST(ProgramText, FunctionsAndConstantsAreNotGlobals) {
  for (const char* text : {
           "// __device__ int x;",
           "__device__ __forceinline__ float square(float x) { return x * x; }",
           "__device__ const float table[2] = {1, 2};",
           "__constant__ float table[2] = {1, 2};",
           "static __device__ float f(int n = 3);",
           "struct S { static constexpr int n = 3; __device__ S& operator=(const S&); __device__ int operator[](int); "
           "};",
           "__global__ void f() { static __shared__ float tile[4]; static_assert(true); }",
           "template <int N> __device__ __noinline__ auto f(int (&x)[N]) { return x[0]; }",
       })
    EXPECT_FALSE(find_forbidden(text)) << text;
}

TEST(ProgramText, SharedDeclarationsKeepTheirLines) {
  EXPECT_EQ(rewrite_shared_memory("a\nstatic __shared__ int x;"), "a\n __shared__ int x;");
  const std::string rewritten = rewrite_shared_memory("extern\n__shared__ float s[];\nnext");
  EXPECT_EQ(rewritten.find("next"), rewritten.rfind('\n') + 1);
  EXPECT_EQ(std::count(rewritten.begin(), rewritten.end(), '\n'), 2);
  EXPECT_EQ(rewrite_shared_memory("// extern __shared__ float s[];"), "// extern __shared__ float s[];");
}

}  // namespace
}  // namespace cudal1
