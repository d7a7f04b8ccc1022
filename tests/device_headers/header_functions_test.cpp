// The functions of <cudal1/math.cuh> beside the operators they are named after, where numbers are ordinary and where
// they are not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

using nlohmann::json;

//! An operator of x (and y) and the same as an expression of a (and b).
struct Function {
  const char* name;
  const char* op;
  json more;  //!< arguments behind x
  const char* expression;
  json named = {};  //!< arguments by name
};

std::vector<Function> functions() {
  const json none = json::array();
  return {
      {"relu", "aten::relu", none, "cudal1::relu(a)"},
      {"relu6", "aten::relu6", none, "cudal1::relu6(a)"},
      {"hardtanh", "aten::hardtanh", {-0.5, 2.0}, "cudal1::hardtanh(a, -0.5, 2.0)"},
      {"leaky_relu", "aten::leaky_relu", {0.1}, "cudal1::leaky_relu(a, 0.1)"},
      {"hardsigmoid", "aten::hardsigmoid", none, "cudal1::hardsigmoid(a)"},
      {"hardswish", "aten::hardswish", none, "cudal1::hardswish(a)"},
      {"sigmoid", "aten::sigmoid", none, "cudal1::sigmoid(a)"},
      {"silu", "aten::silu", none, "cudal1::silu(a)"},
      {"softplus", "aten::softplus", {2.0, 10.0}, "cudal1::softplus(a, 2.0, 10.0)"},
      {"mish", "aten::mish", none, "cudal1::mish(a)"},
      {"log_sigmoid", "aten::log_sigmoid", none, "cudal1::log_sigmoid(a)"},
      {"gelu", "aten::gelu", none, "cudal1::gelu(a)"},
      {"gelu_tanh", "aten::gelu", none, "cudal1::gelu_tanh(a)", {{"approximate", {{"string", "tanh"}}}}},
      {"hardshrink", "aten::hardshrink", {0.5}, "cudal1::hardshrink(a)"},
      {"softshrink", "aten::softshrink", {0.5}, "cudal1::softshrink(a)"},
      {"threshold", "aten::threshold", {0.1, 20.0}, "cudal1::threshold(a, 0.1, 20.0)"},
      {"sign", "aten::sign", none, "cudal1::sign(a)"},
      {"remainder", "aten::remainder.Scalar", {-1.5}, "cudal1::remainder(a, -1.5)"},
      {"floor_divide", "aten::floor_divide.Scalar", {-1.5}, "cudal1::floor_divide(a, -1.5)"},
      {"xlogy", "aten::xlogy.Tensor", {"y"}, "cudal1::xlogy(a, b)"},
      {"smooth_l1", "aten::smooth_l1_loss", {"y", 0, 0.5}, "cudal1::smooth_l1(a - b, 0.5)"},
      {"huber", "aten::huber_loss", {"y", 0, 0.5}, "cudal1::huber(a - b, 0.5)"},
      {"tanh", "aten::tanh", none, "cudal1::tanh(a)"},
      {"elu", "aten::elu", {1.5}, "cudal1::elu(a, 1.5)"},
      {"selu", "aten::selu", none, "cudal1::selu(a)"},
      {"celu", "aten::celu", {2.0}, "cudal1::celu(a, 2.0)"},
      {"maximum", "aten::maximum", {"y"}, "cudal1::maximum(a, b)"},
      {"minimum", "aten::minimum", {"y"}, "cudal1::minimum(a, b)"},
      {"clamp", "aten::clamp", {-0.5, 0.5}, "cudal1::clamp(a, -0.5, 0.5)"},
      {"square", "aten::pow.Tensor_Scalar", {2}, "cudal1::pow(a, 2)"},
      {"cube", "aten::pow.Tensor_Scalar", {3}, "cudal1::pow(a, 3)"},
  };
}

//! `values`: the node or input that the functions are computed of, with `count` elements like y.
TaskText with_functions(TaskText task, const std::string& values) {
  for (const Function& function : functions()) {
    json arguments = json::array({values});
    for (const json& argument : function.more) arguments.push_back(argument);
    const json named = function.named.empty() ? json() : json{{"kwargs", function.named}};
    task.node(fmt::format("{}_1", function.name), function.op, arguments, named);
    task.output(fmt::format("{}_1", function.name));
  }
  return task;
}

std::string program(const std::string& values) {
  std::string text = "#include <cudal1/math.cuh>\n";
  for (const Function& function : functions())
    text += fmt::format(
        "//! kernel of_{0} replaces {0}_1 : grid=1 block=256 args=({1}, y, {0}_1, i32:numel(y))\n"
        "__global__ void of_{0}(const float* x, const float* y, float* z, int count) {{\n"
        "  for (int i = threadIdx.x; i < count; i += 256) {{\n"
        "    const float a = x[i], b = y[i];\n    z[i] = {2};\n    (void)b;\n  }}\n}}\n",
        function.name, values, function.expression);
  return text;
}

TEST(HeaderFunctions, AreThoseOfPyTorchForOrdinaryNumbers) {
  if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  TaskText task;
  task.input("x", {509}, {{"draw", {{"kind", "normal"}, {"std", 3.0}}}}).input("y", {509});
  EXPECT_RIGHT(with_functions(task, "x"), program("x"));
}

//! Infinities, NaN, zeros of both signs, large and tiny numbers, all made of x.
TEST(HeaderFunctions, AreThoseOfPyTorchForSpecialNumbers) {
  if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  TaskText task;
  // Of tiny denormal numbers fp64 has some that are 0 in fp32, and 0 is special itself.
  task.input("x", {16}, {{"exclude", {"denormal"}}}).input("y", {96});
  task.node("infinite", "aten::div.Scalar", {"x", 0.0}).node("not_a_number", "aten::mul.Scalar", {"infinite", 0.0});
  task.node("zero", "aten::mul.Scalar", {"x", 0.0}).node("large", "aten::mul.Scalar", {"x", 1000.0});
  task.node("tiny", "aten::mul.Scalar", {"x", 1e-30});
  task.node("values", "aten::cat", {{"x", "infinite", "not_a_number", "zero", "large", "tiny"}});
  EXPECT_RIGHT(with_functions(task, "values"), program("values"));
}

}  // namespace
}  // namespace cudal1::testing
