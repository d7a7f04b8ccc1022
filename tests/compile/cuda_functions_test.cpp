// CUDA's functions compile with both compilers, the virtual GPU can run what clang makes of them, and a sample of them
// gives what the formulas of CUDA's manual say.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "compile/clang_compiler.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "cuda_function_list.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1 {
namespace {

std::vector<CudaFunction> all_functions() {
  return read_cuda_functions(std::filesystem::path(CUDAL1_SOURCE_DIR) / "tests/compile/cuda_functions.txt");
}

//! Programs of a few hundred calls each, so that none comes near the compilers' limits of time.
std::vector<std::string> programs() {
  constexpr std::size_t calls_each = 150;
  std::vector<std::string> programs;
  const auto functions = all_functions();
  for (std::size_t first = 0; first < functions.size(); first += calls_each) {
    const std::size_t last = std::min(first + calls_each, functions.size());
    programs.push_back(program_calling({functions.begin() + first, functions.begin() + last}));
  }
  return programs;
}

std::string reason(const Result<CompiledModule>& module) {
  return module.ok() ? "" : module.failure().message + "\n" + module.failure().details;
}

vgpu::Kernel decoded(const ptx::Module& module, const std::string& entry) {
  vgpu::VariableAddresses variables;
  for (const ptx::Variable& variable : module.variables) variables[variable.name] = 4096;
  return vgpu::decode(module, *module.find(entry), variables);
}

TEST(CudaFunctions, TheListIsReadAsItIsWritten) {
  const auto functions = all_functions();
  EXPECT_GT(functions.size(), 1500u);
  const auto found = std::find_if(functions.begin(), functions.end(), [](const CudaFunction& function) {
    return function.name == "__ldg" && function.result == "uchar2";
  });
  ASSERT_NE(found, functions.end());
  EXPECT_EQ(found->arguments, std::vector<std::string>{"uchar2*"});
  EXPECT_NE(program_calling({*found}).find("v.uchar2_value = __ldg(&v.uchar2_value);"), std::string::npos);
}

TEST(CudaFunctions, AllCompileWithNvrtc) {
  if (!find_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine: " << nvrtc_search_description();
  NvrtcCompilerOptions options;
  options.use_cache = false;
  options.time_limit = std::chrono::seconds(200);
  NvrtcCompiler compiler(options);
  for (const std::string& program : programs()) {
    const auto module = compiler.compile({program, {"k"}, "sm_90"});
    EXPECT_TRUE(module.ok()) << reason(module);
  }
}

//! Tests with the real clang.
class VgpuCudaFunctions : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_clang()) GTEST_SKIP() << "no clang on this machine: " << clang_search_description();
    options_.use_cache = false;
    options_.time_limit = std::chrono::seconds(200);
  }
  Result<CompiledModule> compile(const std::string& source) {
    return ClangCompiler(options_).compile({source, {"k"}, "sm_90"});
  }
  ClangCompilerOptions options_;
};

TEST_F(VgpuCudaFunctions, AllCompileWithClangAndAreKnownToTheMachine) {
  for (const std::string& program : programs()) {
    const auto compiled = compile(program);
    ASSERT_TRUE(compiled.ok()) << reason(compiled);
    const ptx::Module module = ptx::parse(compiled.value().binary);
    EXPECT_NO_THROW(decoded(module, compiled.value().symbols.at("k")));
  }
}

// --- values
// ------------------------------------------------------------------------------------------------------------

using Word = std::uint32_t;

//! What an expression of the words a, b and c gives as a word, and what it ought to give.
struct Sample {
  const char* expression;
  std::function<Word(Word, Word, Word)> expected;
};

const std::vector<Word> interesting = {0u,          1u,          0xffffffffu, 0x80000000u, 0x7fffffffu, 0x80008000u,
                                       0x7fff7fffu, 0x00ff01feu, 0x80ff7f01u, 0x12345678u, 0xfedcba98u, 0x3f800000u,
                                       0xbf99999au, 0x42f6e979u, 0x00010002u, 0x7fc00000u};

//! All pairs of interesting words as a and b, with others in turn as c.
class VgpuCudaValues : public VgpuCudaFunctions {
 protected:
  void check(const std::vector<Sample>& samples) {
    const std::size_t threads = interesting.size() * interesting.size();
    const std::vector<Word> results = run(samples, threads);
    for (std::size_t s = 0; s < samples.size(); ++s)
      for (std::size_t t = 0; t < threads; ++t) {
        const Word a = interesting[t / 16], b = interesting[t % 16], c = interesting[(3 * t + 5) % 16];
        ASSERT_EQ(results[s * threads + t], samples[s].expected(a, b, c))
            << samples[s].expression << std::hex << " of " << a << ", " << b << ", " << c;
      }
  }

