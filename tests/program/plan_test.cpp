// Right texts become the right buffers and steps.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "program/plan.hpp"
#include "sample_graphs.hpp"

namespace cudal1 {
namespace {

Plan planned(const OpGraph& graph, const std::string& text) {
  const Result<Plan> result = make_plan(graph, text);
  if (!result.ok()) {
    const Failure& failure = result.failure();
    ADD_FAILURE() << failure.at.line << ":" << failure.at.column << " " << failure.message;
    return {};
  }
  return result.value();
}

//! "launch soft", "op gelu_1", "zero partial".
std::vector<std::string> shown(const Plan& plan, const std::vector<Step>& steps) {
  std::vector<std::string> lines;
  for (const Step& step : steps) {
    if (const auto* launch = std::get_if<LaunchStep>(&step)) lines.push_back("launch " + launch->kernel);
    if (const auto* op = std::get_if<OpStep>(&step)) lines.push_back("op " + op->node.name);
    if (const auto* zero = std::get_if<ZeroStep>(&step)) lines.push_back("zero " + plan.buffers[zero->buffer].name);
  }
  return lines;
}

using Lines = std::vector<std::string>;
Lines call_of(const Plan& plan) { return shown(plan, plan.call); }

const Buffer& buffer_named(const Plan& plan, const std::string& name) {
  static const Buffer none;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.name == name) return buffer;
  }
  ADD_FAILURE() << "no buffer " << name;
  return none;
}

const LaunchStep& launch_at(const Plan& plan, std::size_t index) { return std::get<LaunchStep>(plan.call.at(index)); }
const TensorRef& tensor_argument(const LaunchStep& launch, std::size_t index) {
  return std::get<TensorRef>(launch.args.at(index));
}
std::string argument_name(const Plan& plan, const LaunchStep& launch, std::size_t index) {
  return plan.buffers.at(tensor_argument(launch, index).buffer).name;
}
std::uint64_t scalar_bits(const LaunchStep& launch, std::size_t index) {
  return std::get<ScalarArgument>(launch.args.at(index)).bits;
}

const std::string soft_kernel = "extern \"C\" __global__ void soft(const float* x, float* y, int n) {}\n";

TEST(EmptyProgram, RunsEveryNodeInTheLibrary) {
  const Plan plan = planned(sample::chain(), "");
  EXPECT_EQ(call_of(plan), (Lines{"op linear_1", "op gelu_1", "op softmax_1"}));
  EXPECT_TRUE(plan.prepare.empty());
  EXPECT_TRUE(plan.code.empty());
  EXPECT_FALSE(plan.has_launches());
  EXPECT_TRUE(plan.has_op_steps());
  EXPECT_FALSE(plan.cuda_graph);
}

TEST(EmptyProgram, HasLeavesFirstAndLibraryBuffersBehind) {
  const Plan plan = planned(sample::chain(), "// nothing here\n");
  Lines names;
  for (const Buffer& buffer : plan.buffers) names.push_back(buffer.name);
  EXPECT_EQ(names, (Lines{"x", "fc.weight", "bias", "linear_1", "gelu_1", "softmax_1"}));
  EXPECT_EQ(buffer_named(plan, "x").role, BufferRole::input);
  EXPECT_EQ(buffer_named(plan, "bias").role, BufferRole::weight);
  EXPECT_FALSE(buffer_named(plan, "x").allocated_by_op);
  EXPECT_EQ(buffer_named(plan, "gelu_1").role, BufferRole::intermediate);
  EXPECT_TRUE(buffer_named(plan, "gelu_1").allocated_by_op);
  EXPECT_EQ(buffer_named(plan, "softmax_1").role, BufferRole::output);
  EXPECT_TRUE(buffer_named(plan, "softmax_1").allocated_by_op);
}

Lines buffer_names(const Plan& plan, const Step& step) {
  Lines names;
  for (const int buffer : buffers_of(plan, step)) names.push_back(plan.buffers[static_cast<std::size_t>(buffer)].name);
  return names;
}

