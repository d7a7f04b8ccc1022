// The executable form of a program for one task: which buffers exist and what runs in which order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "graph/op_graph.hpp"

namespace cudal1 {

enum class BufferRole {
  input,         //!< written by the judge before each call
  weight,        //!< constant during a call
  state,         //!< reset before each call, compared after it
  output,        //!< holds a result of the task
  intermediate,  //!< a value of the graph that only steps read
  scratch,       //!< declared by `buffer`; poisoned before each call
  prepared,      //!< declared by `buffer` and written by `prepare`; constant during a call
};

//! Holds nothing before a call: poisoned, and filled by the call itself.
constexpr bool is_written_by_call(BufferRole role) {
  return role == BufferRole::output || role == BufferRole::scratch || role == BufferRole::intermediate;
}

//! One piece of memory. Views share the buffer of their base.
struct Buffer {
  std::string name;
  BufferRole role = BufferRole::scratch;
  TensorMeta meta;
  bool zero = false;             //!< set to zero at the start of every call (prepared: before every prepare)
  bool allocated_by_op = false;  //!< an `op` step makes it, so it has no address before the call
};

//! A tensor inside a buffer.
struct TensorRef {
  int buffer = -1;
  std::int64_t byte_offset = 0;
  TensorMeta meta;
};

//! A number handed to a kernel, as the bits that go into the parameter.
struct ScalarArgument {
  std::string type;  //!< "i32", "u32", "i64", "u64", "f32", "f64"
  std::uint64_t bits = 0;
  int size_bytes = 4;
};

using KernelArgument = std::variant<TensorRef, ScalarArgument>;
using Dim3 = std::array<std::int64_t, 3>;

struct LaunchStep {
  std::string kernel;  //!< as written, e.g. "row_softmax<256>"
  Dim3 grid{1, 1, 1};
  Dim3 block{1, 1, 1};
  std::optional<Dim3> cluster;
  std::int64_t shared_bytes = 0;
  std::vector<KernelArgument> args;
  SourcePosition at;
};

//! A node of the graph run by the library. Its arguments refer to Plan::values.
struct OpStep {
  Node node;
};

//! Sets a `zero` buffer to zero; part of the timed call.
struct ZeroStep {
  int buffer = -1;
};

using Step = std::variant<LaunchStep, OpStep, ZeroStep>;

//! Where a step runs inside a CUDA Graph with branches: after the one before it on the same branch, and after these.
struct BranchStep {
  int branch = 0;
  std::vector<std::size_t> waits_for;  //!< earlier steps on other branches, ascending
};

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<TensorRef> values;  //!< by ValueId of the task; buffer -1 where no step or output needs the value
  std::vector<Step> prepare;
  std::vector<Step> call;
  std::vector<ValueId> outputs;  //!< the task's outputs, in order
  bool cuda_graph = false;
  std::vector<BranchStep> branches;  //!< by step of a call that is a CUDA Graph; empty: one after the other
  std::vector<std::string> kernels;  //!< distinct names, in order of first use
  std::string code;                  //!< the program text: what the compiler gets; empty if there are no kernels
  std::string hash;                  //!< identifies what will run: steps, buffers and code without comments

  bool has_op_steps() const;  //!< of a call, or of preparing
  bool has_launches() const;
};

//! Indices of the buffers that a step reads or writes, through any view; in order, each once.
std::vector<int> buffers_of(const Plan& plan, const Step& step);

//! Is this all of its buffer?
bool is_whole(const TensorRef& ref, const Buffer& buffer);

//! By buffer: the index of the last step of a call that needs it; SIZE_MAX where the task's outputs lie in it.
std::vector<std::size_t> last_uses(const Plan& plan);

nlohmann::json plan_to_json(const Plan& plan);
//! Throws Error when the JSON is not a plan.
Plan plan_from_json(const nlohmann::json& json);

//! What fp32 operands may be rounded to before tensor cores multiply them, each of these more than the one before.
enum class OperandRounding {
  none,
  tf32_in_convolutions,  //!< as PyTorch's own flags have it
  tf32,
  bf16,
};

struct ProgramLimits {
  //! Directives that somebody else carries out; none is left in the text, but messages name them.
  std::vector<std::string> other_directives = {};
  std::size_t max_text_bytes = std::size_t{4} << 20;
  OperandRounding rounding = OperandRounding::tf32_in_convolutions;
};

//! Program text -> Plan. The graph must have metas for all its values (infer_metas).
Result<Plan> make_plan(const OpGraph& graph, std::string_view program_text, const ProgramLimits& limits = {});

}  // namespace cudal1
