// What techniques say of themselves is complete, and their examples work.
#include "writer/technique_manual.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/result.hpp"
#include "technique_harness.hpp"

namespace cudal1::testing {
namespace {

TaskText matrix() {
  TaskText task;
  task.input("x", {6, 8}).weight("w", {8});
  return task;
}

TaskText images() {
  TaskText task;
  task.input("x", {2, 4, 9, 9}).weight("w", {4, 1, 3, 3}).weight("b", {4});
  for (const char* name : {"scale", "shift", "mean", "variance"})
    task.weight(name, {4}, {{"draw", {{"kind", "uniform"}, {"low", 0.5}, {"high", 1.5}}}});
  return task;
}

//! For each technique a task that its example is for.
std::map<std::string, std::function<TaskText()>> sample_tasks() {
  return {
      {"pointwise",
       [] {
         return matrix()
             .node("add_1", "aten::add.Tensor", {"x", "w"})
             .node("relu_1", "aten::relu", {"add_1"})
             .node("mul_1", "aten::mul.Tensor", {"relu_1", "x"})
             .output("mul_1");
       }},
      {"rows",
       [] {
         return matrix()
             .node("mul_1", "aten::mul.Tensor", {"x", "w"})
             .node("softmax_1", "aten::softmax.int", {"mul_1", -1})
             .output("softmax_1");
       }},
      {"scan",
       [] {
         return matrix()
             .node("mul_1", "aten::mul.Tensor", {"x", "w"})
             .node("cumsum_1", "aten::cumsum", {"mul_1", -1})
             .output("cumsum_1");
       }},
      {"matmul",
       [] {
         return TaskText()
             .input("x", {64, 40})
             .weight("w", {48, 40})
             .node("linear_1", "aten::linear", {"x", "w"})
             .node("gelu_1", "aten::gelu", {"linear_1"})
             .output("gelu_1");
       }},
      {"matmul_rows",
       [] {
         return TaskText()
             .input("x", {64, 40})
             .weight("w", {48, 40})
             .node("linear_1", "aten::linear", {"x", "w"})
             .node("gelu_1", "aten::gelu", {"linear_1"})
             .node("sum_1", "aten::sum.dim_IntList", {"gelu_1", nlohmann::json::array({1})})
             .output("sum_1");
       }},
      {"pooling",
       [] {
         return images()
             .node("relu_1", "aten::relu", {"x"})
             .node("max_pool2d_1", "aten::max_pool2d", {"relu_1", {3, 3}, {2, 2}})
             .node("mul_1", "aten::mul.Scalar", {"max_pool2d_1", 2.0})
             .output("mul_1");
       }},
      {"convolution",
       [] {
         return TaskText()
             .input("x", {2, 4, 3, 3, 3})
             .weight("w", {4, 16, 3, 3, 3})
             .weight("b", {16, 1, 1, 1})
             .node("conv_transpose3d_1", "aten::conv_transpose3d.input", {"x", "w", nullptr, {2, 2, 2}, {1, 1, 1}})
             .node("add_1", "aten::add.Tensor", {"conv_transpose3d_1", "b"})
             .node("hardswish_1", "aten::hardswish", {"add_1"})
             .output("hardswish_1");
       }},
      {"depthwise",
       [] {
         return images()
             .node("conv2d_1", "aten::conv2d", {"x", "w", "b", {1, 1}, {1, 1}, {1, 1}, 4})
             .node("batch_norm_1", "aten::batch_norm",
                   {"conv2d_1", "scale", "shift", "mean", "variance", false, 0.1, 1e-5, true})
             .node("relu6_1", "aten::relu6", {"batch_norm_1"})
             .output("relu6_1");
       }},
      {"fold",
       [] {
         return images()
             .node("conv2d_1", "aten::conv2d", {"x", "w", "b", {1, 1}, {1, 1}, {1, 1}, 4})
             .node("batch_norm_1", "aten::batch_norm",
                   {"conv2d_1", "scale", "shift", "mean", "variance", false, 0.1, 1e-5, true})
             .output("batch_norm_1");
       }},
      {"hoist",
       [] {
         return TaskText()
             .input("x", {6, 8})
             .weight("w", {5, 8})
             .node("mul_1", "aten::mul.Scalar", {"w", 2.0})
             .node("exp_1", "aten::exp", {"w"})
             .node("add_1", "aten::add.Tensor", {"mul_1", "exp_1"})
             .node("linear_1", "aten::linear", {"x", "add_1"})
             .output("linear_1");
       }},
      {"layout",
       [] {
         return images()
             .weight("w2", {8, 4, 3, 3})
             .node("conv2d_1", "aten::conv2d", {"x", "w", "b", {1, 1}, {1, 1}, {1, 1}, 4})
             .node("relu_1", "aten::relu", {"conv2d_1"})
             .node("conv2d_2", "aten::conv2d", {"relu_1", "w2"})
             .output("conv2d_2");
       }},
      {"merge",
       [] {
         return TaskText()
             .input("x", {6, 8})
             .weight("w", {8, 8})
             .weight("w2", {8, 8})
             .node("linear_1", "aten::linear", {"x", "w"})
             .node("linear_2", "aten::linear", {"linear_1", "w2"})
             .output("linear_2");
       }},
      {"commute",
       [] {
         return TaskText()
             .input("x", {2, 6, 8})
             .weight("w", {8, 8})
             .node("linear_1", "aten::linear", {"x", "w"})
             .node("mean_1", "aten::mean.dim", {"linear_1", nlohmann::json::array({1}), false})
             .node("relu_1", "aten::relu", {"mean_1"})
             .output("relu_1");
       }},
      {"simplify",
       [] {
         return TaskText()
             .input("v", {6})
             .input("b", {6, 8})
             .node("diag_1", "aten::diag", {"v"})
             .node("mm_1", "aten::mm", {"diag_1", "b"})
             .output("mm_1");
       }},
      {"drop",
       [] {
         return matrix()
             .node("mul_1", "aten::mul.Scalar", {"x", 1.0})
             .node("relu_1", "aten::relu", {"mul_1"})
             .node("relu_2", "aten::relu", {"relu_1"})
             .node("add_1", "aten::add.Tensor", {"relu_2", "w"})
             .output("add_1");
       }},
      {"share",
       [] {
         return matrix()
             .node("exp_1", "aten::exp", {"x"})
             .node("exp_2", "aten::exp", {"x"})
             .node("add_1", "aten::add.Tensor", {"exp_1", "exp_2"})
             .output("add_1");
       }},
      {"split",
       [] {
         return images()
             .node("conv2d_1", "aten::conv2d", {"x", "w", "b", {1, 1}, {1, 1}, {1, 1}, 4})
             .node("relu_1", "aten::relu", {"conv2d_1"})
             .output("relu_1");
       }},
  };
}

TEST(TechniqueManual, EveryTechniqueSaysWhatItDoesAndWhenItHelpsAndHurts) {
  std::set<std::string> names;
  for (const Technique* technique : all_techniques()) {
    const TechniqueDescription& described = technique->description();
    EXPECT_TRUE(names.insert(described.name).second) << described.name << " is the name of two techniques";
    for (const std::string& text : {described.what, described.helps, described.hurts})
      EXPECT_TRUE(!text.empty() && text.back() == '.') << described.name << ": '" << text << "' is no sentence";
  }
  EXPECT_FALSE(names.empty());
}

TEST(TechniqueManual, EveryParameterSaysWhatItIsAndHasDifferentChoices) {
  for (const Technique* technique : all_techniques())
    for (const Parameter& parameter : technique->description().parameters) {
      const std::set<std::string> different(parameter.choices.begin(), parameter.choices.end());
      EXPECT_FALSE(parameter.what.empty()) << parameter.name;
      EXPECT_GE(different.size(), 2u) << parameter.name;
      EXPECT_EQ(different.size(), parameter.choices.size()) << parameter.name;
    }
}

TEST(TechniqueManual, EveryExampleIsALineOfItsTechnique) {
  const auto tasks = sample_tasks();
  for (const Technique* technique : all_techniques()) {
    const TechniqueDescription& described = technique->description();
    SCOPED_TRACE(described.name + ": " + described.example);
    EXPECT_TRUE((described.example + " ").starts_with(described.directive + " "));
    const auto task = tasks.find(described.name);
    ASSERT_NE(task, tasks.end()) << "add a task to sample_tasks() that the example is for";
    const Verdict verdict = planned(task->second(), "//! " + described.example + "\n");
    EXPECT_EQ(verdict.status, "ok") << verdict.message;
    EXPECT_EQ(verdict.techniques, std::vector<std::string>{described.name});
  }
}

TEST(TechniqueManual, NamesChooseTechniquesAndUnknownOnesAreRefused) {
  EXPECT_EQ(techniques_named({}), all_techniques());
  EXPECT_EQ(techniques_named({"rows"}).size(), 1u);
  try {
    techniques_named({"rovs"});
    FAIL() << "there is no technique of this name";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'rows'?"), std::string::npos) << error.what();
  }
}

TEST(TechniqueManual, TheListingFitsATerminal) {
  const std::string listing = techniques_listing(all_techniques());
  for (std::size_t begin = 0; begin < listing.size();) {
    const std::size_t end = listing.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(end - begin, 100u) << listing.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(TechniqueManual, JsonHasEveryParameterWithItsDefault) {
  const auto json = techniques_json(techniques_named({"pointwise"})).at("techniques").at(0);
  EXPECT_EQ(json.at("name"), "pointwise");
  EXPECT_EQ(json.at("directive"), "fuse");
  EXPECT_EQ(json.at("parameters").at(0).at("default"), json.at("parameters").at(0).at("choices").at(0));
}

}  // namespace
}  // namespace cudal1::testing