TEST(BuffersOfAStep, AreThoseItReadsAndWrites) {
  const Plan plan = planned(sample::chain(),
                            soft_kernel +
                                "//! buffer partial f32 [64] zero\n"
                                "//! kernel soft replaces softmax_1 : grid=64 block=256 args=(gelu_1, softmax_1, "
                                "i32:256)\n//! kernel other replaces gelu_1 : grid=1 block=1 args=(linear_1, gelu_1, "
                                "partial)\n__global__ void other(const float*, float*, float*) {}\n");
  ASSERT_EQ(call_of(plan), (Lines{"zero partial", "op linear_1", "launch other", "launch soft"}));
  EXPECT_EQ(buffer_names(plan, plan.call[0]), (Lines{"partial"}));
  EXPECT_EQ(buffer_names(plan, plan.call[1]), (Lines{"x", "fc.weight", "bias", "linear_1"}));
  EXPECT_EQ(buffer_names(plan, plan.call[2]), (Lines{"linear_1", "gelu_1", "partial"}));
  EXPECT_EQ(buffer_names(plan, plan.call[3]), (Lines{"gelu_1", "softmax_1"}));
}

TEST(BuffersOfAStep, AreThoseBehindViewsEachOnce) {
  const Plan views = planned(sample::views(), "");
  ASSERT_EQ(call_of(views), (Lines{"op relu_1", "op exp_1", "op neg_1"}));
  EXPECT_EQ(buffer_names(views, views.call[1]), (Lines{"relu_1", "exp_1"}));
  const Plan state = planned(sample::with_state(), "");
  ASSERT_EQ(call_of(state), (Lines{"op batch_norm_1", "op mul_1"}));
  EXPECT_EQ(buffer_names(state, state.call[0]), (Lines{"x", "running_mean", "batch_norm_1"}));
  EXPECT_EQ(buffer_names(state, state.call[1]), (Lines{"running_mean", "mul_1"}));
}

TEST(Kernel, ReplacesItsNode) {
  const Plan plan =
      planned(sample::chain(), soft_kernel +
                                   "//! kernel soft replaces softmax_1 : grid=(gelu_1.size(0)) block=256 shared=4*256 "
                                   "args=(gelu_1, softmax_1, i32:gelu_1.size(1))\n//! graph\n");
  ASSERT_EQ(call_of(plan), (Lines{"op linear_1", "op gelu_1", "launch soft"}));
  const LaunchStep& launch = launch_at(plan, 2);
  EXPECT_EQ(launch.grid, (Dim3{64, 1, 1}));
  EXPECT_EQ(launch.block, (Dim3{256, 1, 1}));
  EXPECT_EQ(launch.shared_bytes, 1024);
  EXPECT_FALSE(launch.cluster.has_value());
  EXPECT_EQ(launch.at, (SourcePosition{2, 12}));
  EXPECT_EQ(argument_name(plan, launch, 0), "gelu_1");
  EXPECT_EQ(argument_name(plan, launch, 1), "softmax_1");
  EXPECT_EQ(scalar_bits(launch, 2), 256u);
  EXPECT_TRUE(plan.cuda_graph);
  EXPECT_EQ(plan.kernels, Lines{"soft"});
  EXPECT_NE(plan.code.find("//! kernel soft"), std::string::npos) << "line numbers must stay those of the text";
  EXPECT_FALSE(buffer_named(plan, "softmax_1").allocated_by_op);
  EXPECT_EQ(buffer_named(plan, "softmax_1").role, BufferRole::output);
}

TEST(Kernel, TakesTheWholeGraph) {
  const Plan plan = planned(
      sample::chain(),
      "__global__ void all(const float* x, const float* w, float* y) {}\n"
      "//! kernel all replaces * : grid=(1,2,3) block=(4,5,6) cluster=(1,2,1) args=(x, \"fc.weight\", softmax_1)\n");
  ASSERT_EQ(call_of(plan), Lines{"launch all"});
  EXPECT_EQ(launch_at(plan, 0).grid, (Dim3{1, 2, 3}));
  EXPECT_EQ(launch_at(plan, 0).block, (Dim3{4, 5, 6}));
  EXPECT_EQ(launch_at(plan, 0).cluster, (Dim3{1, 2, 1}));
  EXPECT_FALSE(plan.has_op_steps());
  for (const Buffer& buffer : plan.buffers) {
    EXPECT_NE(buffer.name, "linear_1") << "nobody needs the inner values";
    EXPECT_NE(buffer.name, "gelu_1");
  }
  EXPECT_EQ(plan.values[3].buffer, -1);
}

