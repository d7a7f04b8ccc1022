#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "program/plan.hpp"
#include "program/plan_hash.hpp"
#include "sample_graphs.hpp"

namespace cudal1 {
namespace {

using Json = nlohmann::json;

const std::string program =
    "//! buffer packed f16 [8] zero\n"
    "//! prepare pack<4> : grid=1 block=1 args=(\"fc.weight\", packed)\n"
    "//! kernel soft replaces softmax_1 : grid=(4, 2) block=256 cluster=2 shared=16 args=(gelu_1, softmax_1, packed, "
    "f32:0.1, u64:0xFFFFFFFFFFFFFFFF)\n//! graph\n"
    "template <int N> __global__ void pack(const float* w, half* p) {}\n"
    "__global__ void soft(const float* x, float* y, half* p, float a, size_t n) {}\n";

Plan sample_plan() { return make_plan(sample::chain(), program).value(); }

TEST(PlanJson, RoundTripsThroughText) {
  const Plan plan = sample_plan();
  const Json json = plan_to_json(plan);
  const Plan again = plan_from_json(Json::parse(json.dump()));
  EXPECT_EQ(plan_to_json(again), json);
  EXPECT_EQ(again.hash, plan.hash);
  EXPECT_EQ(plan_hash(again), plan.hash);
  EXPECT_EQ(std::get<LaunchStep>(again.call.back()).args.size(), 5u);
  EXPECT_EQ(std::get<ScalarArgument>(std::get<LaunchStep>(again.call.back()).args[4]).bits, UINT64_MAX);
}

TEST(PlanJson, KeepsEveryKindOfArgument) {
  const double odd_nan = std::bit_cast<double>(std::uint64_t{0xFFF8000000000123});
  Plan plan = sample_plan();
  Node& node = std::get<OpStep>(plan.call[0]).node;
  const double infinity = std::numeric_limits<double>::infinity();
  node.args = {NoArgument{},
               ValueRef{0},
               ValueRef{-1},
               ValueList{{0}, {-1}, {1}},
               true,
               std::int64_t{-7},
               1.0,
               0.1,
               -0.0,
               infinity,
               -infinity,
               5e-324,
               std::string("tänh"),
               DTypeArgument{DType::bf16, true},
               std::vector<std::int64_t>{1, -2},
               std::vector<double>{0.1, infinity},
               std::vector<bool>{true, false},
               std::vector<std::int64_t>{},
               ValueList{}};
  node.kwargs = {{"z", 2.0}, {"a", std::int64_t{2}}};
  Plan again = plan_from_json(Json::parse(plan_to_json(plan).dump()));
  const Node& read = std::get<OpStep>(again.call[0]).node;
  EXPECT_EQ(read.args, node.args);
  EXPECT_EQ(read.kwargs, node.kwargs);
  EXPECT_TRUE(std::signbit(std::get<double>(read.args[8])));
  node.args = {odd_nan};
  again = plan_from_json(Json::parse(plan_to_json(plan).dump()));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(std::get<double>(std::get<OpStep>(again.call[0]).node.args[0])),
            std::bit_cast<std::uint64_t>(odd_nan));
}

struct Damage {
  std::string name;
  std::string pointer;
  Json content;
};

class DamagedPlan : public testing::TestWithParam<Damage> {};

TEST_P(DamagedPlan, IsRefused) {
  Json json = plan_to_json(sample_plan());
  json[Json::json_pointer(GetParam().pointer)] = GetParam().content;
  try {
    plan_from_json(json);
    FAIL() << "accepted " << GetParam().pointer;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("not a plan: ", 0), 0u) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fields, DamagedPlan,
    testing::Values(
        Damage{"Version", "/version", 2}, Damage{"Role", "/buffers/0/role", "friend"},
        Damage{"Dtype", "/buffers/0/meta/dtype", "f33"}, Damage{"Strides", "/buffers/0/meta/strides", Json::array()},
        Damage{"ValueBuffer", "/values/0/buffer", 99}, Damage{"NegativeBuffer", "/values/0/buffer", -2},
        Damage{"Offset", "/values/0/byte_offset", 4}, Damage{"NegativeOffset", "/values/0/byte_offset", -4},
        Damage{"Output", "/outputs/0", 99}, Damage{"OutputWithoutPlace", "/values/5", nullptr},
        Damage{"ZeroBuffer", "/prepare/0/zero", 99}, Damage{"NodeValue", "/call/0/node/args/0", {{"value", 99}}},
        Damage{"NodeList", "/call/0/node/args/0", {{"values", {0, 99}}}},
        Damage{"NodeOutput", "/call/0/node/outputs/0", -1},
        Damage{"ArgumentKind", "/call/0/node/args/0", {{"complex", 1}}},
        Damage{"Number", "/call/0/node/args/0", {{"float", "nan:xyzxyzxyzxyzxyzx"}}},
        Damage{"LaunchBuffer", "/call/2/args/0/tensor/buffer", 99}, Damage{"LaunchGrid", "/call/2/grid/1", 0},
        Damage{"ScalarSize", "/call/2/args/3/scalar/size_bytes", 16}, Damage{"Step", "/call/0", Json::object()},
        Damage{"Type", "/code", 3}, Damage{"Buffers", "/buffers", nullptr}),
    [](const auto& example) { return example.param.name; });

std::string hash_of(const OpGraph& graph, const std::string& text) {
  const Result<Plan> result = make_plan(graph, text);
  EXPECT_TRUE(result.ok()) << result.failure().message;
  return result.ok() ? result.value().hash : "";
}

const std::string one = "//! kernel k replaces softmax_1 : grid=1 block=1 args=(gelu_1, softmax_1)\n";
const std::string body = "#define F(x) (x + 1)\n__global__ void k(const float* x, float* y) { y[0] = x[0] + 1; }\n";

TEST(PlanHash, IgnoresCommentsAndSpacing) {
  const std::string hash = hash_of(sample::chain(), one + body);
  EXPECT_EQ(hash.size(), 64u);
  for (const std::string& text :
       {body + one, "// why\n/* how */\n" + one + body,
        "  //!   kernel k replaces   softmax_1 :block = 1  grid=(2-1) \\\n//! args=( gelu_1,softmax_1 )\r\n" + body,
        one + "#define  F(x)  ( x+1 )  // one\n__global__ void\nk(const float*x,float *y){y[0]=x[0]+ /* 1 */ 1;}",
        one + "#def\\\nine F(x) \\\n (x + 1)\n"
              "__glo\\\nbal__ void k(const float* x, float* y) { y[0] = x[0] + 1; }\n"}) {
    EXPECT_EQ(hash_of(sample::chain(), text), hash) << text;
  }
}

TEST(PlanHash, ChangesWithWhatRuns) {
  const std::string hash = hash_of(sample::chain(), one + body);
  const std::string other_grid = "//! kernel k replaces softmax_1 : grid=2 block=1 args=(gelu_1, softmax_1)\n";
  const std::string swapped = "//! kernel k replaces softmax_1 : grid=1 block=1 args=(softmax_1, gelu_1)\n";
  for (const std::string& text :
       {other_grid + body, swapped + body, one + body + "//! graph\n", one + body + "int a;\n",
        one + "#define F (x) (x + 1)\n__global__ void k(const float* x, float* y) { y[0] = x[0] + 1; }\n",
        one + "#define F(x) (x + 1) __global__ void k(const float* x, float* y) { y[0] = x[0] + 1; }\n"
              "__global__ void k(const float* x, float* y) {}\n"}) {
    EXPECT_NE(hash_of(sample::chain(), text), hash) << text;
  }
}

TEST(PlanHash, DoesNotFoldTextThatCanSeeItsOwnSpelling) {
  EXPECT_NE(canonical_code("int a = __LINE__;"), canonical_code("int a =\n__LINE__;"));
  EXPECT_NE(canonical_code("#define S(x) #x\nS(a+b)"), canonical_code("#define S(x) #x\nS(a + b)"));
  EXPECT_NE(canonical_code("#define C(a, b) a##b\nC(__LI, NE__)"),
            canonical_code("#define C(a, b) a##b\n\nC(__LI, NE__)"));
  EXPECT_NE(canonical_code("R\"(a\\\nb)\""), canonical_code("R\"(ab)\""));
  EXPECT_NE(canonical_code("\"a  b\""), canonical_code("\"a b\""));
  EXPECT_NE(canonical_code("a - -b"), canonical_code("a --b"));
}

TEST(PlanHash, OfNoKernelsDependsOnTheGraphOnly) {
  const std::string hash = hash_of(sample::chain(), "");
  EXPECT_EQ(hash_of(sample::chain(), "// a comment\n__global__ void unused() {}\n"), hash);
  EXPECT_NE(hash_of(sample::diamond(), ""), hash);
  OpGraph renamed = sample::chain();
  renamed.nodes[1].name = "gelu_7";
  EXPECT_EQ(hash_of(renamed, ""), hash);
  renamed.nodes[1].kwargs.clear();
  EXPECT_NE(hash_of(renamed, ""), hash);
}

TEST(PlanHash, IgnoresBufferNames) {
  const auto with_buffer = [](const std::string& name) {
    return "//! buffer " + name + " f32 [4]\n//! kernel k replaces softmax_1 : grid=1 block=1 args=(" + name +
           ", softmax_1)\n" + body;
  };
  EXPECT_EQ(hash_of(sample::chain(), with_buffer("tmp")), hash_of(sample::chain(), with_buffer("scratch")));
}

}  // namespace
}  // namespace cudal1
