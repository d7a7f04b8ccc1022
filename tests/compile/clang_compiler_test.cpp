#include "compile/clang_compiler.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/sandbox.hpp"
#include "compile/clang_process.hpp"
#include "compile/clang_program.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr const char* scale_source = "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] *= 2; }";

//! Tests with the real clang. They need no GPU.
class ClangCompilerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_clang()) GTEST_SKIP() << "no clang on this machine: " << clang_search_description();
    options_.use_cache = false;
  }

  Result<CompiledModule> compile(const std::string& source, std::vector<std::string> kernels = {"k"}) {
    return ClangCompiler(options_).compile({source, std::move(kernels), "sm_90"});
  }

  static std::string reason(const Result<CompiledModule>& result) {
    return result.ok() ? "compiled" : std::string(to_string(result.failure().status)) + ": " + result.failure().message;
  }

  ClangCompilerOptions options_;
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

std::vector<fs::path> programs_below(const char* folder) {
  std::vector<fs::path> programs;
  for (const fs::path& file : files_below(fs::path(CUDAL1_SOURCE_DIR) / folder))
    if (file.extension() == ".cu") programs.push_back(file);
  return programs;
}

//! Whether the judge gets as far as running such an example.
bool reaches_the_device(const fs::path& program) {
  const std::string name = program.filename().string();
  for (const char* status : {"compile_error", "compile_timeout", "parse_error", "plan_error", "forbidden"})
    if (name.starts_with(status)) return false;
  return true;
}

TEST_F(ClangCompilerTest, EveryExampleProgramCompiles) {
  ClangCompiler compiler(options_);
  int compiled = 0;
  for (const fs::path& program : programs_below("examples")) {
    if (!reaches_the_device(program)) continue;
    const std::string source = read_file(program);
    const auto module = compiler.compile({source, kernels_of(source), "sm_90"});
    EXPECT_TRUE(module.ok()) << program << ": " << reason(module);
    compiled += module.ok();
  }
  EXPECT_GT(compiled, 50);
}

TEST_F(ClangCompilerTest, EveryProgramOfTheMatchRuleCompiles) {
  ClangCompiler compiler(options_);
  int compiled = 0;
  for (const fs::path& program : programs_below("tests/match_rule")) {
    const std::string source = read_file(program);
    const auto kernels = kernels_of(source);
    const auto module = compiler.compile({source, kernels, "sm_90"});
    ASSERT_TRUE(module.ok()) << program << ": " << reason(module);
    EXPECT_EQ(module.value().symbols.size(), kernels.size());
    ++compiled;
  }
  EXPECT_GT(compiled, 200);
}

TEST_F(ClangCompilerTest, KernelBecomesPtxWithItsEntryAndLines) {
  const auto module = compile(std::string("\n").append(scale_source));
  ASSERT_TRUE(module.ok()) << reason(module);
  const std::string& ptx = module.value().binary;
  EXPECT_NE(ptx.find(".entry k("), std::string::npos);
  EXPECT_NE(ptx.find(".loc\t1 2 "), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("\"/program.cu\""), std::string::npos) << ptx;
  EXPECT_EQ(ptx.find("cudal1_kernel_"), std::string::npos) << ptx;
  EXPECT_EQ(module.value().symbols.at("k"), "k");
  EXPECT_GT(module.value().seconds, 0.0);
}

TEST_F(ClangCompilerTest, TheTargetItNamesIsTheOneItCompilesFor) {
  const ClangCompiler compiler(options_);
  for (const char* asked : {"sm_80", "sm_86", "sm_90", "sm_10", "", "sm_999"}) {
    const auto module = ClangCompiler(options_).compile({scale_source, {"k"}, asked});
    ASSERT_TRUE(module.ok()) << reason(module);
    EXPECT_NE(module.value().binary.find(".target " + compiler.target_for(asked)), std::string::npos) << asked;
  }
}