TEST(Kernel, MayUseTheInnerValuesOfItsGroup) {
  const Plan plan = planned(sample::chain(),
                            "__global__ void two(float* a, float* b) {}\n"
                            "//! kernel two replaces gelu_1 softmax_1 : grid=1 block=1 args=(gelu_1, softmax_1)\n");
  EXPECT_EQ(buffer_named(plan, "gelu_1").role, BufferRole::intermediate);
  EXPECT_FALSE(buffer_named(plan, "gelu_1").allocated_by_op);
}

TEST(Kernel, NameKeepsTemplateArgumentsWithoutSpaces) {
  const Plan plan = planned(
      sample::chain(),
      "namespace k { template <int A, class T> __global__ void soft(const T* x, T* y) {} }\n"
      "//! kernel k::soft< 256 , unsigned  int > replaces softmax_1 : grid=1 block=1 args=(gelu_1, softmax_1)\n");
  EXPECT_EQ(plan.kernels, Lines{"k::soft<256,unsigned int>"});
}

TEST(Kernel, SecondOutputsAreNamedByIndex) {
  const Plan plan = planned(sample::several_outputs(),
                            "__global__ void best(const float* x, float* y, long long* index) {}\n"
                            "//! kernel best replaces max_1 : grid=1 block=1 args=(x, max_1[0], max_1[1])\n");
  ASSERT_EQ(call_of(plan), (Lines{"launch best", "op cast_1"}));
  EXPECT_EQ(argument_name(plan, launch_at(plan, 0), 1), "max_1");
  EXPECT_EQ(argument_name(plan, launch_at(plan, 0), 2), "max_1[1]");
  EXPECT_EQ(tensor_argument(launch_at(plan, 0), 2).meta.dtype, DType::i64);
}

TEST(Group, LaunchesInOrderWithScratch) {
  const Plan plan = planned(sample::chain(),
                            "//! buffer partial f32 [ceil_div(x.size(0), 48), gelu_1.size(-1)] zero\n"
                            "//! buffer flags i32 [2]\n"
                            "//! group g replaces gelu_1 soft*\n"
                            "//! launch first : grid=1 block=32 args=(linear_1, partial, flags)\n"
                            "__global__ void first(const float* x, float* partial, int* flags) {}\n"
                            "//! launch second : grid=1 block=32 \\\n"
                            "//!   args=(partial, softmax_1)  // the tail\n"
                            "__global__ void second(const float* partial, float* y) {}\n");
  EXPECT_EQ(call_of(plan), (Lines{"zero partial", "op linear_1", "launch first", "launch second"}));
  const Buffer& partial = buffer_named(plan, "partial");
  EXPECT_EQ(partial.role, BufferRole::scratch);
  EXPECT_EQ(partial.meta, sample::dense({2, 256}));
  EXPECT_TRUE(partial.zero);
  EXPECT_FALSE(buffer_named(plan, "flags").zero);
  EXPECT_EQ(plan.kernels, (Lines{"first", "second"}));
}

TEST(Prepare, MakesBuffersFromWeightsOnce) {
  const Plan plan = planned(sample::chain(),
                            "//! buffer packed f16 [numel(\"fc.weight\")] zero\n"
                            "//! prepare pack : grid=1 block=1 args=(\"fc.weight\", packed, i64:numel(x))\n"
                            "__global__ void pack(const float* w, __half* packed, int64_t n) {}\n"
                            "//! kernel use replaces linear_1 : grid=1 block=1 args=(x, packed, bias, linear_1)\n"
                            "__global__ void use(const float* x, const half* w, const float* b, float* y) {}\n");
  EXPECT_EQ(shown(plan, plan.prepare), (Lines{"zero packed", "launch pack"}));
  EXPECT_EQ(call_of(plan), (Lines{"launch use", "op gelu_1", "op softmax_1"}));
  EXPECT_EQ(buffer_named(plan, "packed").role, BufferRole::prepared);
  EXPECT_EQ(plan.kernels, (Lines{"pack", "use"}));
}

