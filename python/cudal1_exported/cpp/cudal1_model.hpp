// An exported package from C++: needs this header, libcudal1_model.so from beside it and the NVIDIA driver. Where the
// package's program has library steps (package.json says so, and so does CMakeLists.txt), the library needs LibTorch too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cudal1 {

struct ModelTensor {
  std::string name;
  std::string dtype;                         //!< "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "bool"
  std::vector<std::int64_t> sizes, strides;  //!< strides in elements
  std::size_t bytes = 0;                     //!< from the first element to the end of the last one
};

//! A program of the package with its weights. Everything throws std::runtime_error, with one line that says what to do.
class __attribute__((visibility("default"))) Model {
 public:
  static constexpr int on_host = -1;

  //! `package`: the exported folder. `device`: a GPU's number, or on_host for programs of library steps only. `program`:
  //! one of program_count(), where the package was exported for several sizes.
  explicit Model(const std::string& package, int device = 0, std::size_t program = 0);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  static std::size_t program_count(const std::string& package);
  const std::vector<ModelTensor>& inputs() const;
  const std::vector<ModelTensor>& outputs() const;

  //! A safetensors file with the module's state_dict (save_weights of the Python package writes one). Without this
  //! call, weights are those of cpp/weights.safetensors: as the module's constructor made them when it was exported.
  void load_weights(const std::string& file);

  //! One call, enqueued on `stream` (a cudaStream_t or CUstream; on the host: done when it returns). Pointers are to
  //! device memory, aligned to 16 bytes, laid out as inputs() and outputs() say. Calls of several threads come one
  //! after the other.
  void run(const void* const* inputs, void* const* outputs, void* stream = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cudal1