TEST_F(ClangCompilerTest, VirtualFunctionsAreRefusedAsSuch) {
  const auto module = compile(
      "struct Op { __device__ virtual float go(float x) const = 0; };\n"
      "struct More : Op { __device__ float go(float x) const override { return x + 1; } };\n"
      "struct Less : Op { __device__ float go(float x) const override { return x - 1; } };\n"
      "__global__ void k(float* x) {\n"
      "  More more; Less less;\n"
      "  const Op* op = threadIdx.x & 1 ? (const Op*)&more : (const Op*)&less;\n"
      "  x[threadIdx.x] = op->go(x[threadIdx.x]);\n}\n");
  EXPECT_NE(reason(module).find("forbidden: virtual functions need a table"), std::string::npos) << reason(module);
}

TEST_F(ClangCompilerTest, TemplatesNamespacesAndPlainLinkageAreFound) {
  const auto module = compile(
      "template <int N, class T> __global__ void t(T* x) { x[0] = N; }\n"
      "constexpr int width = 8;\n"
      "namespace a { __global__ void n(int* x) { x[0] = 1; } }\n"
      "__global__ void p(int* x) { x[0] = 1; }\n",
      {"t<256, float>", "t<2, int>", "t<width, int>", "a::n", "p"});
  ASSERT_TRUE(module.ok()) << reason(module);
  ASSERT_EQ(module.value().symbols.size(), 5u);
  for (const auto& [kernel, symbol] : module.value().symbols)
    EXPECT_NE(module.value().binary.find(".entry " + symbol + "("), std::string::npos) << kernel;
  EXPECT_EQ(module.value().symbols.at("t<width, int>"), "_Z1tILi8EiEvPT0_");
}

TEST_F(ClangCompilerTest, ErrorHasItsLineColumnAndOneLineMessage) {
  const auto result = compile("//! graph\n\nextern \"C\" __global__ void k(float* x) {\n  x[0] = foo;\n}\n");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_error);
  EXPECT_EQ(result.failure().at, (SourcePosition{4, 10}));
  EXPECT_EQ(result.failure().message, "program.cu(4): use of undeclared identifier 'foo'");
}

TEST_F(ClangCompilerTest, ErrorsInOurHeadersAreAtTheLineThatCausedThem) {
  const auto wrong_type = compile(
      "struct Big { int a[9]; };\n#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
      "extern \"C\" __global__ void k(float* x) {\n"
      "  auto tile = cg::tiled_partition<33>(cg::this_thread_block());\n  x[0] = tile.thread_rank();\n}");
  ASSERT_FALSE(wrong_type.ok());
  EXPECT_EQ(wrong_type.failure().at.line, 5) << reason(wrong_type) << wrong_type.failure().details;
  const auto wrong_call = compile("extern \"C\" __global__ void k(float* x) {\n  x[0] = expf(x, 2);\n}");
  ASSERT_FALSE(wrong_call.ok());
  EXPECT_EQ(wrong_call.failure().at, (SourcePosition{2, 10})) << reason(wrong_call);
}

TEST_F(ClangCompilerTest, UnfinishedSourceIsAnErrorOfTheSource) {
  for (const std::string ending : {"{", "/*", "#if 0\n", "// \\", "R\"(", "\\"}) {
    const auto result = compile("extern \"C\" __global__ void k(float* x) { x[0] = 1; }\n" + ending);
    if (result.ok()) continue;  // a comment that ends in a backslash is one
    EXPECT_EQ(result.failure().status, Status::compile_error) << ending;
    EXPECT_EQ(result.failure().message.find("cudal1"), std::string::npos) << ending << ": " << reason(result);
  }
}

TEST_F(ClangCompilerTest, MissingKernelIsACompileErrorThatNamesIt) {
  for (const char* name : {"other", "helper", "k; int y = 1"}) {
    const auto result = compile("__device__ void helper() {}\n" + std::string(scale_source), {name});
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_EQ(result.failure().status, Status::compile_error);
    EXPECT_NE(result.failure().message.find(name), std::string::npos) << reason(result);
  }
}

TEST_F(ClangCompilerTest, HelpersWithoutDeviceAndAssertsAreAccepted) {
  const auto module = compile(
      "#include <cassert>\nfloat twice(float a) { assert(a > 0); return 2 * a; }\n"
      "static const float table[3] = {1, 2, 3};\n"
      "extern \"C\" __global__ void k(float* x, int i) { x[0] = twice(x[0]) + table[i]; }");
  EXPECT_TRUE(module.ok()) << reason(module);
}