TEST(Views, AreNoStepsButPlacesInTheirBase) {
  const OpGraph graph = sample::views();
  const Plan plan = planned(graph, "");
  EXPECT_EQ(call_of(plan), (Lines{"op relu_1", "op exp_1", "op neg_1"}));
  const TensorRef& select = plan.values[graph.find_value("select_1")];
  EXPECT_EQ(plan.buffers[select.buffer].name, "relu_1");
  EXPECT_EQ(select.byte_offset, 48 * 4);
  EXPECT_EQ(select.meta.sizes, std::vector<std::int64_t>{16});
}

TEST(Views, OfAnInputMayBeAnOutput) {
  const OpGraph graph = sample::views();
  const Plan plan = planned(graph, "");
  const TensorRef& flat = plan.values[plan.outputs[2]];
  EXPECT_EQ(plan.buffers[flat.buffer].name, "x");
  EXPECT_EQ(plan.buffers[flat.buffer].role, BufferRole::input);
}

TEST(Views, AsArgumentsCountForTheirBase) {
  const Plan plan =
      planned(sample::views(),
              "__global__ void k(const float* x, float* y) {}\n"
              "//! kernel k replaces relu_1 select_1 : grid=transpose_1.stride(1) block=1 args=(x, select_1)\n");
  ASSERT_EQ(call_of(plan), (Lines{"launch k", "op exp_1", "op neg_1"}));
  EXPECT_EQ(argument_name(plan, launch_at(plan, 0), 1), "relu_1");
  EXPECT_EQ(tensor_argument(launch_at(plan, 0), 1).byte_offset, 192);
  EXPECT_EQ(launch_at(plan, 0).grid[0], 16);
}

TEST(Order, UnitsRunAtThePlaceOfTheirLastNode) {
  const Plan plan =
      planned(sample::two_chains(),
              "__global__ void both(const float* a, const float* b, float* y, float* z) {}\n"
              "//! kernel both replaces relu_1 tanh_2 : grid=1 block=1 args=(a, relu_2, relu_1, tanh_2)\n");
  EXPECT_EQ(call_of(plan), (Lines{"op relu_2", "launch both", "op tanh_1"}));
}

TEST(Order, StatesAreReadAfterTheyAreWritten) {
  const Plan plan =
      planned(sample::with_state(),
              "__global__ void norm(const float* x, float* m, float* y) {}\n"
              "//! kernel norm replaces batch_norm_1 : grid=1 block=1 args=(x, running_mean, batch_norm_1)\n");
  EXPECT_EQ(call_of(plan), (Lines{"launch norm", "op mul_1"}));
  EXPECT_EQ(buffer_named(plan, "running_mean").role, BufferRole::state);
}

struct ScalarCase {
  std::string argument;
  std::string parameter;
  std::uint64_t bits;
};

class Scalars : public testing::TestWithParam<ScalarCase> {};

TEST_P(Scalars, AreTheBitsOfTheParameter) {
  const auto& [argument, parameter, bits] = GetParam();
  const Plan plan = planned(sample::chain(), "__global__ void k(float* y, " + parameter +
                                                 " n) {}\n"
                                                 "//! kernel k replaces softmax_1 : grid=1 block=1 args=(softmax_1, " +
                                                 argument + ")\n");
  ASSERT_EQ(plan.call.size(), 3u);
  EXPECT_EQ(scalar_bits(launch_at(plan, 2), 1), bits) << argument;
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, Scalars,
    testing::Values(ScalarCase{"i32:2+3*4-10/3%2", "int", 13}, ScalarCase{"i32:(2+3)*4", "int", 20},
                    ScalarCase{"i32:-1", "int", 0xFFFFFFFF}, ScalarCase{"i64:-1", "int64_t", UINT64_MAX},
                    ScalarCase{"u32:0xFFFFFFFF", "unsigned", 0xFFFFFFFF},
                    ScalarCase{"u64:18446744073709551615", "size_t", UINT64_MAX},
                    ScalarCase{"i64:-9223372036854775807-1", "long long", std::uint64_t{1} << 63},
                    ScalarCase{"i32:7", "unsigned int", 7}, ScalarCase{"u64:7", "long", 7},
                    ScalarCase{"i32:ceil_div(7, 2)", "int", 4}, ScalarCase{"i32:min(9, 4, 6)", "int", 4},
                    ScalarCase{"i32:max(x.size(0), x.size(1))", "const int32_t", 128},
                    ScalarCase{"i32:x.stride(-2)", "int", 128},
                    ScalarCase{"i64:numel(\"fc.weight\")", "std::int64_t", 32768},
                    ScalarCase{"i32:\"bias\".size(0)", "int", 256}, ScalarCase{"f32:0.5", "float", 0x3F000000},
                    ScalarCase{"f32:1/x.size(1)", "float", 0x3C000000}, ScalarCase{"f32:-0.0f", "float", 0x80000000},
                    ScalarCase{"f32:3", "float", 0x40400000},
                    ScalarCase{"f64:1e-5", "double", std::bit_cast<std::uint64_t>(1e-5)},
                    ScalarCase{"f64:.25*min(2, 3.5)", "double", std::bit_cast<std::uint64_t>(0.5)},
                    ScalarCase{"i32:1", "MyStruct", 1}));

