// Exact values of the headers' functions, most of them special: the kernel compares, the judge sees what it found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

//! `call` must be `wanted`. In both, f(…), d(…) and i(…) are numbers that the compiler does not see through.
struct Value {
  const char *call, *wanted;
};

constexpr Value maxima[] = {
    {"maximum(f(NAN), 1)", "NAN"},   {"maximum(f(1), NAN)", "NAN"},  {"maximum(f(-INF), INF)", "INF"},
    {"maximum(f(2), 3)", "3"},       {"maximum(d(NAN), 1)", "NAN"},  {"maximum(d(1), NAN)", "NAN"},
    {"minimum(f(NAN), 1)", "NAN"},   {"minimum(f(1), NAN)", "NAN"},  {"minimum(f(-INF), INF)", "-INF"},
    {"minimum(i(-3), 2)", "-3"},     {"clamp(f(NAN), 0, 1)", "NAN"}, {"clamp(f(5), 3, 1)", "1"},
    {"clamp(f(-INF), -2, 2)", "-2"}, {"sign(f(NAN))", "0"},          {"sign(f(-0.0f))", "0"},
    {"sign(f(-INF))", "-1"},         {"sign(i(-7))", "-1"},
};

constexpr Value activations[] = {
    {"relu(f(NAN))", "NAN"},
    {"relu(f(-INF))", "0"},
    {"relu(i(-4))", "0"},
    {"relu6(f(7))", "6"},
    {"relu6(f(NAN))", "NAN"},
    {"hardtanh(f(NAN))", "NAN"},
    {"hardtanh(f(-3), -2, 2)", "-2"},
    {"leaky_relu(f(NAN))", "NAN"},
    {"leaky_relu(f(-2), 0.25)", "-0.5"},
    {"leaky_relu(f(-INF))", "-INF"},
    {"threshold(f(NAN), 0, 3)", "NAN"},
    {"threshold(f(1), 1, 3)", "3"},
    {"hardsigmoid(f(-3))", "0"},
    {"hardsigmoid(f(3))", "1"},
    {"hardsigmoid(f(NAN))", "NAN"},
    {"hardswish(f(-4))", "0"},
    {"hardswish(f(INF))", "INF"},
    {"hardshrink(f(0.5f))", "0"},
    {"hardshrink(f(NAN))", "NAN"},
    {"softshrink(f(0.5f))", "0"},
    {"softshrink(f(-1))", "-0.5"},
    {"softshrink(f(NAN))", "NAN"},
    {"softsign(f(-3))", "-0.75"},
    {"sigmoid(f(-200))", "0"},
    {"sigmoid(f(200))", "1"},
    {"sigmoid(f(-INF))", "0"},
    {"sigmoid(f(NAN))", "NAN"},
    {"silu(f(-1e30f))", "0"},
    {"silu(f(1e30f))", "1e30f"},
    {"softplus(f(-200))", "0"},
    {"softplus(f(20))", "20"},
    {"softplus(f(1e30f))", "1e30f"},
    {"softplus(f(5), 1, 4)", "5"},
    {"softplus(f(INF))", "INF"},
    {"softplus(f(NAN))", "NAN"},
    {"softplus(d(0))", "0.69314718055994530942"},
    {"mish(f(1e30f))", "1e30f"},
    {"mish(f(-1e30f))", "0"},
    {"mish(f(NAN))", "NAN"},
    {"mish(d(30))", "30"},
    {"log_sigmoid(f(-INF))", "-INF"},
    {"log_sigmoid(f(-1e30f))", "-1e30f"},
    {"log_sigmoid(f(200))", "0"},
    {"gelu(f(-40))", "0"},
    {"gelu(f(-1e30f))", "0"},
    {"gelu(f(1e30f))", "1e30f"},
    {"gelu(f(INF))", "INF"},
    {"gelu(f(NAN))", "NAN"},
    {"gelu_tanh(f(-40))", "0"},
    {"gelu_tanh(f(-1e30f))", "0"},
    {"gelu_tanh(f(1e30f))", "1e30f"},
    {"gelu_tanh(f(INF))", "INF"},
    {"elu(f(-200))", "-1"},
    {"elu(f(-INF), 2)", "-2"},
    {"elu(f(NAN))", "NAN"},
    {"celu(f(-INF), 2)", "-2"},
    {"selu(f(-INF))", "-1.7580993408473766f"},
    {"tanhshrink(f(INF))", "INF"},
};

