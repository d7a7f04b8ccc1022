#include <fmt/format.h>

#include <filesystem>
#include <mutex>

#include "cudal1_model.hpp"
#include "package/model_plan.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

ModelTensor described(const std::string& name, const TensorMeta& meta) {
  return {name, std::string(to_string(meta.dtype)), meta.sizes, meta.strides,
          static_cast<std::size_t>(meta.span_bytes())};
}

//! The module's own weights, and the constants that belong to the program.
class Weights {
 public:
  Weights(const fs::path& file, const fs::path& constants) {
    if (fs::exists(constants)) files_.push_back(std::make_unique<SafetensorsFile>(constants));
    if (fs::exists(file)) files_.push_back(std::make_unique<SafetensorsFile>(file));
  }

  const StoredTensor& find(const PackagedLeaf& leaf, const fs::path& file) const {
    for (const auto& stored : files_)
      if (const StoredTensor* found = stored->find(leaf.name)) {
        if (found->meta.dtype == leaf.meta.dtype && found->meta.sizes == leaf.meta.sizes) return *found;
        throw Error(fmt::format("{}: {} is {}, and the program was made for {}", file.string(), leaf.name,
                                to_string(found->meta), to_string(leaf.meta)));
      }
    throw Error(fmt::format("{} has no weight {}: save_weights of the Python package writes such a file", file.string(),
                            leaf.name));
  }

 private:
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
};

}  // namespace

struct Model::State {
  fs::path folder;
  std::shared_ptr<Package> package;
  PackagedProgram& program;
  std::unique_ptr<ModelPlan> plan;
  std::vector<ModelTensor> inputs, outputs;
  bool is_bound = false;
  std::mutex mutex;

  void bind(const fs::path& file) {
    const Weights weights(file, folder / program.packaged.folder / "constants.safetensors");
    is_bound = false;
    plan->bind([&](const PackagedLeaf& leaf) -> const StoredTensor& { return weights.find(leaf, file); });
    is_bound = true;
  }
};

Model::Model(const std::string& package, int device, std::size_t program) {
  auto opened = open_package(package);
  if (program >= opened->programs.size())
    throw Error(fmt::format("{} has {} programs, and none with number {}", package, opened->programs.size(), program));
  PackagedProgram& chosen = *opened->programs[program];
  state_.reset(new State{package, opened, chosen, make_model_plan(chosen, device), {}, {}, false, {}});
  for (const PackagedLeaf& leaf : chosen.packaged.inputs) state_->inputs.push_back(described(leaf.name, leaf.meta));
  for (const ValueId id : chosen.packaged.plan.outputs) {
    const std::string name = fmt::format("output_{}", state_->outputs.size());
    state_->outputs.push_back(described(name, chosen.packaged.plan.values[static_cast<std::size_t>(id)].meta));
  }
}

Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

std::size_t Model::program_count(const std::string& package) { return open_package(package)->programs.size(); }
const std::vector<ModelTensor>& Model::inputs() const { return state_->inputs; }
const std::vector<ModelTensor>& Model::outputs() const { return state_->outputs; }

void Model::load_weights(const std::string& file) {
  if (!fs::exists(file)) throw Error(fmt::format("{} is not there", file));
  const std::lock_guard lock(state_->mutex);
  state_->bind(file);
}

void Model::run(const void* const* inputs, void* const* outputs, void* stream) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->is_bound) state_->bind(state_->folder / "cpp/weights.safetensors");
  state_->plan->run(inputs, outputs, stream);
}

}  // namespace cudal1