 private:
  static std::string source_of(const std::vector<Sample>& samples) {
    std::string source =
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        "extern \"C\" __global__ void k(const unsigned* words, unsigned* results) {\n"
        "  const unsigned t = threadIdx.x, n = blockDim.x, a = words[t / 16], b = words[t % 16];\n"
        "  const unsigned c = words[(3 * t + 5) % 16];\n";
    for (std::size_t s = 0; s < samples.size(); ++s)
      source += "  results[" + std::to_string(s) + " * n + t] = " + samples[s].expression + ";\n";
    return source + "}\n";
  }

  std::vector<Word> run(const std::vector<Sample>& samples, std::size_t threads) {
    const auto compiled = compile(source_of(samples));
    if (!compiled.ok()) throw std::runtime_error(reason(compiled));
    const ptx::Module module = ptx::parse(compiled.value().binary);
    const vgpu::Kernel kernel = decoded(module, "k");
    std::vector<Word> words = interesting, results(samples.size() * threads);
    constexpr std::uint64_t addresses[2] = {0x10000, 0x200000};
    vgpu::GlobalMemory memory;
    memory.add({addresses[0], 4 * words.size(), reinterpret_cast<std::byte*>(words.data()), "words", false});
    memory.add({addresses[1], 4 * results.size(), reinterpret_cast<std::byte*>(results.data()), "results", true});
    vgpu::Launch launch;
    launch.kernel = &kernel;
    launch.block = {static_cast<std::uint32_t>(threads), 1, 1};
    launch.parameters = std::as_bytes(std::span(addresses));
    vgpu::run_grid(launch, memory);
    return results;
  }
};

//! The parts of two words, each for itself.
template <class Part>
std::function<Word(Word, Word, Word)> by_parts(std::function<long(long, long)> operation) {
  return [operation](Word a, Word b, Word) {
    Word result = 0;
    for (unsigned at = 0; at < 32; at += 8 * sizeof(Part)) {
      const auto part =
          static_cast<std::make_unsigned_t<Part>>(operation(static_cast<Part>(a >> at), static_cast<Part>(b >> at)));
      result |= static_cast<Word>(part) << at;
    }
    return result;
  };
}

TEST_F(VgpuCudaValues, SimdInAWord) {
  using Byte = std::uint8_t;
  using SignedByte = std::int8_t;
  using Half = std::uint16_t;
  using SignedHalf = std::int16_t;
  check({
      {"__vadd2(a, b)", by_parts<Half>([](long x, long y) { return x + y; })},
      {"__vaddss4(a, b)", by_parts<SignedByte>([](long x, long y) { return std::clamp(x + y, -128l, 127l); })},
      {"__vsubus2(a, b)", by_parts<Half>([](long x, long y) { return x > y ? x - y : 0; })},
      {"__vabs4(a)", by_parts<SignedByte>([](long x, long) { return std::abs(x); })},
      {"__vabsss2(a)", by_parts<SignedHalf>([](long x, long) { return std::min(std::abs(x), 32767l); })},
      {"__vnegss4(a)", by_parts<SignedByte>([](long x, long) { return std::min(-x, 127l); })},
      {"__vabsdiffs2(a, b)", by_parts<SignedHalf>([](long x, long y) { return std::abs(x - y); })},
      {"__vavgs2(a, b)", by_parts<SignedHalf>([](long x, long y) { return (x + y + 1) >> 1; })},
      {"__vhaddu4(a, b)", by_parts<Byte>([](long x, long y) { return (x + y) / 2; })},
      {"__vmaxs2(a, b)", by_parts<SignedHalf>([](long x, long y) { return std::max(x, y); })},
      {"__vminu4(a, b)", by_parts<Byte>([](long x, long y) { return std::min(x, y); })},
      {"__vcmpgts2(a, b)", by_parts<SignedHalf>([](long x, long y) { return x > y ? -1 : 0; })},
      {"__vsetleu4(a, b)", by_parts<Byte>([](long x, long y) { return x <= y ? 1 : 0; })},
      {"__vsadu4(a, b)",
       [](Word a, Word b, Word) {
         Word sum = 0;
         for (unsigned at = 0; at < 32; at += 8)
           sum += static_cast<Word>(std::abs(static_cast<int>((a >> at) & 255u) - static_cast<int>((b >> at) & 255u)));
         return sum;
       }},
  });
}

int as_int(Word word) { return static_cast<int>(word); }

