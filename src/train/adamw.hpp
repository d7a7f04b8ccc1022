// AdamW (Loshchilov and Hutter, 2019) in one kernel for many parameters: ATen's fused implementation.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cudal1 {

//! Parameters that are trained alike.
struct ParameterGroup {
  std::map<std::string, at::Tensor> parameters;  //!< contiguous leaves that want gradients
  double learning_rate_factor = 1.0;             //!< times the rate of a step
  double weight_decay = 0.0;
};

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
};

class AdamW {
 public:
  //! Of parameters in bf16 or fp16, to which small steps would be lost, it trains copies in fp32 and rounds these.
  //! Throws Error for a name that comes twice, and for parameters on several devices.
  AdamW(std::vector<ParameterGroup> groups, const AdamWOptions& options);

  //! With the gradients that the parameters have; one without is left as it is. `norm`: of the gradients, where they
  //! were clipped: unless it is finite, nothing changes, and nobody waits for the device to find out.
  void step(double learning_rate, const at::Tensor& norm = {});

  //! Of all groups, those that are there: what clip_by_global_norm wants.
  std::vector<at::Tensor> gradients() const;
  void clear_gradients();

  //! Means, squares, steps and fp32 copies, so that a run which is resumed goes on as if it had not been ended; not the
  //! parameters themselves. Readers see the old file or the new one, never a part. Throws Error.
  void save(const std::filesystem::path& file) const;
  //! Throws Error in one line where the file is of other parameters; then nothing has changed.
  void load(const std::filesystem::path& file);

 private:
  struct Trained {
    std::string name;
    at::Tensor parameter;
    at::Tensor copy;          //!< in fp32; the parameter itself where it is
    at::Tensor mean, square;  //!< of the gradient, fp32
    at::Tensor steps;         //!< a number, fp32, on the device
  };
  struct Group {
    double learning_rate_factor = 1.0, weight_decay = 0.0;
    std::vector<Trained> trained;
  };
  void step(Group& group, double learning_rate, const at::Tensor& skips) const;
  //! What is kept of one parameter, by the names that the file has for it.
  static std::map<std::string, at::Tensor> state_of(const Trained& trained);
  std::map<std::string, at::Tensor> state() const;

  AdamWOptions options_;
  std::vector<Group> groups_;
};

}  // namespace cudal1
