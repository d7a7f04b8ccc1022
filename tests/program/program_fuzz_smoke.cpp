// Feeds mutated programs to the fuzz function; the same ones in every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace cudal1 {
namespace {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> texts = {
      "//! graph : branches=2\n",
      "//! kernel soft replaces softmax_1 : grid=(gelu_1.size(0)) block=256 "
      "args=(gelu_1, softmax_1, i32:gelu_1.size(1))\n"
      "extern \"C\" __global__ void soft(const float* __restrict__ x, float* y, int n) { /* a */ }\n//! graph\n",
      "//! buffer p f32 [ceil_div(x.size(0), 32), 4] zero\n//! group g replaces gelu_1 soft*\n"
      "//! launch a<256, 4> : grid=1 block=(32, 2) shared=1024 args=(linear_1, p)\n"
      "//! launch b : grid=(1, 2, 4) cluster=(1, 2) block=1 \\\n//!  args=(p, softmax_1, f32:1.0/numel(x))\n"
      "template <int A, int B> __global__ void a(const float* x, float* p) {}\n"
      "__global__ void b(float* p, float* y, float s) { const char* t = R\"x()\" //! )x\"; }\n",
      "//! buffer w f16 [\"fc.weight\".size(0)]\n//! prepare pack : grid=1 block=1 args=(\"fc.weight\", w)\n"
      "__global__ void pack(const float* a, half* b) {}\n#define K(n) __global__ void n(void* y) {}\nK(use)\n"
      "//! kernel use replaces * : grid=1 block=1 args=(softmax_1)\n",
      "//! kernel k replaces relu_1 select_1 : grid=min(3, 4) block=max(1, 0x10) args=(x, select_1)\n"
      "__global__ void k(const float4* x, float* y) {}\n",
      "//! kernel m replaces max_1 : grid=1 block=1 args=(x, max_1, max_1[1])\n"
      "__global__ void __launch_bounds__(8) m(const float* x, float* y, long long* i) {}\n",
      "//! kernel n replaces batch_norm_1 : grid=1 block=1 args=(x, running_mean, batch_norm_1)\n"
      "__global__ void n(const float* x, float* m, float* y) {}\n"};
  return texts;
}

const std::vector<std::string>& fragments() {
  static const std::vector<std::string> pieces = {"//!",       "\n",          "\\\n",
                                                  " : ",       "grid=",       "branches=",
                                                  "args=(",    ")",           "(",
                                                  "replaces ", "*",           "[",
                                                  "]",         "\"",          "'",
                                                  "/*",        "*/",          "R\"(",
                                                  "i32:",      "f64:",        ".size(",
                                                  "-1",        "0",           "9223372036854775807",
                                                  "1e308",     "/",           "%",
                                                  "<",         ">",           ",",
                                                  "\xC3\xA9",  "\xFF",        std::string(1, '\0'),
                                                  "\r",        "x",           "softmax_1",
                                                  "p",         "zero",        "buffer ",
                                                  "launch ",   "group ",      "#define ",
                                                  "##",        "__global__ ", "::",
                                                  "=",         "numel("};
  return pieces;
}

void mutate(std::string& text, Random& random) {
  const std::size_t at = random.below(text.size() + 1);
  const std::size_t length = std::min<std::size_t>(random.below(12), text.size() - at);
  switch (random.below(6)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, fragments()[random.below(fragments().size())]);
      break;
    case 2:
      text.replace(at, length, fragments()[random.below(fragments().size())]);
      break;
    case 3:
      text.insert(at, text.substr(random.below(text.size() + 1), random.below(40)));
      break;
    case 4:
      text.insert(at, 1, static_cast<char>(random.below(128)));
      break;
    default: {
      const std::string& other = seeds()[random.below(seeds().size())];
      text.insert(at, other.substr(random.below(other.size()), random.below(120)));
    }
  }
}

TEST(ProgramFuzz, MutatedProgramsKeepTheInvariants) {
  constexpr int cases = 120000;
  Random random(20240917);
  for (int i = 0; i < cases; ++i) {
    std::string text = seeds()[random.below(seeds().size())];
    // Trailing spaces choose among the fuzz function's graphs without changing the program.
    text.append(random.below(4), ' ');
    for (std::uint64_t mutations = random.below(5); mutations > 0; --mutations) mutate(text, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

}  // namespace
}  // namespace cudal1