TEST_F(VgpuCudaValues, MinimaAndMaximaOfDynamicProgramming) {
  using SignedHalf = std::int16_t;
  check({
      {"__viaddmax_s32(a, b, c)",
       [](Word a, Word b, Word c) { return static_cast<Word>(std::max(as_int(a + b), as_int(c))); }},
      {"__viaddmin_u32(a, b, c)", [](Word a, Word b, Word c) { return std::min(a + b, c); }},
      {"__vimax3_s32_relu(a, b, c)",
       [](Word a, Word b, Word c) {
         return static_cast<Word>(std::max({as_int(a), as_int(b), as_int(c), 0}));
       }},
      {"__vimin3_u32(a, b, c)",
       [](Word a, Word b, Word c) {
         return std::min({a, b, c});
       }},
      {"__vimax_s16x2_relu(a, b)", by_parts<SignedHalf>([](long x, long y) {
         return std::max({x, y, 0l});
       })},
      {"__viaddmin_s16x2(a, b, 0u)",
       by_parts<SignedHalf>([](long x, long y) { return std::min<long>(static_cast<SignedHalf>(x + y), 0); })},
      {"([&] { bool taken; const int m = __vibmax_s32(a, b, &taken); return taken ? ~m : m; }())",
       [](Word a, Word b, Word) { return as_int(a) >= as_int(b) ? ~a : b; }},
      {"([&] { bool high, low; __vibmin_u16x2(a, b, &high, &low); return 2u * high + low; }())",
       [](Word a, Word b, Word) { return 2u * (a >> 16 <= b >> 16) + ((a & 0xffffu) <= (b & 0xffffu)); }},
  });
}

//! The manual's words: from bit `base` on, the offset-th set bit upwards, or downwards; all ones if there is none.
Word find_nth_set(Word mask, Word base, int offset) {
  const int step = offset < 0 ? -1 : 1;
  int count = offset == 0 ? 1 : std::abs(offset);
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
    if ((mask >> at) & 1u) --count;
    if (count == 0) return static_cast<Word>(at);
    if (offset == 0) break;
  }
  return 0xffffffffu;
}

TEST_F(VgpuCudaValues, BitsAndProductsOfIntegers) {
  check({
      {"__fns(a, b & 31, (int)(c % 7) - 3)",
       [](Word a, Word b, Word c) { return find_nth_set(a, b & 31u, static_cast<int>(c % 7u) - 3); }},
      {"__urhadd(a, b)", [](Word a, Word b, Word) { return static_cast<Word>((std::uint64_t{a} + b + 1) >> 1); }},
      {"__nv_bswap32(a)", [](Word a, Word, Word) { return __builtin_bswap32(a); }},
      {"__dp2a_hi(a, b, c)",
       [](Word a, Word b, Word c) { return c + (a & 0xffffu) * ((b >> 16) & 255u) + (a >> 16) * (b >> 24); }},
      {"__dp4a(*(const char4*)&a, *(const char4*)&b, (int)c)",
       [](Word a, Word b, Word c) {
         for (unsigned at = 0; at < 32; at += 8)
           c += static_cast<Word>(static_cast<std::int8_t>(a >> at) * static_cast<std::int8_t>(b >> at));
         return c;
       }},
  });
}

float as_float(Word word) { return std::bit_cast<float>(word); }
//! NaNs have one form on the device.
Word word_of(float x) { return std::isnan(x) ? 0x7fffffffu : std::bit_cast<Word>(x); }

TEST_F(VgpuCudaValues, PartsOfNumbers) {
  check({
      {"__float_as_uint(isnan(norm3df(__uint_as_float(a), 0.0f, 0.0f)) ? 0.0f : norm3df(__uint_as_float(a), 0.0f, "
       "0.0f))",
       [](Word a, Word, Word) { return std::isnan(as_float(a)) ? 0u : word_of(std::fabs(as_float(a))); }},
      {"__float_as_uint(scalblnf(1.5f, (long)(b & 255) - 100))",
       [](Word, Word b, Word) { return word_of(std::scalbln(1.5f, static_cast<long>(b & 255u) - 100)); }},
      {"([&] { int bits; remquof(__uint_as_float(a), __uint_as_float(b), &bits); return (unsigned)bits & 7u; }())",
       [](Word a, Word b, Word) {
         int bits = 0;
         const float rest = std::remquo(as_float(a), as_float(b), &bits);
         return std::isnan(rest) ? 0u : static_cast<Word>(bits) & 7u;
       }},
      {"__float_as_uint(nanf(\"\")) & 0x7f800000u", [](Word, Word, Word) { return 0x7f800000u; }},
      {"(unsigned)(size_t)__cvta_generic_to_shared(__cvta_shared_to_generic(a & 255))",
       [](Word a, Word, Word) { return a & 255u; }},
  });
}