constexpr const char* chatty_source =
    "#include <cstdio>\n#include <cassert>\nextern \"C\" __global__ void k(float* x) {\n"
    "  assert(x[0] > 0);\n  printf(\"%f of %s\\n\", x[0], __func__);\n}";

TEST_F(ClangCompilerTest, DebuggingAllowsPrintfAndChecksAsserts) {
  EXPECT_EQ(compile(chatty_source).failure().status, Status::forbidden);
  options_.debug = true;
  const auto module = compile(chatty_source);
  ASSERT_TRUE(module.ok()) << reason(module);
  EXPECT_NE(module.value().binary.find("vprintf"), std::string::npos);
  EXPECT_NE(module.value().binary.find("__assertfail"), std::string::npos);
}

TEST_F(ClangCompilerTest, DebuggingAllowsNothingElse) {
  options_.debug = true;
  for (const char* source : {"__device__ int seen; extern \"C\" __global__ void k(int* x) { x[0] = ++seen; }",
                             "extern \"C\" __global__ void k(int** x) { x[0] = (int*)malloc(4); }",
                             "extern \"C\" __global__ void k(int* x) { static int seen; x[0] = ++seen; }"})
    EXPECT_EQ(reason(compile(source)).substr(0, 9), "forbidden") << source;
}

TEST_F(ClangCompilerTest, AProgramMayTurnItsAssertsOff) {
  options_.debug = true;
  const auto module = compile(
      "#define NDEBUG\n#include <assert.h>\nextern \"C\" __global__ void k(float* x) {\n"
      "  assert(x[0] > 0);\n  x[1] = 0;\n}");
  ASSERT_TRUE(module.ok()) << reason(module);
  EXPECT_EQ(module.value().binary.find("__assertfail"), std::string::npos);
}

TEST_F(ClangCompilerTest, HabitHeadersCompileTogether) {
  const auto module = compile(
      "#include <cuda_runtime.h>\n#include <cuda.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n"
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\n"
      "#include <cuda_pipeline.h>\n#include <math.h>\n#include <cmath>\n#include <cfloat>\n#include <climits>\n"
      "#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <limits>\n"
      "#include <algorithm>\n#include <type_traits>\n#include <utility>\n#include <math_constants.h>\n"
      "namespace cg = cooperative_groups;\n"
      "template <class T> __global__ void k(T* x, const __grid_constant__ CUtensorMap map) {\n"
      "  static_assert(std::is_same_v<T, float> && std::numeric_limits<float>::max() == FLT_MAX, \"\");\n"
      "  auto tile = cg::tiled_partition<32>(cg::this_thread_block());\n"
      "  T v = cg::reduce(tile, x[threadIdx.x], cg::plus<T>());\n"
      "  x[0] = std::max(v, std::sqrt(std::abs(x[1]))) + __half2float(__float2half(v)) + float(__nv_bfloat16(v));\n"
      "  x[1] = CUDART_INF_F + std::numeric_limits<float>::infinity() + map.opaque[0] + std::exp(v) + std::min(1, "
      "2);\n}",
      {"k<float>"});
  EXPECT_TRUE(module.ok()) << reason(module) << "\n" << (module.ok() ? "" : module.failure().details);
}

TEST_F(ClangCompilerTest, LibraryFunctionsBelongToTheLineThatCallsThem) {
  const auto module = compile("extern \"C\" __global__ void k(float* x) {\n  x[0] = erff(x[1]);\n}");
  ASSERT_TRUE(module.ok()) << reason(module);
  const std::string& ptx = module.value().binary;
  EXPECT_EQ(ptx.find(".file\t2"), std::string::npos) << "instructions of a header have the header's place";
  EXPECT_EQ(ptx.find(".extern"), std::string::npos);
}

TEST_F(ClangCompilerTest, ProductsAndSumsAreNotFused) {
  const auto module = compile("extern \"C\" __global__ void k(float* x) { x[0] = x[1] * x[2] + x[3]; }");
  ASSERT_TRUE(module.ok()) << reason(module);
  EXPECT_NE(module.value().binary.find("mul.rn.f32"), std::string::npos);
  EXPECT_NE(module.value().binary.find("add.rn.f32"), std::string::npos);
  EXPECT_EQ(module.value().binary.find("fma"), std::string::npos);
}