constexpr Value divisions[] = {
    {"remainder(f(5), 3)", "2"},
    {"remainder(f(-5), 3)", "1"},
    {"remainder(f(5), -3)", "-1"},
    {"remainder(f(-5), -3)", "-2"},
    {"remainder(f(-5), INF)", "INF"},
    {"remainder(f(5), INF)", "5"},
    {"remainder(f(INF), 3)", "NAN"},
    {"remainder(f(5), 0)", "NAN"},
    {"remainder(i(-7), 3)", "2"},
    {"remainder(i(7), -3)", "-2"},
    {"remainder(i(-6), 3)", "0"},
    {"floor_divide(f(7), 2)", "3"},
    {"floor_divide(f(-7), 2)", "-4"},
    {"floor_divide(f(7), -2)", "-4"},
    {"floor_divide(f(-7), -2)", "3"},
    {"floor_divide(f(1), 0.1f)", "9"},
    {"floor_divide(f(1), 0)", "INF"},
    {"floor_divide(f(-1), 0)", "-INF"},
    {"floor_divide(f(0), 0)", "NAN"},
    {"floor_divide(f(-1), INF)", "-1"},
    {"floor_divide(f(1), INF)", "0"},
    {"floor_divide(f(INF), 2)", "NAN"},
    {"1 / floor_divide(f(-0.0f), 5)", "-INF"},
    {"floor_divide(i(-7), 3)", "-3"},
    {"floor_divide(i(7), -3)", "-3"},
    {"floor_divide(i(-6), 3)", "-2"},
};

constexpr Value powers_and_losses[] = {
    {"power(i(3), 4)", "81"},     {"power(i(2), -1)", "0"},        {"power(i(-1), -3)", "-1"},
    {"power(f(2), -3)", "0.125"}, {"pow(f(0), 0)", "1"},           {"pow(f(-8), 3)", "-512"},
    {"pow(f(-1), 0.5)", "NAN"},   {"pow(f(-INF), 0.5)", "NAN"},    {"pow(f(-0.0f), -1)", "-INF"},
    {"pow(f(4), -0.5)", "0.5"},   {"pow(f(NAN), 0)", "1"},         {"xlogy(f(0), 0)", "0"},
    {"xlogy(f(0), INF)", "0"},    {"xlogy(f(0), NAN)", "NAN"},     {"xlogy(f(2), 0)", "-INF"},
    {"smooth_l1(f(-2))", "1.5"},  {"smooth_l1(f(0.5f))", "0.125"}, {"smooth_l1(f(0), 0)", "0"},
    {"smooth_l1(f(NAN))", "NAN"}, {"huber(f(3), 2)", "4"},         {"huber(f(-1))", "0.5"},
};

constexpr Value ranges[] = {
    {"lowest<float>()", "-INF"},          {"highest<double>()", "INF"},
    {"lowest<int>()", "-2147483647 - 1"}, {"highest<long long>()", "9223372036854775807"},
    {"highest<signed char>()", "127"},    {"lowest<short>()", "-32768"},
    {"lowest<unsigned char>()", "0"},     {"highest<unsigned>()", "4294967295u"},
    {"highest<bool>()", "true"},          {"lowest<bool>()", "false"},
};

constexpr Value operations[] = {
    {"Max<float>::combine(Max<float>::identity(), f(NAN))", "NAN"},
    {"Min<int>::combine(Min<int>::identity(), i(5))", "5"},
    {"(ArgMax<float>::combine({f(NAN), 3}, {f(5), 1}).index)", "3"},
    {"(ArgMax<float>::combine({f(NAN), 3}, {f(NAN), 1}).index)", "1"},
    {"(ArgMax<float>::combine({f(5), 3}, {f(5), 1}).index)", "1"},
    {"(ArgMax<float>::combine(ArgMax<float>::identity(), {f(-INF), 7}).index)", "7"},
    {"(ArgMin<float>::combine({f(5), 1}, {f(NAN), 3}).index)", "3"},
    {"(ArgMin<int>::combine({i(5), 4}, {i(5), 3}).index)", "3"},
    {"LogSumExp<float>::log_sum_exp(LogSumExp<float>::of(f(-INF)))", "-INF"},
    {"LogSumExp<float>::log_sum_exp(LogSumExp<float>::add(LogSumExp<float>::of(f(-INF)), -INF))", "-INF"},
    {"LogSumExp<float>::log_sum_exp(LogSumExp<float>::add(LogSumExp<float>::of(f(INF)), 3))", "INF"},
    {"LogSumExp<float>::log_sum_exp(LogSumExp<float>::add(LogSumExp<float>::of(f(NAN)), 3))", "NAN"},
    {"LogSumExp<float>::log_sum_exp(LogSumExp<float>::add(LogSumExp<float>::of(f(3)), NAN))", "NAN"},
    {"LogSumExp<float>::log_sum_exp(LogSumExp<float>::add(LogSumExp<float>::identity(), f(-1e30f)))", "-1e30f"},
    {"Welford<float>::combine(Welford<float>::identity(), Welford<float>::of(f(3))).mean", "3"},
    {"Welford<float>::combine(Welford<float>::identity(), Welford<float>::identity()).count", "0"},
    {"Welford<double>::combine(Welford<double>::of(d(1)), Welford<double>::of(d(3))).squares", "2"},
    {"Any::combine(Any::identity(), i(1))", "true"},
    {"All::combine(All::identity(), i(0))", "false"},
};

