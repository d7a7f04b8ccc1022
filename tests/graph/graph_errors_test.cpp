// Every way a graph.json can be wrong, with the message a person gets.
#include <gtest/gtest.h>

#include "task_text.hpp"

namespace cudal1 {
namespace {

using testing::message_of;
using testing::one_input;
using testing::task_text;
using testing::TestFolder;

const std::string relu = R"({"name": "n", "op": "aten::relu", "args": ["x"]})";

std::string refusal(const std::string& text) {
  return message_of([&] { parse_task(text, {}); });
}

std::string refusal_of_input(const std::string& entry) {
  return refusal(task_text(R"("inputs": [)" + entry + "]", relu, R"("n")"));
}

std::string refusal_of_nodes(const std::string& nodes, const std::string& outputs = R"("n")") {
  return refusal(task_text(one_input("f32", "[2, 3]"), nodes, outputs));
}

TEST(GraphErrors, ARightTaskIsNotRefused) { EXPECT_EQ(refusal_of_nodes(relu), ""); }

TEST(GraphErrors, MissingFileIsNamed) {
  const TestFolder folder;
  const std::string message = message_of([&] { load_task(folder.path() / "nowhere"); });
  EXPECT_NE(message.find("nowhere"), std::string::npos) << message;
  EXPECT_NE(message_of([&] { load_task(folder.path()); }).find("graph.json"), std::string::npos);
}

TEST(GraphErrors, LoadedFilesAreNamedWithTheirPath) {
  const TestFolder folder;
  folder.write("mine.json", "{}");
  const std::string message = message_of([&] { load_task(folder.path() / "mine.json"); });
  EXPECT_EQ(message, (folder.path() / "mine.json").string() + ": the key \"format\" is missing");
}

TEST(GraphErrors, BrokenJsonHasLineAndColumn) {
  const std::string message = refusal("{\n  \"format\": cudal1\n}");
  EXPECT_TRUE(message.starts_with("graph.json:2:13: broken JSON: ")) << message;
  EXPECT_TRUE(refusal("").starts_with("graph.json:1:1: broken JSON: ")) << refusal("");
  EXPECT_NE(refusal(std::string("\xff\xfe\0\1", 4)).find("broken JSON"), std::string::npos);
  EXPECT_NE(refusal("{\"a\": 1e999}").find("broken JSON"), std::string::npos);
  EXPECT_EQ(refusal("{\n  \"format\": cudal1\n}").find('\n'), std::string::npos);
}

TEST(GraphErrors, DuplicateKeysAndDeepNestingAreRefused) {
  EXPECT_EQ(refusal(R"({"format": "a", "format": "b"})"), "graph.json: the key \"format\" appears twice in one object");
  EXPECT_EQ(refusal(std::string(100000, '[')), "graph.json: nested deeper than 32 levels");
}

TEST(GraphErrors, WrongFormatAndVersion) {
  EXPECT_EQ(refusal("[]"), "graph.json: expected an object");
  EXPECT_EQ(refusal(R"({"format": "onnx"})"), "graph.json: format: expected \"cudal1.graph\"");
  EXPECT_EQ(refusal(R"({"format": "cudal1.graph", "version": 7})"),
            "graph.json: version: version 7; this build reads 1");
}

TEST(GraphErrors, UnknownKeysAreTypos) {
  const std::string message = refusal(R"({"format": "cudal1.graph", "version": 1, "name": "t", "node": []})");
  EXPECT_TRUE(message.starts_with("graph.json: unknown key \"node\"; known are ")) << message;
  EXPECT_TRUE(refusal_of_nodes(R"({"name": "n", "op": "aten::relu", "arg": ["x"]})")
                  .starts_with("graph.json: nodes[0]: unknown key \"arg\""));
  EXPECT_TRUE(refusal_of_input(R"({"name": "x", "dtype": "f32", "shape": [2], "draw": {"kind": "normal", "sd": 1}})")
                  .starts_with("graph.json: inputs[0].draw: unknown key \"sd\""));
}

TEST(GraphErrors, NamesAreUniqueAndPlain) {
  EXPECT_EQ(refusal_of_nodes(relu + "," + relu), "graph.json: nodes[1].name: the name \"n\" is used twice");
  EXPECT_EQ(refusal_of_nodes(R"({"name": "x", "op": "aten::relu", "args": ["x"]})", R"("x")"),
            "graph.json: nodes[0].name: the name \"x\" is used twice");
  EXPECT_EQ(refusal_of_nodes(R"({"name": "a b", "op": "aten::relu", "args": ["x"]})"),
            "graph.json: nodes[0].name: \"a b\" is not a name: letters, digits and _, not a digit first");
  EXPECT_EQ(refusal_of_input(R"({"name": "1x", "dtype": "f32", "shape": [2], "draw": {"kind": "normal"}})"),
            "graph.json: inputs[0].name: \"1x\" is not a name: letters, digits and _, not a digit first");
}

TEST(GraphErrors, ValuesDefinedLaterOrNever) {
  EXPECT_EQ(refusal_of_nodes(R"({"name": "a", "op": "aten::relu", "args": ["n"]}, )" + relu),
            "graph.json: nodes[0].args[0]: reads \"n\", which only nodes[1] defines: nodes come in the order in which "
            "they run, without cycles");
  EXPECT_EQ(refusal_of_nodes(R"({"name": "n", "op": "aten::relu", "args": ["n"]})"),
            "graph.json: nodes[0].args[0]: reads \"n\", which only nodes[0] defines: nodes come in the order in which "
            "they run, without cycles");
  EXPECT_EQ(refusal_of_nodes(R"({"name": "n", "op": "aten::cat", "args": [["x", "y"]]})"),
            "graph.json: nodes[0].args[0][1]: no value is called \"y\"");
  EXPECT_EQ(refusal_of_nodes(R"({"name": "n", "op": "aten::relu", "args": ["x[1]"]})"),
            "graph.json: nodes[0].args[0]: no value is called \"x[1]\"");
  EXPECT_EQ(refusal_of_nodes(relu, R"("m")"), "graph.json: outputs[0]: no value is called \"m\"");
  EXPECT_EQ(refusal_of_nodes(R"({"name": "n", "op": "aten::relu", "args": ["x"],
                               "outputs": [{"dtype": "f32", "shape": [2, 3]}]})",
                             R"("n[1]")"),
            "graph.json: outputs[0]: \"n\" has 1 outputs");
}