TEST_F(ClangCompilerTest, ArraysTooLargeForThirtyTwoBitsAreNotSingleBytes) {
  const auto expect_bytes = [&](const std::string& size, const std::string& bytes) {
    const auto module = compile("extern \"C\" __global__ void k(char* x) { __shared__ char one, array[" + size +
                                "]; one = array[threadIdx.x] = *x; __syncthreads(); *x = array[*x] + one; }");
    ASSERT_TRUE(module.ok()) << reason(module);
    EXPECT_NE(module.value().binary.find(".b8 _ZZ1kE5array[" + bytes + "];"), std::string::npos) << size;
    EXPECT_NE(module.value().binary.find(".u8 _ZZ1kE3one;"), std::string::npos);
  };
  expect_bytes("1ull << 40", "4294967296");
  expect_bytes("1ull << 32", "4294967296");
  expect_bytes("1ull << 31", "2147483648");
}

TEST_F(ClangCompilerTest, AccessesOfSharedMemoryStayOnTheirSideOfABarrier) {
  // clang 14 would load the variable before the barrier in the threads that do not write it.
  for (const std::string barrier :
       {"__syncthreads()", "__syncthreads_and(1)", "__syncwarp()", "__threadfence_block()"}) {
    const auto module = compile(
        "extern \"C\" __global__ void k(int* next, int* y) {\n"
        "  __shared__ int piece;\n"
        "  if (threadIdx.x == 0) piece = atomicAdd(next, 1);\n  " +
        barrier + ";\n  y[threadIdx.x] = piece;\n}");
    ASSERT_TRUE(module.ok()) << reason(module);
    const std::string& ptx = module.value().binary;
    const std::size_t at = std::min({ptx.find("\tbar."), ptx.find("\tbarrier."), ptx.find("\tmembar.")});
    ASSERT_NE(at, std::string::npos) << ptx;
    EXPECT_LT(ptx.find("st.shared"), at) << barrier;
    EXPECT_GT(ptx.find("ld.shared"), at) << barrier;
  }
}

TEST_F(ClangCompilerTest, PrecompiledPreludeChangesNothing) {
  ClangCompiler compiler(options_);
  const std::string source =
      "#include <cuda_fp16.h>\n#include <math.h>\nextern \"C\" __global__ void k(float* x) {\n"
      "  x[0] = erff(x[1]) + __half2float(__float2half(x[2])) + INFINITY;\n}";
  std::vector<std::string> texts;
  for (int i = 0; i < 3; ++i) {
    const auto module = compiler.compile({source, {"k"}, "sm_90"});
    ASSERT_TRUE(module.ok()) << reason(module);
    texts.push_back(module.value().binary);
  }
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[2], texts[0]);
  const auto wrong = compiler.compile({"extern \"C\" __global__ void k(float* x) {\n  x[0] = foo;\n}", {"k"}, "sm_90"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.failure().at, (SourcePosition{2, 10}));
}

// --- what programs may not do ----------------------------------------------------------------------------------------

TEST_F(ClangCompilerTest, ExamplesThatMustFailFailAsTheirNameSays) {
  ClangCompiler compiler(options_);
  int seen = 0;
  for (const fs::path& program : programs_below("examples")) {
    const std::string name = program.filename().string();
    const bool forbidden = name.starts_with("forbidden");
    if (!forbidden && !name.starts_with("compile_error")) continue;
    const std::string source = read_file(program);
    const auto result = compiler.compile({source, kernels_of(source), "sm_90"});
    ASSERT_FALSE(result.ok()) << program;
    EXPECT_EQ(result.failure().status, forbidden ? Status::forbidden : Status::compile_error) << reason(result);
    ++seen;
  }
  EXPECT_GE(seen, 6);
}

