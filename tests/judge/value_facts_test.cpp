#include "judge/value_facts.hpp"

#include <gtest/gtest.h>

namespace cudal1 {
namespace {

//! Facts by name. Shapes are as declared: nothing here runs.
ValueFacts fact_of(const std::string& inputs, const std::string& nodes, const std::string& name) {
  const Task task = parse_task(R"({"format": "cudal1.graph", "version": 1, "name": "t", "inputs": [)" + inputs +
                                   R"(], "nodes": [)" + nodes + R"(], "outputs": [")" + name + R"("]})",
                               {});
  return facts_of(task)[static_cast<std::size_t>(task.graph.find_value(name))];
}

constexpr const char* reals = R"({"name": "x", "dtype": "f32", "shape": [8], "draw": {"kind": "normal"}})";
constexpr const char* labels =
    R"({"name": "x", "dtype": "f32", "shape": [8], "draw": {"kind": "integers", "low": 0, "high": 4}})";

std::string node(const std::string& name, const std::string& op, const std::string& args,
                 const std::string& dtype = "f32") {
  return R"({"name": ")" + name + R"(", "op": "aten::)" + op + R"(", "args": [)" + args +
         R"(], "outputs": [{"dtype": ")" + dtype + R"(", "shape": [8]}]})";
}

TEST(ExactValues, AreWholeNumbersThatWereDrawn) {
  EXPECT_TRUE(fact_of(labels, node("y", "relu", "\"x\""), "x").exact);
  EXPECT_FALSE(fact_of(reals, node("y", "relu", "\"x\""), "x").exact);
}

TEST(ExactValues, ComeOutOfRounding) {
  EXPECT_TRUE(fact_of(reals, node("y", "floor", "\"x\""), "y").exact);
  EXPECT_FALSE(fact_of(reals, node("y", "exp", "\"x\""), "y").exact);
}

TEST(ExactValues, StayExactUnderChoicesAndWholeArithmetic) {
  EXPECT_TRUE(fact_of(labels, node("y", "clamp", "\"x\", 0, 2.5"), "y").exact);
  EXPECT_TRUE(fact_of(labels, node("y", "add.Scalar", "\"x\", 9"), "y").exact);
  EXPECT_FALSE(fact_of(labels, node("y", "mul.Scalar", "\"x\", 0.1"), "y").exact);
  EXPECT_FALSE(fact_of(labels, node("y", "exp", "\"x\""), "y").exact);
}

TEST(ExactValues, AreCastsOfIntegersAndBooleans) {
  const std::string nodes =
      node("b", "gt.Scalar", "\"x\", 0", "bool") + ", " + node("y", "to.dtype", R"("b", {"dtype": "f32"})");
  EXPECT_TRUE(fact_of(reals, nodes, "y").exact);
}

TEST(Jumps, ComeWithStepsComparisonsAndWhateverIsBehindThem) {
  EXPECT_TRUE(fact_of(reals, node("y", "round", "\"x\""), "y").jumps);
  EXPECT_TRUE(fact_of(reals, node("y", "gt.Scalar", "\"x\", 0", "bool"), "y").jumps);
  EXPECT_TRUE(fact_of(reals, node("r", "sign", "\"x\"") + ", " + node("y", "exp", "\"r\""), "y").jumps);
  EXPECT_FALSE(fact_of(reals, node("y", "relu", "\"x\""), "y").jumps);
}

TEST(RandomNodes, DrawNothingThatAProgramMoves) {
  const std::string noise = node("n", "rand_like", "\"x\""), kept = node("k", "bernoulli.p", "\"x\", 0.5");
  EXPECT_FALSE(fact_of(reals, noise, "n").exact);  // no whole numbers: arithmetic with them is rounded
  EXPECT_TRUE(fact_of(reals, kept, "k").exact);
  EXPECT_FALSE(fact_of(reals, node("i", "randint_like", "\"x\", 4", "i64"), "i").jumps);
  EXPECT_TRUE(fact_of(reals, noise + ", " + node("y", "lt.Tensor", "\"n\", \"x\"", "bool"), "y").jumps);
  EXPECT_EQ(fact_of(reals, node("s", "cumsum", "\"x\", 0") + ", " + node("n", "rand_like", "\"s\""), "n").terms, 1);
}

TEST(RandomNodes, DropoutJumpsWhereWhatItDropsDoesAndItsMaskNever) {
  const std::string dropout = node("r", "round", "\"x\"") +
                              R"(, {"name": "d", "op": "aten::native_dropout", "args": ["r", 0.5, true],
           "outputs": [{"dtype": "f32", "shape": [8]}, {"dtype": "bool", "shape": [8]}]})";
  EXPECT_TRUE(fact_of(reals, dropout, "d").jumps);
  EXPECT_FALSE(fact_of(reals, dropout, "d[1]").jumps);
}

TEST(Places, AreNamedBySearchesAndWhateverChoosesAmongTheirResults) {
  const std::string search = node("a", "argmax", "\"x\"", "i64");
  EXPECT_TRUE(fact_of(reals, search, "a").places);
  EXPECT_TRUE(fact_of(reals, search + ", " + node("y", "clamp", "\"a\", 0, 4", "i64"), "y").places);
  EXPECT_FALSE(fact_of(reals, search + ", " + node("y", "to.dtype", R"("a", {"dtype": "f32"})"), "y").places);
  EXPECT_FALSE(fact_of(reals, node("y", "to.dtype", R"("x", {"dtype": "i64"})", "i64"), "y").places);
}

TEST(Jumps, DoNotComeFromWhatDoesNotMove) {
  EXPECT_FALSE(fact_of(labels, node("y", "gt.Scalar", "\"x\", 2", "bool"), "y").jumps);
}

TEST(Terms, AreThoseOfWhatAValueIsMadeOfAndNotOfItsNeighbours) {
  const std::string inputs =
      std::string(reals) + R"(, {"name": "z", "dtype": "f32", "shape": [4096], "draw": {"kind": "normal"}})";
  const std::string nodes = node("y", "exp", "\"x\"") + R"(, {"name": "s", "op": "aten::sum", "args": ["z"],
      "outputs": [{"dtype": "f32", "shape": []}]}, )" +
                            node("v", "mul.Tensor", "\"y\", \"s\"");
  EXPECT_EQ(fact_of(inputs, nodes, "y").terms, 1);
  EXPECT_EQ(fact_of(inputs, nodes, "v").terms, 4096);
  EXPECT_EQ(fact_of(inputs, nodes, "v").nearest_terms, 1);
  EXPECT_EQ(fact_of(inputs, nodes, "s").nearest_terms, 4096);
  EXPECT_EQ(fact_of(inputs, nodes, "z").nearest_terms, 4096);
  EXPECT_EQ(fact_of(inputs, nodes, "x").nearest_terms, 1);
}

}  // namespace
}  // namespace cudal1
