// A program behind the C++ interface of a package (python/cudal1_exported/cpp/cudal1_model.hpp): with LibTorch for
// those that have library steps, without it for all others.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "graph/safetensors.hpp"
#include "package/package.hpp"

namespace cudal1 {

class ModelPlan {
 public:
  virtual ~ModelPlan() = default;
  //! `find` gives a weight by its name, or throws. Waits until they are prepared.
  virtual void bind(const std::function<const StoredTensor&(const PackagedLeaf&)>& find) = 0;
  //! As the package lists inputs and the plan its outputs.
  virtual void run(const void* const* inputs, void* const* outputs, void* stream) = 0;
};

//! Which of the two is made depends on what was linked. `device`: a GPU's number; -1: the host. Throws Error.
std::unique_ptr<ModelPlan> make_model_plan(PackagedProgram& program, int device);

}  // namespace cudal1