TEST_F(ClangCompilerTest, TypoOfTheExampleIsAtItsLine) {
  const std::string source = read_file(fs::path(CUDAL1_SOURCE_DIR) / "examples/vector_add/compile_error-typo.cu");
  const auto result = compile(source, {"vector_add"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().at, (SourcePosition{5, 11}));
  EXPECT_EQ(result.failure().message, "program.cu(5): use of undeclared identifier 'cuont'");
}

TEST_F(ClangCompilerTest, MemoryThatOutlivesACallIsForbiddenAndTablesAreNot) {
  const auto status_of = [&](const std::string& source) {
    const auto result = compile(source);
    return result.ok() ? Status::ok : result.failure().status;
  };
  EXPECT_EQ(status_of("__device__ int n; extern \"C\" __global__ void k(int* x) { x[0] = n++; }"), Status::forbidden);
  EXPECT_EQ(status_of("extern \"C\" __global__ void k(int* x) { static int n; x[0] = n++; }"), Status::forbidden);
  EXPECT_EQ(status_of("extern \"C\" __global__ void k(int* x) {\n"
                      "asm volatile(\"{ .global .u32 kept; st.global.u32 [kept], 1; }\"); }"),
            Status::forbidden);
  EXPECT_EQ(status_of("__constant__ int t[4] = {1, 2, 3, 4};\n"
                      "extern \"C\" __global__ void k(int* x) { x[0] = t[x[1]]; }"),
            Status::ok);
}

TEST_F(ClangCompilerTest, IncludesLeakNoFiles) {
  for (const std::string include :
       {"#include \"/etc/passwd\"\n", "#define F \"/etc/passwd\"\n#include F\n", "#inc\\\nlude \"/etc/passwd\"\n",
        "%:include \"/etc/passwd\"\n", "#include <vector>\n"}) {
    const auto result = compile(include + scale_source);
    ASSERT_FALSE(result.ok()) << include;
    EXPECT_EQ(result.failure().status, Status::forbidden) << include;
    EXPECT_EQ(result.failure().details.find("root:"), std::string::npos) << include;
  }
}

TEST_F(ClangCompilerTest, HeadersOfNvidiaOnlyAreUnsupported) {
  const auto result = compile("// a\n#include <cub/block/block_reduce.cuh>\n" + std::string(scale_source));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::unsupported);
  EXPECT_EQ(result.failure().at.line, 2);
}

//! Runs clang without the checks in front of it.
Result<ClangOutput> run_directly(const std::string& source) {
  ClangRun run;
  run.launcher = executable_directory() / "cudal1-clang";
  run.arguments = {find_clang()->program.string(), "-x", "c++", "-fsyntax-only", "-nostdinc", "-"};
  run.source = source;
  return run_clang(run);
}

// No textual scan is perfect, so the process itself must not be able to read other files.
TEST_F(ClangCompilerTest, ClangCannotReadOtherFiles) {
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const TemporaryFolder folder;
  const fs::path secret = folder.path() / "secret";
  std::ofstream(secret) << "int hidden_marker = undefined_marker;\n";
  ASSERT_TRUE(run_directly("int a;").value().succeeded);
  const auto output = run_directly("#include \"" + secret.string() + "\"\n");
  ASSERT_TRUE(output.ok());
  EXPECT_FALSE(output.value().succeeded);
  EXPECT_EQ(output.value().log.find("marker"), std::string::npos) << output.value().log;
}

// --- limits
// ------------------------------------------------------------------------------------------------------------

TEST_F(ClangCompilerTest, EndlessCompileIsKilledAtItsTimeLimit) {
  const std::string source = read_file(fs::path(CUDAL1_SOURCE_DIR) / "examples/vector_add/compile_timeout-endless.cu");
  options_.time_limit = std::chrono::milliseconds(1500);
  const auto start = std::chrono::steady_clock::now();
  const auto result = compile(source, {"vector_add"});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_timeout) << reason(result);
  EXPECT_NE(result.failure().message.find("1.5 s"), std::string::npos) << reason(result);
  EXPECT_LT(seconds, 3.0);
}

TEST_F(ClangCompilerTest, MemoryLimitIsNamed) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer does not work under a memory limit";
#endif
  options_.memory_limit_bytes = std::uint64_t{512} << 20;
  const auto result = compile(
      "template <int N> struct A { A<N - 1> a, b; };\ntemplate <> struct A<0> { int x[1 << 20] = {1}; };\n"
      "__constant__ A<6> table = {};\nextern \"C\" __global__ void k(int* x) { x[0] = ((const int*)&table)[x[1]]; }");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_timeout) << reason(result);
  EXPECT_NE(result.failure().message.find("512 MiB"), std::string::npos) << reason(result);
}