TEST(GraphErrors, OperatorsAreAtenAndNotInPlace) {
  EXPECT_EQ(
      refusal_of_nodes(R"({"name": "n", "op": "aten::relu_", "args": ["x"]})"),
      "graph.json: nodes[0].op: aten::relu_ works in place, which only a node may do that lists its first argument, "
      "a state, in writes_state; elsewhere a graph has plain forms (relu, not relu_)");
  EXPECT_NE(refusal_of_nodes(R"({"name": "n", "op": "aten::add_.Tensor", "args": ["x", "x"]})").find("in place"),
            std::string::npos);
  EXPECT_NE(refusal_of_nodes(R"({"name": "n", "op": "aten::__iand__.Tensor", "args": ["x", "x"]})").find("in place"),
            std::string::npos);
  EXPECT_EQ(refusal_of_nodes(R"({"name": "n", "op": "aten::__and__.Tensor", "args": ["x", "x"]})"), "");
  EXPECT_NE(refusal_of_nodes(R"({"name": "n", "op": "prim::Print", "args": ["x"]})").find("is not an operator"),
            std::string::npos);
}

TEST(GraphErrors, DtypesShapesAndStrides) {
  const auto leaf = [](const std::string& body) {
    return refusal_of_input(R"({"name": "x", "draw": {"kind": "normal"}, )" + body + "}");
  };
  EXPECT_EQ(
      leaf(R"("dtype": "float", "shape": [2])"),
      "graph.json: inputs[0].dtype: unknown dtype \"float\"; known are f32, f64, f16, bf16, i8, i16, i32, i64, u8, "
      "bool");
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [2, -3])"), "graph.json: inputs[0].shape[1]: -3 is negative");
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [2.5])"),
            "graph.json: inputs[0].shape[0]: expected an integer, found number");
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [18446744073709551615])"),
            "graph.json: inputs[0].shape[0]: 18446744073709551615 is too large");
  const std::string too_large = "graph.json: inputs[0].shape: the tensor would be larger than 2^40 bytes";
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [4294967296, 4294967296])"), too_large);
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [0, 9223372036854775807])"), too_large);
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [274877906945])"), too_large);
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [274877906944])"), "");
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [2, 3], "strides": [1])"),
            "graph.json: inputs[0].strides: 1 strides for 2 dimensions");
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [2, 3], "strides": [2, 1])"),
            "graph.json: inputs[0].strides: elements overlap in memory");
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [2, 3], "strides": [0, 1])"),
            "graph.json: inputs[0].strides: elements overlap in memory");
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [2, 3], "strides": [-3, 1])"),
            "graph.json: inputs[0].strides[0]: -3 is negative");
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [2, 3], "strides": [9223372036854775807, 1])"),
            "graph.json: inputs[0].strides: the tensor would be larger than 2^40 bytes");
  EXPECT_EQ(leaf(R"("dtype": "f32", "shape": [2, 3], "strides": [1, 2])"), "");
}

