// A PyTorch module under description: leaves, layers and statements. Its Python text (module_text.hpp) and its task
// (module_graph.hpp) are two ways to write down the same description, so that they cannot disagree.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/task.hpp"

namespace cudal1 {

using Shape = std::vector<std::int64_t>;

//! What can be said of a tensor's numbers, so that no line is drawn that would make a constant of them, as relu does of
//! negative ones.
enum class NumberRange {
  both_signs,  //!< about as large as one
  one_sign,    //!< neither too large nor too small, but perhaps all positive or all negative
  far,         //!< perhaps all very small or all large, as probabilities and sums are
};

//! A tensor of the module: an input, a parameter or the result of a statement.
struct ModuleValue {
  int id = -1;
  std::string name;  //!< as in the graph: "x", "scale", "linear_1", "chunk_1[1]"
  Shape sizes;
  NumberRange range = NumberRange::both_signs;
};

struct ModuleLeaf {
  std::string name;  //!< "x", "scale", "linear1.weight"
  DType dtype = DType::f32;
  Shape sizes;
  Draw draw;
};

//! One of torch.nn that the constructor makes.
struct ModuleLayer {
  std::string attribute;    //!< "linear1"
  std::string constructor;  //!< "nn.Linear(features, hidden)"
  std::vector<ModuleLeaf> weights, states;
};

//! One line of `forward` and the nodes that the exporter makes of it.
struct ModuleStatement {
  std::string python;  //!< "{0} + {1}": what it reads, by place
  std::vector<int> reads, results;
  std::vector<nlohmann::ordered_json> nodes;
};

//! A size that the file gives a name to, and that the constructor may take.
struct NamedSize {
  std::string name;
  std::int64_t value = 0;
  bool only_inputs = false;  //!< nothing is constructed with it
  bool constructs = false;   //!< a layer or a parameter is made with it
};

class Module {
 public:
  //! Before what is made with it. A size that has a name already keeps that one.
  void name_size(const std::string& name, std::int64_t value);
  //! A size that only inputs have, such as that of a batch.
  void name_extent(const std::string& name, std::int64_t value);

  ModuleValue input(const std::string& name, Shape sizes, Draw draw = {});
  //! A parameter of the module itself, drawn as torch.randn draws.
  ModuleValue parameter(const std::string& name, Shape sizes);
  //! A layer of torch.nn; its attribute is called after its kind ("linear1"), which its weights take as their prefix.
  const ModuleLayer& layer(const std::string& kind, const std::string& constructor, std::vector<ModuleLeaf> weights,
                           std::vector<ModuleLeaf> states = {});
  //! Of a constructor's argument: its name where it has one.
  std::string size_text(std::int64_t value);

  //! A node of the statement that comes next. Named as the bridge names them: the n-th of its operator.
  std::string node(const std::string& op, nlohmann::ordered_json args, nlohmann::ordered_json kwargs = {},
                   const std::vector<std::string>& writes_state = {});
  //! Ends the line. Results are named after what `node` gave.
  ModuleValue statement(const std::string& python, const std::vector<ModuleValue>& reads, const std::string& result,
                        Shape sizes);
  std::vector<ModuleValue> statement(const std::string& python, const std::vector<ModuleValue>& reads,
                                     const std::vector<std::pair<std::string, Shape>>& results);
  void output(const ModuleValue& value) { outputs_.push_back(value.id); }

  bool is_read(const ModuleValue& value) const;
  std::size_t node_count() const;

  const std::vector<NamedSize>& sizes() const { return sizes_; }
  const std::vector<ModuleLeaf>& inputs() const { return inputs_; }
  const std::vector<ModuleLeaf>& parameters() const { return parameters_; }
  const std::vector<ModuleLayer>& layers() const { return layers_; }
  const std::vector<ModuleStatement>& statements() const { return statements_; }
  const std::vector<int>& outputs() const { return outputs_; }
  const std::vector<ModuleValue>& values() const { return values_; }

 private:
  ModuleValue add_value(const std::string& name, Shape sizes);

  std::vector<NamedSize> sizes_;
  std::vector<ModuleLeaf> inputs_, parameters_;
  std::vector<ModuleLayer> layers_;
  std::vector<ModuleStatement> statements_;
  std::vector<nlohmann::ordered_json> pending_;
  std::vector<ModuleValue> values_;
  std::vector<int> outputs_;
  std::vector<std::pair<std::string, int>> counts_;  //!< of nodes and layers by kind
};

}  // namespace cudal1