TEST_F(ClangCompilerTest, DeepNestingAndBinarySourcesEndInAVerdict) {
  const std::string deep = "extern \"C\" __global__ void k(int* x) { x[0] = " + std::string(200'000, '(') + "1" +
                           std::string(200'000, ')') + "; }";
  for (const std::string& source : {deep, std::string("\x7f\x00", 2), std::string("\xff\xfe\x80 garbage \x01\x02"),
                                    std::string(std::size_t{5} << 20, ' ')}) {
    const auto result = compile(source);
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(result.failure().status == Status::compile_timeout || result.failure().status == Status::compile_error)
        << reason(result);
  }
}

// --- cache
// -------------------------------------------------------------------------------------------------------------

class CachedClangTest : public ClangCompilerTest {
 protected:
  void SetUp() override {
    ClangCompilerTest::SetUp();
    options_.use_cache = true;
    options_.cache_folder = folder_.path();
  }
  TemporaryFolder folder_;
};

TEST_F(CachedClangTest, SecondCompileComesFromTheCache) {
  ClangCompiler compiler(options_);
  const CompileRequest request{scale_source, {"k"}, "sm_90"};
  const auto first = compiler.compile(request);
  ASSERT_TRUE(first.ok()) << reason(first);
  EXPECT_FALSE(first.value().from_cache);
  const auto again = ClangCompiler(options_).compile(request);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again.value().from_cache);
  EXPECT_EQ(again.value().binary, first.value().binary);
  EXPECT_EQ(again.value().symbols, first.value().symbols);
  EXPECT_FALSE(compiler.compile({std::string(scale_source) + " ", {"k"}, "sm_90"}).value().from_cache);
  EXPECT_FALSE(compiler.compile({scale_source, {"k"}, "sm_80"}).value().from_cache);
}

TEST_F(CachedClangTest, ErrorsAndVerdictsAreRememberedInFull) {
  for (const std::string source : {"extern \"C\" __global__ void k(int* x) { x[0] = foo; }",
                                   "__device__ int n; extern \"C\" __global__ void k(int* x) { x[0] = n++; }"}) {
    const auto first = compile(source);
    options_.launcher = "/nonexistent";  // so that the second answer can only come from the cache
    const auto second = compile(source);
    options_.launcher.clear();
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.failure().status, first.failure().status) << reason(second);
    EXPECT_EQ(second.failure().message, first.failure().message);
    EXPECT_EQ(second.failure().at, first.failure().at);
  }
}

TEST(ClangProgram, BringsBackSignsThatAreShiftedIn) {
  std::string ptx =
      "\tbfe.u64 \t%rd12, %rd11, 63, 3;\n\tbfe.u64 \t%rd1, %rd2, 60, 4;\n\tbfe.u64 %rd1, %rd2, %r3, %r4;\n";
  restore_shifted_signs(ptx);
  EXPECT_EQ(ptx,
            "\tshr.s64 %rd12, %rd11, 63;\n\tand.b64 %rd12, %rd12, 7;\n\tbfe.u64 \t%rd1, %rd2, 60, 4;\n"
            "\tbfe.u64 %rd1, %rd2, %r3, %r4;\n");
  const std::string own = "\t// begin inline asm\n\tbfe.u64 %rd1, %rd2, 63, 3;\n\t// end inline asm\n";
  std::string kept = own;
  restore_shifted_signs(kept);
  EXPECT_EQ(kept, own);
}

TEST_F(ClangCompilerTest, ThreadsCompileAtOnce) {
  ClangCompiler compiler(options_);
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const std::string source = "extern \"C\" __global__ void k(int* x) { x[0] = " + std::to_string(i) + "; }";
      good[static_cast<std::size_t>(i)] = compiler.compile({source, {"k"}, "sm_90"}).ok();
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, (std::vector<int>{1, 1, 1, 1}));
}

}  // namespace
}  // namespace cudal1