TEST(GraphErrors, Draws) {
  const auto draw = [](const std::string& dtype, const std::string& body) {
    return refusal_of_input(R"({"name": "x", "dtype": ")" + dtype + R"(", "shape": [2], "draw": )" + body + "}");
  };
  EXPECT_EQ(draw("f32", R"({"kind": "cauchy"})"),
            "graph.json: inputs[0].draw.kind: unknown draw \"cauchy\"; known are normal, uniform, integers, bernoulli, "
            "constant and, for inputs, computed");
  EXPECT_EQ(draw("f32", R"({"kind": "normal", "std": -1})"),
            "graph.json: inputs[0].draw.std: a standard deviation is not negative");
  EXPECT_EQ(draw("f32", R"({"kind": "uniform", "low": 1, "high": 1})"),
            "graph.json: inputs[0].draw: low must be below high");
  EXPECT_EQ(draw("i64", R"({"kind": "integers", "low": 3, "high": 3})"),
            "graph.json: inputs[0].draw: low must be below high (which is not drawn itself)");
  EXPECT_EQ(draw("f32", R"({"kind": "bernoulli", "p": 1.5})"),
            "graph.json: inputs[0].draw.p: a probability lies between 0 and 1");
  EXPECT_EQ(draw("i32", R"({"kind": "normal"})"),
            "graph.json: inputs[0].draw: this draw needs a floating dtype, not i32");
  EXPECT_EQ(draw("u8", R"({"kind": "integers", "low": 0, "high": 257})"),
            "graph.json: inputs[0].draw: values that u8 cannot hold");
  EXPECT_EQ(draw("bool", R"({"kind": "constant", "value": 2})"),
            "graph.json: inputs[0].draw: values that bool cannot hold");
  EXPECT_EQ(refusal_of_input(R"({"name": "x", "dtype": "f32", "shape": [2]})"),
            "graph.json: inputs[0]: expected one of \"draw\" and \"key\"");
  EXPECT_EQ(refusal_of_input(
                R"({"name": "x", "dtype": "f32", "shape": [2], "draw": {"kind": "normal"}, "exclude": ["odd"]})"),
            "graph.json: inputs[0].exclude[0]: unknown distribution \"odd\"; known are scaled, tiny, constant, spiked, "
            "negative, centred, denormal");
}

TEST(GraphErrors, Arguments) {
  const auto argument = [](const std::string& text) {
    return refusal_of_nodes(R"({"name": "n", "op": "aten::relu", "args": [)" + text + "]}");
  };
  EXPECT_EQ(argument("[1, true]"),
            "graph.json: nodes[0].args[0]: a list holds integers, numbers, booleans, or names of values and null");
  EXPECT_EQ(argument(R"({"float": "big"})"),
            "graph.json: nodes[0].args[0].float: expected \"inf\", \"-inf\" or \"nan\"");
  EXPECT_EQ(argument(R"({"dtpe": "f32"})"),
            "graph.json: nodes[0].args[0]: unknown key \"dtpe\"; known are dtype, compute");
}

TEST(GraphErrors, StateWrites) {
  const auto node = [](const std::string& writes) {
    return refusal(task_text(one_input("f32", "[2]") + R"(, "state": [
        {"name": "s", "dtype": "f32", "shape": [2], "draw": {"kind": "normal"}}])",
                             R"({"name": "n", "op": "aten::relu", "args": ["x"], "writes_state": [)" + writes + "]}",
                             R"("n")"));
  };
  EXPECT_EQ(node(R"("x")"), "graph.json: nodes[0].writes_state[0]: \"x\" is not a state");
  EXPECT_EQ(node(R"("s")"), "graph.json: nodes[0].writes_state[0]: \"s\" is not an argument of n");
}

