// The names a directive may use: the task's values and the buffers declared above it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/op_graph.hpp"
#include "program/directive_tokens.hpp"

namespace cudal1 {

struct BufferDirective {
  std::string name;
  TensorMeta meta;
  bool zero = false;
  SourcePosition at;
};

//! A tensor that a directive names: a value of the task, or a declared buffer.
struct TensorTerm {
  std::string name;
  ValueId value = -1;
  int buffer = -1;  //!< index of the BufferDirective
  TensorMeta meta;
};

class TensorScope {
 public:
  explicit TensorScope(const OpGraph& graph);

  //! Buffers that some line declares; naming one above that line gets a message of its own.
  void announce_buffer(std::string_view name, int line) { announced_.emplace(name, line); }
  //! Throws Rejection when the name is taken.
  void declare(BufferDirective buffer);
  const std::deque<BufferDirective>& buffers() const { return buffers_; }

  //! Reads `x`, `"fc.weight"` or `max_1[1]` at the cursor. Throws Rejection when there is no such tensor.
  TensorTerm read_tensor(TokenCursor& cursor) const;

 private:
  std::vector<std::string> all_names() const;
  [[noreturn]] void reject_unknown(const std::string& name, const DirectiveToken& token,
                                   const TokenCursor& cursor) const;

  const OpGraph& graph_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<std::string, int> buffer_indices_;
  std::unordered_map<std::string, int> announced_;
  std::deque<BufferDirective> buffers_;
};

//! Names that expressions give a meaning of their own: functions and scalar types.
bool is_reserved_name(std::string_view name);

}  // namespace cudal1
