// Every way a text can be wrong gets its status, its place and a message that says what to do.
#include <gtest/gtest.h>

#include "program/plan.hpp"
#include "sample_graphs.hpp"

namespace cudal1 {
namespace {

const std::string kernels = R"(
extern "C" __global__ void soft(const float* __restrict__ x, float* y, int n) {}
__global__ void pair(const float* x, float* partial, float* y) {}
__global__ void scale(float* y, float factor, unsigned long long n) {}
__global__ void any(void* y) {}
__global__ void halves(const half2* x, __nv_bfloat16* y) {}
__device__ void helper(float* y) {}
)";

struct Case {
  std::string name;
  OpGraph (*graph)();
  std::string text;  //!< the kernels follow it
  Status status;
  SourcePosition at;
  std::string message;  //!< a part of it
};

std::ostream& operator<<(std::ostream& out, const Case& example) { return out << example.text; }

class WrongText : public testing::TestWithParam<Case> {};

TEST_P(WrongText, IsRefusedWithItsPlace) {
  const Case& example = GetParam();
  const Result<Plan> result = make_plan(example.graph(), example.text + kernels);
  ASSERT_FALSE(result.ok());
  const Failure& failure = result.failure();
  EXPECT_EQ(to_string(failure.status), to_string(example.status)) << failure.message;
  EXPECT_EQ(failure.at.line, example.at.line) << failure.message;
  EXPECT_EQ(failure.at.column, example.at.column) << failure.message;
  EXPECT_NE(failure.message.find(example.message), std::string::npos) << failure.message;
  EXPECT_EQ(failure.message.find('\n'), std::string::npos);
}

std::string soft_with(const std::string& options) { return "//! kernel soft replaces softmax_1 : " + options; }
std::string soft_args(const std::string& args) { return soft_with("grid=1 block=1 args=(" + args + ")"); }

using sample::chain;
constexpr Status parse = Status::parse_error;
constexpr Status plan = Status::plan_error;
constexpr Status launch = Status::launch_error;

INSTANTIATE_TEST_SUITE_P(
    Directives, WrongText,
    testing::Values(
        Case{"Unknown",
             chain,
             "//! kernal soft replaces softmax_1",
             parse,
             {1, 5},
             "did you mean 'kernel'?; the directives are kernel, group, launch, buffer, prepare, hoist, graph"},
        Case{"UnknownFar", chain, "\n  //! zzzzzzz", parse, {2, 7}, "'zzzzzzz' is not a directive; the directives"},
        Case{"GraphTwice", chain, "//! graph\n//! graph", parse, {2, 5}, "twice"},
        Case{"GraphWithWords", chain, "//! graph now", parse, {1, 11}, "found 'now'"},
        Case{"ContinuedIntoCode", chain, "//! kernel soft \\\nint x;", parse, {2, 1}, "does not start with //!"},
        Case{"OpenQuote", chain, "//! kernel soft replaces \"softmax_1", parse, {1, 26}, "not closed"},
        Case{"UnknownNode",
             chain,
             "//! kernel soft replaces softmax1 : grid=1 block=1 args=()",
             plan,
             {1, 26},
             "there is no node 'softmax1'; did you mean 'softmax_1'?"},
        Case{"LeafAsNode",
             chain,
             "//! kernel soft replaces x : grid=1 block=1 args=()",
             plan,
             {1, 26},
             "'x' is not a node but a leaf"},
        Case{"GlobWithoutMatch",
             chain,
             "//! kernel soft replaces conv_* : grid=1 block=1 args=()",
             plan,
             {1, 26},
             "no node matches 'conv_*'"},
        Case{"NodeTwice",
             chain,
             "//! kernel soft replaces softmax_1 soft* : grid=1 block=1 args=()",
             plan,
             {1, 36},
             "node 'softmax_1' is listed twice"},
        Case{"NodeInTwoGroups",
             chain,
             soft_args("gelu_1, softmax_1, i32:1") + "\n//! kernel pair replaces * : grid=1 block=1 args=()",
             plan,
             {2, 26},
             "node 'softmax_1' is replaced already, by 'soft' in line 1"},
        Case{"NoNodes",
             chain,
             "//! kernel soft replaces : grid=1 block=1 args=()",
             parse,
             {1, 26},
             "expected the names of nodes"},
        Case{"CommaBetweenNodes",
             chain,
             "//! kernel soft replaces gelu_1, softmax_1 : grid=1 block=1 args=()",
             parse,
             {1, 32},
             "separated by spaces"},
        Case{"NoReplaces",
             chain,
             "//! kernel soft : grid=1 block=1 args=()",
             parse,
             {1, 17},
             "expected 'replaces NODE…'"},
        Case{"NoKernelName", chain, "//! kernel", parse, {1, 11}, "expected a kernel's name, found the end"},
        Case{"OpenTemplate", chain, "//! kernel soft<4 replaces softmax_1", parse, {1, 16}, "not closed"},
        Case{"LaunchWithoutGroup",
             chain,
             "//! launch soft : grid=1 block=1 args=()",
             parse,
             {1, 5},
             "belongs to no group"},
        Case{"LaunchBehindAnother",
             chain,
             "//! group g replaces softmax_1\n//! launch soft : grid=1 block=1 args=(gelu_1, softmax_1, i32:1)\n//! "
             "graph\n//! launch soft : grid=1 block=1 args=()",
             parse,
             {4, 5},
             "belongs to no group"},
        Case{"GroupWithoutLaunch",
             chain,
             "//! group g replaces softmax_1\n//! graph",
             parse,
             {2, 5},
             "group 'g' has no launch"},
        Case{"LastGroupWithoutLaunch",
             chain,
             "//! group g replaces softmax_1",
             parse,
             {1, 11},
             "group 'g' has no launch"},
        Case{"GroupTwice",
             chain,
             "//! group g replaces softmax_1\n//! launch any : grid=1 block=1 args=(softmax_1)\n//! group g replaces "
             "gelu_1",
             plan,
             {3, 11},
             "there is a group 'g' already, in line 1"},
        Case{"OptionsOnGroup", chain, "//! group g replaces softmax_1 : grid=1", parse, {1, 32}, "lines of their own"}),
    [](const auto& example) { return example.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Options, WrongText,
    testing::Values(
        Case{"NoGrid", chain, soft_with("block=1 args=()"), parse, {1, 12}, "grid is missing"},
        Case{"NoArgs", chain, soft_with("grid=1 block=1"), parse, {1, 12}, "args is missing"},
        Case{"UnknownOption", chain, soft_with("gird=1"), parse, {1, 38}, "found 'gird'; did you mean 'grid'?"},
        Case{"OptionTwice", chain, soft_with("grid=1 grid=2"), parse, {1, 45}, "grid is given twice"},
        Case{"NoEquals", chain, soft_with("grid 1"), parse, {1, 43}, "expected '=' after grid"},
        Case{"FourSizes", chain, soft_with("grid=(1,2,3,4)"), parse, {1, 50}, "at most three"},
        Case{"ZeroGrid",
             chain,
             soft_with("grid=x.size(0)/100 block=1 args=()"),
             launch,
             {1, 43},
             "grid.x is 0; it must be 1 to 2147483647"},
        Case{"NegativeGrid", chain, soft_with("grid=(1, -3) block=1 args=()"), launch, {1, 47}, "grid.y is -3"},
        Case{"HugeGridX", chain, soft_with("grid=2147483648 block=1 args=()"), launch, {1, 43}, "2147483647"},
        Case{"HugeGridY", chain, soft_with("grid=(1, 65536) block=1 args=()"), launch, {1, 47}, "grid.y is 65536"},
        Case{"HugeGridZ", chain, soft_with("grid=(1, 1, 65536) block=1 args=()"), launch, {1, 50}, "grid.z is 65536"},
        Case{"HugeBlock", chain, soft_with("grid=1 block=1025 args=()"), launch, {1, 51}, "block.x is 1025"},
        Case{"HugeBlockProduct",
             chain,
             soft_with("grid=1 block=(64, 32) args=()"),
             launch,
             {1, 51},
             "block has 2048 threads; at most 1024"},
        Case{"HugeBlockZ",
             chain,
             soft_with("grid=1 block=(1, 1, 65) args=()"),
             launch,
             {1, 58},
             "block.z is 65; it must be 1 to 64"},
        Case{"HugeCluster",
             chain,
             soft_with("grid=32 block=1 cluster=(8, 4) args=()"),
             launch,
             {1, 62},
             "cluster has 32 blocks"},
        Case{"UnevenCluster",
             chain,
             soft_with("grid=10 block=1 cluster=4 args=()"),
             launch,
             {1, 62},
             "grid.x is 10, which is not a multiple of cluster.x, 4"},
        Case{"TooMuchShared",
             chain,
             soft_with("grid=1 block=1 shared=232449 args=()"),
             launch,
             {1, 60},
             "shared is 232449 bytes; a block has 0 to 232448"},
        Case{"NegativeShared", chain, soft_with("grid=1 block=1 shared=-1 args=()"), launch, {1, 60}, "shared is -1"}),
    [](const auto& example) { return example.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Expressions, WrongText,
    testing::Values(
        Case{"Fraction", chain, soft_with("grid=1.5"), parse, {1, 43}, "allowed in f32: and f64: arguments only"},
        Case{"DivisionByZero", chain, soft_with("grid=1/(x.size(0)-64)"), plan, {1, 46}, "division by zero"},
        Case{"ModuloZero", chain, soft_with("grid=1%0"), plan, {1, 45}, "division by zero"},
        Case{"CeilDivByZero", chain, soft_with("grid=ceil_div(1, 0)"), plan, {1, 55}, "division by zero"},
        Case{"Overflow", chain, soft_with("grid=9223372036854775807*4"), plan, {1, 62}, "does not fit 64 bits"},
        Case{"HugeLiteral", chain, soft_with("grid=99999999999999999999999"), plan, {1, 43}, "does not fit 64 bits"},
        Case{"NotANumber", chain, soft_with("grid=12ab"), parse, {1, 43}, "'12ab' is not a number"},
        Case{"DimensionOutOfRange",
             chain,
             soft_with("grid=x.size(2)"),
             plan,
             {1, 50},
             "'x' has 2 dimensions (f32[64, 128]); there is no dimension 2"},
        Case{"NegativeDimensionOutOfRange", chain, soft_with("grid=x.size(-3)"), plan, {1, 50}, "no dimension -3"},
        Case{
            "UnknownMember", chain, soft_with("grid=x.shape(0)"), parse, {1, 45}, "size(i) and stride(i), not 'shape'"},
        Case{"UnknownFunction", chain, soft_with("grid=floor(3)"), parse, {1, 43}, "there is no function 'floor'"},
        Case{"OneArgument", chain, soft_with("grid=min(3)"), parse, {1, 43}, "min takes two or more arguments"},
        Case{"TensorAsNumber", chain, soft_with("grid=x"), parse, {1, 43}, "'x' is a tensor, not a number"},
        Case{"UnknownTensor",
             chain,
             soft_with("grid=numel(gelu1)"),
             plan,
             {1, 49},
             "there is no tensor 'gelu1'; did you mean 'gelu_1'?"},
        Case{
            "DotsWithoutQuotes", chain, soft_with("grid=fc.weight.size(0)"), plan, {1, 43}, "in quotes: \"fc.weight\""},
        Case{"Unclosed", chain, soft_with("grid=(1 block=2"), parse, {1, 46}, "expected ')'"},
        Case{"Nothing", chain, soft_with("grid="), parse, {1, 43}, "found the end of the directive"},
        Case{"TooDeep",
             chain,
             soft_with("grid=" + std::string(100000, '(') + "1"),
             parse,
             {1, 244},
             "nested more than 200"},
        Case{"TooManySigns",
             chain,
             soft_with("grid=" + std::string(100000, '-') + "1"),
             parse,
             {1, 243},
             "nested more than 200"}),
    [](const auto& example) { return example.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Arguments, WrongText,
    testing::Values(
        Case{"UntypedNumber", chain, soft_args("gelu_1, softmax_1, 256"), parse, {1, 78}, "i32:…"},
        Case{"UntypedSize",
             chain,
             soft_args("gelu_1, softmax_1, x.size(0)"),
             parse,
             {1, 78},
             "a number in args needs its type"},
        Case{"UntypedFunction",
             chain,
             soft_args("gelu_1, softmax_1, numel(x)"),
             parse,
             {1, 78},
             "a number in args needs its type"},
        Case{"UnknownScalarType", chain, soft_args("int:3"), parse, {1, 59}, "'int' is not a scalar type"},
        Case{"TooLargeForI32", chain, soft_args("gelu_1, softmax_1, i32:1<<31"), parse, {1, 83}, "expected ')'"},
        Case{"DoesNotFitI32",
             chain,
             soft_args("gelu_1, softmax_1, i32:2147483648"),
             plan,
             {1, 82},
             "2147483648 does not fit i32"},
        Case{"DoesNotFitU32", chain, soft_args("gelu_1, softmax_1, u32:-1"), plan, {1, 82}, "-1 does not fit u32"},
        Case{"DoesNotFitI64",
             chain,
             soft_args("gelu_1, softmax_1, i64:9223372036854775808"),
             plan,
             {1, 82},
             "does not fit i64"},
        Case{"DoesNotFitU64", chain, soft_args("gelu_1, softmax_1, u64:-1"), plan, {1, 82}, "does not fit u64"},
        Case{"DoesNotFitF32", chain, soft_args("gelu_1, softmax_1, f32:1e39"), plan, {1, 82}, "does not fit f32"},
        Case{"InfiniteReal",
             chain,
             soft_args("gelu_1, softmax_1, f64:1e308*10"),
             plan,
             {1, 87},
             "too large for a double"},
        Case{"FractionInI32", chain, soft_args("gelu_1, softmax_1, i32:0.5"), parse, {1, 82}, "is a fraction"},
        Case{"SecondOutputMissing",
             chain,
             soft_args("softmax_1[1]"),
             plan,
             {1, 59},
             "there is no tensor 'softmax_1[1]'"},
        Case{"BufferFurtherDown",
             chain,
             soft_args("gelu_1, tmp, i32:1") + "\n//! buffer tmp f32 [4]",
             plan,
             {1, 67},
             "declared in line 2: move that line up"},
        Case{"TooFew",
             chain,
             soft_args("gelu_1, softmax_1"),
             plan,
             {1, 58},
             "kernel 'soft' has 3 parameters, but args has 2"},
        Case{"TooMany",
             chain,
             soft_args("gelu_1, softmax_1, i32:1, i32:2"),
             plan,
             {1, 58},
             "has 3 parameters, but args has 4"},
        Case{"NumberForPointer",
             chain,
             soft_args("gelu_1, i32:4, i32:1"),
             plan,
             {1, 67},
             "argument 2 of kernel 'soft' is for its parameter 'float* y', which takes a tensor, but it is a number "
             "(i32)"},
        Case{"TensorForNumber",
             chain,
             soft_args("gelu_1, softmax_1, x"),
             plan,
             {1, 78},
             "parameter 'int n', which takes a number, but it is the tensor 'x', f32[64, 128]"},
        Case{"WrongWidth",
             chain,
             soft_args("gelu_1, softmax_1, i64:1"),
             plan,
             {1, 78},
             "parameter 'int n', which needs i32:…, but it is i64"},
        Case{"WrongKind", chain, soft_args("gelu_1, softmax_1, f32:1"), plan, {1, 78}, "needs i32:…, but it is f32"},
        Case{"IntegerForReal",
             chain,
             "//! kernel scale replaces softmax_1 : grid=1 block=1 args=(softmax_1, i32:1, u64:3)",
             plan,
             {1, 71},
             "'float factor', which needs f32:…"},
        Case{"WrongElements",
             sample::several_outputs,
             "//! kernel halves replaces cast_1 : grid=1 block=1 args=(x, cast_1)",
             plan,
             {1, 58},
             "parameter 'const half2* x', whose elements have another type than 'x', f32[8, 16]"},
        Case{"KernelNotInText",
             chain,
             "//! kernel sotf replaces softmax_1 : grid=1 block=1 args=()",
             plan,
             {1, 12},
             "kernel 'sotf' is not in the text; it has: any, halves, pair, scale, soft"},
        Case{"DeviceFunction",
             chain,
             "//! kernel helper replaces softmax_1 : grid=1 block=1 args=(softmax_1)",
             plan,
             {1, 12},
             "kernel 'helper' is in the text, but not as a __global__ function"},
        Case{"CommentedOut",
             chain,
             "// __global__ void gone(float* y) {}\n//! kernel gone replaces softmax_1 : grid=1 block=1 "
             "args=(softmax_1)",
             plan,
             {2, 12},
             "kernel 'gone' is not in the text"}),
    [](const auto& example) { return example.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Buffers, WrongText,
    testing::Values(
        Case{"NoName", chain, "//! buffer", parse, {1, 11}, "expected the buffer's name"},
        Case{"UnknownDtype", chain, "//! buffer tmp float [4]", parse, {1, 16}, "expected a dtype (f32,"},
        Case{"NoDimensions", chain, "//! buffer tmp f32", parse, {1, 19}, "expected '[' after the dtype"},
        Case{"EmptyDimensions", chain, "//! buffer tmp f32 []", parse, {1, 21}, "expected a number"},
        Case{"ZeroDimension", chain, "//! buffer tmp f32 [4, 0]", plan, {1, 24}, "at least 1, not 0"},
        Case{"Huge",
             chain,
             "//! buffer tmp f32 [4611686018427387904, 4]",
             Status::out_of_memory,
             {1, 12},
             "larger than 1 TiB"},
        Case{"WordBehind", chain, "//! buffer tmp f32 [4] zeros", parse, {1, 24}, "found 'zeros'"},
        Case{"NameOfInput", chain, "//! buffer x f32 [4]", plan, {1, 12}, "the task has 'x' already"},
        Case{"NameOfNode", chain, "//! buffer gelu_1 f32 [4]", plan, {1, 12}, "the task has 'gelu_1' already"},
        Case{"ReservedName", chain, "//! buffer numel f32 [4]", plan, {1, 12}, "has a meaning in expressions"},
        Case{"Twice",
             chain,
             "//! buffer tmp f32 [4]\n//! buffer tmp f32 [4]",
             plan,
             {2, 12},
             "declared twice, first in line 1"},
        Case{"Unused", chain, "//! buffer tmp f32 [4]", plan, {1, 12}, "no launch uses buffer 'tmp'"}),
    [](const auto& example) { return example.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Plans, WrongText,
    testing::Values(Case{"PrepareReadsInput",
                         chain,
                         "//! prepare any : grid=1 block=1 args=(x)",
                         plan,
                         {1, 40},
                         "prepare may use weights and buffers only; 'x' is an input"},
                    Case{"PrepareReadsNode",
                         chain,
                         "//! prepare any : grid=1 block=1 args=(gelu_1)",
                         plan,
                         {1, 40},
                         "'gelu_1' is computed by a node"},
                    Case{"PrepareReadsState",
                         sample::with_state,
                         "//! prepare any : grid=1 block=1 args=(running_mean)",
                         plan,
                         {1, 40},
                         "'running_mean' is a state"},
                    Case{"OutputNotWritten",
                         chain,
                         "//! kernel any replaces softmax_1 : grid=1 block=1 args=(gelu_1)",
                         plan,
                         {1, 12},
                         "'any' must write 'softmax_1', which is an output of the task"},
                    Case{"ReadByOthersNotWritten",
                         chain,
                         "//! kernel any replaces linear_1 : grid=1 block=1 args=(x)",
                         plan,
                         {1, 12},
                         "'any' must write 'linear_1', which node 'gelu_1' reads"},
                    Case{"ReadThroughViewNotWritten",
                         sample::views,
                         "//! kernel any replaces relu_1 transpose_1 : grid=1 block=1 args=(x)",
                         plan,
                         {1, 12},
                         "must write 'relu_1', which node 'exp_1' reads"},
                    Case{"StateNotWritten",
                         sample::with_state,
                         "//! kernel any replaces batch_norm_1 : grid=1 block=1 args=(batch_norm_1)",
                         plan,
                         {1, 12},
                         "must write 'running_mean', a state that node 'batch_norm_1' updates"},
                    Case{"ReadByOtherLaunchNotWritten",
                         chain,
                         "//! kernel any replaces linear_1 gelu_1 : grid=1 block=1 args=(gelu_1)\n//! kernel pair "
                         "replaces softmax_1 : "
                         "grid=1 block=1 args=(gelu_1, linear_1, softmax_1)",
                         plan,
                         {1, 12},
                         "must write 'linear_1', which the launch in line 2 reads"},
                    Case{"ComputedLater",
                         chain,
                         "//! kernel pair replaces linear_1 : grid=1 block=1 args=(x, linear_1, softmax_1)",
                         plan,
                         {1, 71},
                         "the launch reads 'softmax_1', which is computed later"},
                    Case{"NotConvex",
                         sample::diamond,
                         "//! kernel any replaces relu_1 add_1 : grid=1 block=1 args=(add_1)",
                         plan,
                         {1, 12},
                         "'any' cannot run as one: relu_1 (in it) -> sigmoid_1 -> add_1 (in it)"},
                    Case{"CyclicGroups",
                         sample::two_chains,
                         "//! kernel any replaces relu_1 tanh_2 : grid=1 block=1 args=(relu_1)\n//! kernel pair "
                         "replaces relu_2 tanh_1 "
                         ": grid=1 block=1 args=(a, b, relu_2)",
                         plan,
                         {1, 12},
                         "relu_1 (in it) -> tanh_1 -> relu_2 -> tanh_2 (in it)"},
                    Case{"ViewsOnly",
                         sample::views,
                         "//! kernel any replaces flat_1 : grid=1 block=1 args=(x)",
                         plan,
                         {1, 12},
                         "'any' replaces views only"},
                    Case{"NulByte", chain, std::string("int a;\n// \0", 11), parse, {2, 4}, "binary: a NUL byte"},
                    Case{"ControlByte", chain, "\x01", parse, {1, 1}, "binary: the control byte 0x01"},
                    Case{"LoneCarriageReturn", chain, "// a\rb", parse, {1, 5}, "binary: a carriage return"},
                    Case{"NotUtf8", chain, "// \xC3\x28", parse, {1, 4}, "binary: the byte 0xc3, which is not UTF-8"},
                    Case{"OverlongUtf8", chain, "// \xE0\x80\x80", parse, {1, 4}, "binary"},
                    Case{"SurrogateUtf8", chain, "// \xED\xA0\x80", parse, {1, 4}, "binary"}),
    [](const auto& example) { return example.param.name; });

TEST(WrongText, AGraphOfDrawsIsRefused) {
  sample::GraphBuilder builder;
  const ValueId x = builder.leaf(ValueKind::input, "x", {8});
  builder.output(builder.node("rand_like_1", "aten::rand_like", {x}, {8}));
  EXPECT_TRUE(make_plan(builder.graph, "").ok());
  const Result<Plan> result = make_plan(builder.graph, "//! graph");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, plan);
  EXPECT_EQ(result.failure().message, "'graph' cannot hold 'rand_like_1', which draws random numbers");
  EXPECT_EQ(result.failure().at, (SourcePosition{1, 5}));
}

TEST(WrongText, BeyondTheSizeLimitIsRefusedAtOnce) {
  const Result<Plan> result = make_plan(chain(), std::string(std::size_t{100} << 20, ' '));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, parse);
  EXPECT_EQ(result.failure().message, "the text has 104857600 bytes; a program may have at most 4194304");
}

}  // namespace
}  // namespace cudal1
