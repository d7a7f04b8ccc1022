#include "compile/nvrtc_compiler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/sandbox.hpp"
#include "compile/compile_protocol.hpp"
#include "compile_fixture.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr const char* scale_source = "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] *= 2; }";

TEST_F(CompileTest, KernelBecomesACubinWithItsSymbol) {
  const auto module = compile(scale_source);
  ASSERT_TRUE(module.ok()) << reason(module);
  EXPECT_EQ(module.value().binary.substr(1, 3), "ELF");
  EXPECT_EQ(module.value().symbols.at("k"), "k");
  EXPECT_GT(module.value().seconds, 0.0);
  EXPECT_FALSE(module.value().from_cache);
}

TEST_F(CompileTest, TemplatesNamespacesAndPlainLinkageAreFound) {
  const auto module = compile(
      "template <int N, class T> __global__ void t(T* x) { x[0] = N; }\n"
      "namespace a { __global__ void n(int* x) { x[0] = 1; } }\n"
      "__global__ void p(int* x) { x[0] = 1; }\n",
      {"t<256, float>", "t<2, int>", "a::n", "p"});
  ASSERT_TRUE(module.ok()) << reason(module);
  ASSERT_EQ(module.value().symbols.size(), 4u);
  for (const auto& [kernel, symbol] : module.value().symbols)
    EXPECT_NE(module.value().binary.find(".text." + symbol), std::string::npos) << kernel;
  EXPECT_NE(module.value().symbols.at("t<256, float>"), module.value().symbols.at("t<2, int>"));
}

TEST_F(CompileTest, ErrorHasItsLineColumnAndOneLineMessage) {
  const auto result = compile("//! graph\n\nextern \"C\" __global__ void k(float* x) {\n  x[0] = foo;\n}\n");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_error);
  EXPECT_EQ(result.failure().at, (SourcePosition{4, 10}));
  EXPECT_EQ(result.failure().message, "program.cu(4): identifier \"foo\" is undefined");
  EXPECT_NE(result.failure().details.find("1 error detected"), std::string::npos);
}

TEST_F(CompileTest, ErrorInALineThatTheProgramRenamedHasItsOwnLine) {
  const auto result =
      compile("\n#line 70 \"/etc/passwd\"\nint x = foo;\nextern \"C\" __global__ void k(float* x) {}\n");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().at.line, 3);
  EXPECT_EQ(result.failure().message, "program.cu(3): identifier \"foo\" is undefined");
}

