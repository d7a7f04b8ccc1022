// What tests of techniques share: a small task and a program go in, the real judge's verdict comes out. No LibTorch
// here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op_graph.hpp"

namespace cudal1::testing {

//! A graph.json in few words:
//!   TaskText task;
//!   task.input("x", {3, 5}).weight("w", {5}).node("add_1", "aten::add.Tensor", {"x", "w"}).output("add_1");
class TaskText {
 public:
  TaskText();
  //! Drawn from a normal distribution; `more` adds to or replaces keys of the leaf, such as "strides" or "draw".
  TaskText& input(const std::string& name, const std::vector<std::int64_t>& shape, const nlohmann::json& more = {});
  TaskText& weight(const std::string& name, const std::vector<std::int64_t>& shape, const nlohmann::json& more = {});
  TaskText& state(const std::string& name, const std::vector<std::int64_t>& shape, const nlohmann::json& more = {});
  //! Arguments as in graph.json; `more` adds keys such as "kwargs" or "writes_state".
  TaskText& node(const std::string& name, const std::string& op, const nlohmann::json& args,
                 const nlohmann::json& more = {});
  TaskText& output(const std::string& name);
  const nlohmann::json& json() const { return graph_; }

 private:
  TaskText& leaf(const char* kind, const std::string& name, const std::vector<std::int64_t>& shape,
                 const nlohmann::json& more);
  nlohmann::json graph_;
};

struct Verdict {
  std::string status;   //!< "ok", "wrong_result", "plan_error" …
  std::string message;  //!< why it is not ok
  int line = 0;
  std::string code;                     //!< what the writer made of the program
  std::vector<std::string> prepared;    //!< steps that run when weights change
  std::vector<std::string> steps;       //!< of a call, in order: "launch NAME", "op NODE", "zero BUFFER"
  std::vector<std::string> techniques;  //!< names of those that were applied
};

//! Which precision the evaluation declares (`eval --precision`), for the reference as well as the program.
enum class Declared { standard, strict, tf32, paper };

//! Verified, not timed: on the virtual GPU, or, where CUDAL1_TEST_DEVICE=cuda, on the GPU.
Verdict judged(const TaskText& task, const std::string& program, Declared precision = Declared::standard);

//! The same where the virtual GPU's compiler contracts products and sums, as NVRTC does on the GPU.
Verdict judged_contracted(const TaskText& task, const std::string& program);

//! With metas.
OpGraph graph_of(const TaskText& task);

//! Planned only; nothing runs.
Verdict planned(const TaskText& task, const std::string& program);

//! "compiled", or what NVRTC says of what the writer makes of the program; `target`: "sm_90". Needs no GPU.
std::string compiled_for(const TaskText& task, const std::string& program, const std::string& target,
                         Declared precision = Declared::standard);
//! Why that cannot be asked here; empty: it can.
std::string why_no_nvrtc();

//! Is that the device of `judged`?
bool is_on_gpu();

//! Why `judged` cannot run here; empty: it can. For GTEST_SKIP.
std::string why_no_device();

}  // namespace cudal1::testing

//! The program must be right for the task.
#define EXPECT_RIGHT(task, program) EXPECT_RIGHT_WITH(task, program, ::cudal1::testing::Declared::standard)
#define EXPECT_RIGHT_WITH(task, program, precision)                                                     \
  do {                                                                                                  \
    const auto verdict_ = ::cudal1::testing::judged(task, program, precision);                          \
    EXPECT_EQ(verdict_.status, "ok") << verdict_.message << "\n" << (program) << "\n" << verdict_.code; \
  } while (false)

//! The program must be right although products go into sums without being rounded.
#define EXPECT_RIGHT_CONTRACTED(task, program)                                                          \
  do {                                                                                                  \
    const auto verdict_ = ::cudal1::testing::judged_contracted(task, program);                          \
    EXPECT_EQ(verdict_.status, "ok") << verdict_.message << "\n" << (program) << "\n" << verdict_.code; \
  } while (false)

//! The program must be refused before anything is compiled, with these words in the message.
#define EXPECT_REFUSED(task, program, words)                                                                   \
  do {                                                                                                         \
    const auto verdict_ = ::cudal1::testing::planned(task, program);                                           \
    EXPECT_NE(verdict_.status, "ok") << (program) << "\n" << verdict_.code;                                    \
    EXPECT_NE(verdict_.message.find(words), std::string::npos) << verdict_.status << ": " << verdict_.message; \
    EXPECT_GT(verdict_.line, 0);                                                                               \
  } while (false)