//! Adds 1 to every element of x whose value is as it must be.
std::string program_of(const std::vector<Value>& values) {
  std::string cases;
  for (std::size_t i = 0; i < values.size(); ++i)
    cases += fmt::format("    case {}: return same({}, {});\n", i, values[i].call, values[i].wanted);
  return fmt::format(R"(#include <cudal1/operations.cuh>
//! kernel check replaces add_1 : grid=1 block=128 args=(x, add_1, i32:numel(x), i32:0)
#undef NAN
#define NAN __int_as_float(0x7fc00000)
#define INF __int_as_float(0x7f800000)
using namespace cudal1;
template <class A>
__device__ bool same(A found, A wanted) {{ return found == wanted || (found != found && wanted != wanted); }}
template <class A, class B>
__device__ bool same(A found, B wanted) {{ return same<A>(found, static_cast<A>(wanted)); }}
struct Numbers {{
  int zero;
  __device__ float f(float x) const {{ return __int_as_float(__float_as_int(x) ^ zero); }}
  __device__ double d(double x) const {{ return __longlong_as_double(__double_as_longlong(x) ^ zero); }}
  __device__ int i(int x) const {{ return x ^ zero; }}
  __device__ bool check(int number) const {{
    using cudal1::pow, cudal1::remainder;  // not those of CUDA
    switch (number) {{
{}    }}
    return false;
  }}
}};
__global__ void check(const float* x, float* y, int count, int zero) {{
  for (int i = threadIdx.x; i < count; i += blockDim.x) y[i] = x[i] + (Numbers{{zero}}.check(i) ? 1.0f : 0.0f);
}}
)",
                     cases);
}

Verdict found(const std::vector<Value>& values) {
  TaskText task;
  task.input("x", {static_cast<std::int64_t>(values.size())});
  task.node("add_1", "aten::add.Scalar", {"x", 1}).output("add_1");
  return judged(task, program_of(values));
}

//! All at once, and one by one where that fails, to name those that are wrong.
void expect_all(const std::vector<Value>& values) {
  if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  const Verdict all = found(values);
  if (all.status == "ok") return;
  ADD_FAILURE() << all.status << ": " << all.message;
  for (const Value& value : values) {
    const Verdict one = found({value, value});
    EXPECT_EQ(one.status, "ok") << value.call << " is not " << value.wanted << "\n" << one.message;
  }
}

template <std::size_t count>
std::vector<Value> list(const Value (&values)[count]) {
  return {values, values + count};
}

TEST(HeaderValues, OfMaximaAndLimits) { expect_all(list(maxima)); }
TEST(HeaderValues, OfActivations) { expect_all(list(activations)); }
TEST(HeaderValues, OfDivisionsOfNegativeNumbers) { expect_all(list(divisions)); }
TEST(HeaderValues, OfPowersAndLosses) { expect_all(list(powers_and_losses)); }
TEST(HeaderValues, OfTheEndsOfRanges) { expect_all(list(ranges)); }
TEST(HeaderValues, OfOperations) { expect_all(list(operations)); }

TEST(HeaderValues, AValueThatIsWrongIsFound) {
  if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(found({{"relu(f(2))", "2"}, {"relu(f(2))", "3"}}).status, "wrong_result");
}

}  // namespace
}  // namespace cudal1::testing