TEST_F(CompileTest, MissingKernelIsACompileErrorThatNamesIt) {
  const auto result = compile(scale_source, {"other"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_error);
  EXPECT_NE(result.failure().message.find("\"other\""), std::string::npos) << reason(result);
}

TEST_F(CompileTest, HelpersWithoutDeviceAndAssertsAreAccepted) {
  const auto module = compile(
      "#include <cassert>\nfloat twice(float a) { assert(a > 0); return 2 * a; }\n"
      "extern \"C\" __global__ void k(float* x) { x[0] = twice(x[0]); }");
  EXPECT_TRUE(module.ok()) << reason(module);
}

TEST_F(CompileTest, WhatNvccGivesWithoutIncludesIsThere) {
  const auto module = compile(
      "extern \"C\" __global__ void k(float* x, uint32_t n, int64_t m) {\n"
      "x[0] = n + m + INFINITY + INT_MAX + M_PI + FLT_MAX; }");
  EXPECT_TRUE(module.ok()) << reason(module);
}

TEST_F(CompileTest, GroupsOfWarpsHaveTheirInstructionsWhereTheGpuHasThem) {
  const std::string source =
      "#include <cudal1/gemm_groups.cuh>\n"
      "using Operand = cudal1::StridedOperand<float, 256, 256, true, 256, 4>;\n"
      "using Tile = cudal1::ProductTile<128, 128, 32, 2, 4, 3>;\n"
      "extern \"C\" __global__ void __launch_bounds__(256) k(const float* x, float* y) {\n"
      "#if defined(__CUDA_ARCH_FEAT_SM90_ALL) != (__CUDA_ARCH__ == 900)\n"
      "#error other instructions than those of the GPU\n"
      "#endif\n"
      "  extern __shared__ __align__(16) unsigned char memory[];\n"
      "  const Operand operand{x};\n"
      "  y[threadIdx.x] = cudal1::tiled_product<Tile, cudal1::Tf32x3Groups>(memory, operand, operand, 0, 0, 0, "
      "256)[0];\n"
      "}\n";
  for (const char* target : {"sm_90", "sm_80"}) {
    const auto module = NvrtcCompiler(options_).compile({source, {"k"}, target});
    EXPECT_TRUE(module.ok()) << target << ": " << reason(module);
  }
}

// The longest a program's author waits for a header written by habit is a refusal, so each must compile.
TEST_F(CompileTest, HabitHeadersCompileTogether) {
  if (find_nvrtc()->include_directories.empty()) GTEST_SKIP() << "no CUDA headers on this machine";
  const auto module = compile(
      "#include <cuda_runtime.h>\n#include <cuda.h>\n#include <cuda_runtime_api.h>\n#include "
      "<device_launch_parameters.h>\n"
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n#include <mma.h>\n"
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include "
      "<cooperative_groups/memcpy_async.h>\n"
      "#include <cuda_pipeline.h>\n#include <cuda_pipeline_primitives.h>\n#include <vector_types.h>\n"
      "#include <math.h>\n#include <cmath>\n#include <float.h>\n#include <cfloat>\n#include <limits.h>\n#include "
      "<climits>\n"
      "#include <stdint.h>\n#include <cstdint>\n#include <stdio.h>\n#include <cstdio>\n#include <cstdlib>\n#include "
      "<cstring>\n"
      "#include <limits>\n#include <algorithm>\n#include <type_traits>\n#include <utility>\n#include "
      "<math_constants.h>\n"
      "#include <assert.h>\n#include <stddef.h>\n#include <device_functions.h>\n"
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

TEST_F(CompileTest, EachHabitHeaderCompilesAlone) {
  if (find_nvrtc()->include_directories.empty()) GTEST_SKIP() << "no CUDA headers on this machine";
  for (const char* header : {"cuda.h", "limits", "cmath", "algorithm", "utility", "type_traits", "cstddef", "stddef.h",
                             "cstdint", "inttypes.h", "cuda_fp6.h", "cuda_awbarrier.h", "cuComplex.h", "nv/target",
                             "cooperative_groups/scan.h", "mma.h", "cuda_bf16.h"}) {
    const auto module = compile("#include <" + std::string(header) + ">\n" + scale_source);
    EXPECT_TRUE(module.ok()) << header << ": " << reason(module);
  }
}

TEST_F(CompileTest, LibcudacxxAndCubBlocksCompile) {
  const auto location = find_nvrtc();
  if (location->include_directories.size() < 2) GTEST_SKIP() << "no CUDA C++ core libraries on this machine";
  const auto module = compile(
      "#include <cub/block/block_reduce.cuh>\n#include <cuda/std/cstdint>\n#include <cstdint>\n#include <cmath>\n"
      "extern \"C\" __global__ void k(float* x) { using B = cub::BlockReduce<float, 128>; __shared__ B::TempStorage "
      "t;\n"
      "float s = B(t).Sum(x[threadIdx.x]); if (threadIdx.x == 0) x[0] = s; }");
  EXPECT_TRUE(module.ok()) << reason(module);
}

TEST_F(CompileTest, RefusedHeaderIsForbiddenWithItsLine) {
  const auto result = compile("// a\n#include <vector>\n" + std::string(scale_source));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::forbidden);
  EXPECT_EQ(result.failure().at.line, 2);
}

//! A file that no program may see.
class SecretFile {
 public:
  SecretFile() : path_(fs::temp_directory_path() / ("cudal1-secret-" + std::to_string(::getpid()))) {
    std::ofstream(path_) << "int hidden_marker = undefined_marker;\n";
  }
  ~SecretFile() { fs::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST_F(CompileTest, IncludesLeakNoFiles) {
  const SecretFile secret;
  for (const std::string& include :
       {"#include \"" + secret.path() + "\"\n", "#define F \"" + secret.path() + "\"\n#include F\n",
        "#inc\\\nlude \"" + secret.path() + "\"\n", "%:include \"" + secret.path() + "\"\n"}) {
    const auto result = compile(include + scale_source);
    ASSERT_FALSE(result.ok()) << include;
    EXPECT_EQ((result.failure().message + result.failure().details).find("marker"), std::string::npos) << include;
  }
}

//! The answer of a compiler process that was asked without the checks in front of it.
std::optional<CompileAnswer> ask_directly(const CompileQuestion& question) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const UniqueFd memory = make_sealed_memory("question", encode(question));
  ChildOptions options;
  options.arguments = {(executable_directory() / "cudal1-compiler").string()};
  options.descriptors = {{memory.get(), compile_question_fd}, {writer.get(), compile_answer_fd}};
  ChildProcess child = ChildProcess::start(options);
  writer.reset();
  std::string bytes;
  char chunk[4096];
  for (ssize_t got; (got = ::read(reader.get(), chunk, sizeof chunk)) > 0;)
    bytes.append(chunk, static_cast<std::size_t>(got));
  return decode_answer(bytes);
}

// No textual scan is perfect, so the process itself must not be able to read other files.
TEST_F(CompileTest, CompilerProcessCannotReadOtherFiles) {
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const SecretFile secret;
  CompileQuestion question;
  question.kernels = {"k"};
  question.options = {"--gpu-architecture=sm_90"};
  question.nvrtc_library = find_nvrtc()->library.string();
  question.source = scale_source;
  const auto control = ask_directly(question);
  ASSERT_TRUE(control);
  ASSERT_EQ(control->outcome, CompileAnswer::Outcome::compiled) << control->log;
  question.source = "#include \"" + secret.path() + "\"\n" + scale_source;
  const auto answer = ask_directly(question);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, CompileAnswer::Outcome::source_error);
  EXPECT_EQ(answer->log.find("marker"), std::string::npos) << answer->log;
}

TEST_F(CompileTest, OversizedAndBinarySourcesAreRefusedAtOnce) {
  auto result = compile(std::string(std::size_t{5} << 20, ' '));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_error);
  result = compile(std::string("\x7f"
                               "ELF\0\1\2",
                               7) +
                   scale_source);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_error);
  result = compile("\xff\xfe\x80 garbage \x01\x02");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_error);
}