TEST(GraphErrors, WhatWorksInPlaceGivesNoValue) {
  const std::string leaves = one_input("f32", "[2]") + R"(, "state": [{"name": "s", "dtype": "f32", "shape": [2],
      "draw": {"kind": "constant", "value": 0}}])";
  const auto refusal = [&](const std::string& more, const std::string& outputs) {
    return message_of([&] {
      parse_task(testing::task_text(leaves,
                                    R"({"name": "n", "op": "aten::add_.Tensor", "args": ["s", "x"]
                                        )" +
                                        more + "}",
                                    outputs),
                 {});
    });
  };
  EXPECT_EQ(refusal(R"(, "writes_state": ["s"])", R"("s")"), "");
  EXPECT_EQ(refusal(R"(, "writes_state": ["s"])", R"("n")"), "graph.json: outputs[0]: \"n\" has 0 outputs");
  EXPECT_EQ(refusal(R"(, "writes_state": ["s"], "outputs": [{"dtype": "f32", "shape": [2]}])", R"("s")"),
            "graph.json: nodes[0].outputs: an operator that works in place has no outputs");
}

TEST(GraphErrors, InputGraphs) {
  const auto refusal = [&](const std::string& draw, const std::string& recipe) {
    return message_of([&] {
      parse_task(testing::task_text(
                     recipe + R"("inputs": [{"name": "x", "dtype": "f32", "shape": [2], "draw": )" + draw + "}]", relu,
                     R"("n")"),
                 {});
    });
  };
  const std::string computed = R"({"kind": "computed", "output": 0})";
  const std::string recipe = R"("input_graph": {"inputs": [{"name": "a", "dtype": "f32", "shape": [2], "draw": )";
  const std::string rest = R"(}], "nodes": [{"name": "b", "op": "aten::exp", "args": ["a"]}], "outputs": ["b"]}, )";
  EXPECT_EQ(refusal(computed, recipe + R"({"kind": "normal"})" + rest), "");
  EXPECT_EQ(refusal(computed, ""), "graph.json: \"x\" is output 0 of an input_graph with 0");
  EXPECT_EQ(refusal(R"({"kind": "computed", "output": 1})", recipe + R"({"kind": "normal"})" + rest),
            "graph.json: \"x\" is output 1 of an input_graph with 1");
  EXPECT_EQ(refusal(computed, recipe + computed + rest),
            "graph.json: input_graph: its own inputs are drawn, not computed");
  EXPECT_EQ(refusal(computed, R"("input_graph": {"weights": []}, )"),
            "graph.json: input_graph: unknown key \"weights\"; known are inputs, nodes, outputs");
}

TEST(GraphErrors, EmptyGraphs) {
  EXPECT_EQ(refusal_of_nodes(""), "graph.json: nodes: a graph needs at least one node");
  EXPECT_EQ(refusal_of_nodes(relu, ""), "graph.json: outputs: a graph needs at least one output");
}

TEST(GraphErrors, WeightsFile) {
  const TestFolder folder;
  folder.write("w.safetensors",
               testing::safetensors_bytes(R"({"w": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}})", "ab"));
  const auto weights = [&](const std::string& file, const std::string& body) {
    const std::string leaves = file + R"("weights": [{"name": "w", )" + body + "}]";
    return message_of([&] {
      parse_task(task_text(leaves, R"({"name": "n", "op": "aten::neg", "args": ["w"]})", R"("n")"), folder.path());
    });
  };
  const std::string file = R"("weights_file": "w.safetensors", )";
  const std::string path = (folder.path() / "w.safetensors").string();
  const std::string graph = (folder.path() / "graph.json").string();
  EXPECT_EQ(weights(file, R"("dtype": "u8", "shape": [2], "key": "w")"), "");
  EXPECT_EQ(weights("", R"("dtype": "u8", "shape": [2], "key": "w")"),
            graph + ": \"w\" has a key, but there is no \"weights_file\"");
  EXPECT_EQ(weights(file, R"("dtype": "u8", "shape": [2], "key": "v")"), graph + ": " + path + " has no tensor \"v\"");
  EXPECT_EQ(weights(file, R"("dtype": "u8", "shape": [3], "key": "w")"),
            graph + ": \"w\" is u8[3], but " + path + " holds u8[2]");
  EXPECT_EQ(weights(R"("weights_file": "../w.safetensors", )", R"("dtype": "u8", "shape": [2], "key": "w")"),
            graph + ": weights_file: expected the name of a file beside graph.json");
  EXPECT_EQ(weights(R"("weights_file": "gone", )", R"("dtype": "u8", "shape": [2], "key": "w")"),
            (folder.path() / "gone").string() + ": No such file or directory");
}

}  // namespace
}  // namespace cudal1