TEST(Extents, ASumInParenthesesIsNoList) {
  const Plan plan = planned(
      sample::chain(),
      soft_kernel +
          "//! kernel soft replaces softmax_1 : grid=(1+1)*3 block=( 2 , 2 ) args=(gelu_1, softmax_1, i32:1)\n");
  EXPECT_EQ(launch_at(plan, 2).grid, (Dim3{6, 1, 1}));
  EXPECT_EQ(launch_at(plan, 2).block, (Dim3{2, 2, 1}));
}

//! Texts in which `//! zzz` is no directive but part of the code.
class HiddenDirective : public testing::TestWithParam<std::string> {};

TEST_P(HiddenDirective, IsCode) {
  const Result<Plan> result = make_plan(sample::chain(), GetParam());
  EXPECT_TRUE(result.ok()) << result.failure().message;
}

INSTANTIATE_TEST_SUITE_P(Places, HiddenDirective,
                         testing::Values("/* a\n//! zzz\n*/", "const char* s = R\"(\n//! zzz\n)\";",
                                         "auto s = u8R\"x(\n)\"\n//! zzz\n)x\";", "// a comment \\\n//! zzz\n",
                                         "const char* s = \"a\\\n//! zzz\";", "#define A \\\n//! zzz\n",
                                         "int a; //! zzz", "/* */ //! zzz", "char c = '\\''; /*\n//! zzz\n*/",
                                         "int n = 1'000'000; /*\n//! zzz\n*/"));

class SeenDirective : public testing::TestWithParam<std::string> {};

TEST_P(SeenDirective, StartsItsLine) {
  const Result<Plan> result = make_plan(sample::chain(), GetParam());
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.failure().message.find("'zzz' is not a directive"), std::string::npos) << result.failure().message;
}

INSTANTIATE_TEST_SUITE_P(Places, SeenDirective,
                         testing::Values("//! zzz", "//!zzz", " \t //! zzz", "\xEF\xBB\xBF//! zzz",
                                         "int a;\r\n//! zzz\r\n", "/* a */\n//! zzz", "char c = '\"';\n//! zzz",
                                         "char c = '\\\\';\n//! zzz", "const char* s = \"/*\";\n//! zzz",
                                         "// /*\n//! zzz", "#if 0\ndon't\n#endif\n//! zzz",
                                         "auto s = R\"(\\)\";\n//! zzz", "int n = 0x1'F;\n//! zzz", "//!\n//! zzz",
                                         "#include <a/*b>\n//! zzz", "//! graph \\ \n//!\n//! zzz"));

TEST(ByteOrderMark, IsNoPartOfTheProgram) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string text = R"(//! kernel soft replaces softmax_1 : grid=1 block=1 args=(softmax_1)
extern "C" __global__ void soft(float* y) {})";
  const Result<Plan> with = make_plan(sample::chain(), mark + text), without = make_plan(sample::chain(), text);
  ASSERT_TRUE(with.ok()) << with.failure().message;
  EXPECT_EQ(with.value().code, text) << "what the compiler gets";
  EXPECT_EQ(with.value().hash, without.value().hash);
  const Failure failure = make_plan(sample::chain(), mark + "//! zzz").failure();
  EXPECT_EQ(failure.at, make_plan(sample::chain(), "//! zzz").failure().at);
  EXPECT_EQ(make_plan(sample::chain(), mark + "ab\x01").failure().at, (SourcePosition{1, 3}));
}

}  // namespace
}  // namespace cudal1