TEST_F(CompileTest, LongLogIsBounded) {
  std::string source = "extern \"C\" __global__ void k(float* x) {\n";
  for (int i = 0; i < 90; ++i) source += "#warning \"" + std::string(2000, 'w') + "\"\n";
  const auto result = compile(source + "x[0] = foo; }");
  ASSERT_FALSE(result.ok());
  EXPECT_LT(result.failure().details.size(), std::size_t{66} << 10);
  EXPECT_EQ(result.failure().status, Status::compile_error);
}

TEST_F(CompileTest, UnknownTargetIsOurFailureNotTheProgram) {
  const auto result = NvrtcCompiler(options_).compile({scale_source, {"k"}, "sm_1"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::judge_error) << reason(result);
}

TEST_F(CompileTest, ThreadsCompileAtOnce) {
  NvrtcCompiler compiler(options_);
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

class CachedCompileTest : public CompileTest {
 protected:
  void SetUp() override {
    CompileTest::SetUp();
    options_.use_cache = true;
    options_.cache_folder = folder_;
  }
  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(CachedCompileTest, SecondCompileComesFromTheCacheInUnderFiveMilliseconds) {
  NvrtcCompiler compiler(options_);
  const CompileRequest request{scale_source, {"k"}, "sm_90"};
  const auto first = compiler.compile(request);
  ASSERT_TRUE(first.ok()) << reason(first);
  double fastest = 1.0;
  for (int i = 0; i < 10; ++i) {
    const auto again = compiler.compile(request);
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(again.value().from_cache);
    EXPECT_EQ(again.value().binary, first.value().binary);
    EXPECT_EQ(again.value().symbols, first.value().symbols);
    fastest = std::min(fastest, again.value().seconds);
  }
  EXPECT_LT(fastest, 0.005);
}

TEST_F(CachedCompileTest, WhateverChangesTheResultIsAMiss) {
  NvrtcCompiler compiler(options_);
  const std::string source = "__global__ void k(float* x) { x[0] = 1; } __global__ void q(float* x) { x[0] = 2; }";
  ASSERT_TRUE(compiler.compile({source, {"k"}, "sm_90"}).ok());
  EXPECT_FALSE(compiler.compile({source + " ", {"k"}, "sm_90"}).value().from_cache);
  EXPECT_FALSE(compiler.compile({source, {"k", "q"}, "sm_90"}).value().from_cache);
  EXPECT_FALSE(compiler.compile({source, {"k"}, "sm_80"}).value().from_cache);
  EXPECT_TRUE(compiler.compile({source, {"k"}, "sm_90"}).value().from_cache);
}

TEST_F(CachedCompileTest, ErrorsAndVerdictsAreRememberedInFull) {
  const std::vector<std::string> sources = {"extern \"C\" __global__ void k(int* x) { x[0] = foo; }",
                                            "__device__ int n; extern \"C\" __global__ void k(int* x) { x[0] = n++; }"};
  for (const auto& source : sources) {
    const auto first = compile(source);
    options_.compiler = "/nonexistent";  // so that the second answer can only come from the cache
    const auto second = compile(source);
    options_.compiler.clear();
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.failure().status, first.failure().status) << reason(second);
    EXPECT_EQ(second.failure().message, first.failure().message);
    EXPECT_EQ(second.failure().at, first.failure().at);
    EXPECT_EQ(second.failure().details, first.failure().details);
  }
}

TEST_F(CachedCompileTest, MissingCompilerIsOurFailureAndIsNotRemembered) {
  options_.compiler = "/nonexistent/cudal1-compiler";
  EXPECT_EQ(compile(scale_source).failure().status, Status::judge_error);
  options_.compiler.clear();
  EXPECT_TRUE(compile(scale_source).ok());
}

TEST_F(CachedCompileTest, FolderThatCannotBeWrittenStillCompiles) {
  options_.cache_folder = "/proc/cudal1-cache";
  testing::internal::CaptureStderr();
  const auto module = compile(scale_source);
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(module.ok()) << reason(module);
}

}  // namespace
}  // namespace cudal1