//! The nearest bfloat16 in a direction, by looking at all of them beside the number.
Word bfloat16_towards(double x, bool upwards) {
  const Word cut = std::bit_cast<Word>(static_cast<float>(x)) >> 16;
  double best = upwards ? HUGE_VAL : -HUGE_VAL;
  Word found = 0;
  for (Word bits = cut - 2; bits <= cut + 2; ++bits) {
    const double candidate = as_float(bits << 16);
    const bool beyond = upwards ? candidate >= x : candidate <= x;
    if (beyond && (upwards ? candidate <= best : candidate >= best)) best = candidate, found = bits & 0xffffu;
  }
  return found;
}

TEST_F(VgpuCudaValues, HalvesAndBfloats) {
  check({
      {"__hne(__ushort_as_half(0x7e00), __ushort_as_half(a)) ? 1u : 0u", [](Word, Word, Word) { return 0u; }},
      {"__hneu(__ushort_as_half(0x7e00), __ushort_as_half(a)) ? 1u : 0u", [](Word, Word, Word) { return 1u; }},
      {"__hgt2_mask(__floats2half2_rn(1.0f, -2.0f), __floats2half2_rn(b & 1, -3.0f))",
       [](Word, Word b, Word) { return b & 1u ? 0xffff0000u : 0xffffffffu; }},
      {"__bfloat16_as_ushort(__hadd_sat(__float2bfloat16(0.75f), __float2bfloat16((float)(a & 1))))",
       [](Word a, Word, Word) { return a & 1u ? 0x3f80u : 0x3f40u; }},
      {"__bfloat16_as_ushort(__int2bfloat16_ru((int)a | 1))",
       [](Word a, Word, Word) { return bfloat16_towards(as_int(a | 1u), true); }},
      {"__bfloat16_as_ushort(__uint2bfloat16_rd(a | 1))",
       [](Word a, Word, Word) { return bfloat16_towards(a | 1u, false); }},
      {"(unsigned)__half2short_rz(__ushort_as_half(0xfbff))", [](Word, Word, Word) { return Word(-32768); }},
      {"(unsigned)__half2char_rz(__float2half(-200.0f)) & 255u", [](Word, Word, Word) { return 0x80u; }},
      {"__half_as_ushort(__float2half_rd(1.0f + __uint_as_float(0x34000000)))",
       [](Word, Word, Word) { return 0x3c00u; }},
      {"__half_as_ushort(__float2half_ru(1.0f + __uint_as_float(0x34000000)))",
       [](Word, Word, Word) { return 0x3c01u; }},
      // (1 + 2i)(3 + 4i) + (5 + 6i) = 0 + 16i
      {"__half_as_ushort(__high2half(__hcmadd(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4), __floats2half2_rn(5, "
       "6))))",
       [](Word, Word, Word) { return 0x4c00u; }},
  });
}

// --- declarations
// --------------------------------------------------------------------------------------------------------

constexpr const char* alignments = R"(
struct alignas(32) S { float x[8]; };
struct alignas(float4) F { float x; };
template <class T, int N> struct alignas(N > 4 ? 32 : 8) V { T v[N]; };
template <class... Ts> struct Bytes { alignas(Ts...) char bytes[16]; };
static_assert(alignof(S) == 32 && alignof(F) == 16, "");
static_assert(alignof(V<float, 8>) == 32 && alignof(V<float, 2>) == 8 && alignof(Bytes<char, double>) == 8, "");
__global__ void k(unsigned* misaligned) {
  __shared__ char odd[3];
  __shared__ alignas(128) char first[5];
  alignas(64) __shared__ char second[5];
  __shared__ alignas(float4) char third[5];
  alignas(16) char local[5] = {1, 2, 3, 4, 5};
  odd[threadIdx.x % 3] = first[threadIdx.x % 5] = second[threadIdx.x % 5] = third[threadIdx.x % 5] = 1;
  misaligned[0] = (size_t)first % 128 + (size_t)second % 64 + (size_t)third % 16 + odd[0] + local[threadIdx.x % 5];
})";

TEST_F(VgpuCudaFunctions, AlignasMayStandAfterShared) {
  const auto compiled = compile(alignments);
  ASSERT_TRUE(compiled.ok()) << reason(compiled);
  const std::string& ptx = compiled.value().binary;
  for (const char* declaration : {".align 128 .b8", ".align 64 .b8", ".align 16 .b8"})
    EXPECT_NE(ptx.find(declaration), std::string::npos) << declaration << "\n" << ptx;
}

TEST(CudaFunctions, NvrtcTakesTheSameAlignments) {
  if (!find_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine: " << nvrtc_search_description();
  const auto module = NvrtcCompiler(NvrtcCompilerOptions{}).compile({alignments, {"k"}, "sm_90"});
  EXPECT_TRUE(module.ok()) << reason(module);
}

}  // namespace
}  // namespace cudal1
