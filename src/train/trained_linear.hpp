// Linear layers with gradients by hand: of weights, or of the adapter beside them.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/transformer/transformer.hpp"

namespace cudal1 {

//! Gradients of named parameters in fp32, one after the other in one tensor, so that one kernel clears or scales them.
//! Each parameter has its part as its gradient.
class GradientStore {
 public:
  explicit GradientStore(std::vector<std::pair<std::string, at::Tensor>> parameters);
  const std::map<std::string, at::Tensor>& parameters() const { return parameters_; }
  const at::Tensor& all() const { return all_; }
  //! Undefined where there is none of this name. Of names that follow each other, all rows: (rows of all, ...).
  at::Tensor of(const std::vector<std::string>& names) const;
  at::Tensor of(const std::string& name) const { return of(std::vector<std::string>{name}); }

 private:
  std::map<std::string, at::Tensor> parameters_;
  std::map<std::string, std::int64_t> offsets_;
  at::Tensor all_;
};

//! The matrices of an adapter, laid one after the other in fp32, where they go on being what is trained, and a rounded
//! copy to compute with.
class TrainedAdapter {
 public:
  //! `groups`: all linear layers, those of one input together.
  TrainedAdapter(Transformer& model, const std::string& name, const std::vector<std::vector<std::string>>& groups);
  //! Rounds again what has been trained.
  void refresh();
  float scale() const { return scale_; }
  const std::vector<std::pair<std::string, at::Tensor>>& parameters() const { return parameters_; }
  //! The rounded copy of parameters that follow each other: (rows of all, ...); undefined where there are none.
  at::Tensor rounded(const std::vector<std::string>& names) const;

 private:
  float scale_ = 1.0F;
  std::vector<std::pair<std::string, at::Tensor>> parameters_;
  std::map<std::string, std::int64_t> offsets_;
  at::Tensor values_, rounded_;  //!< the same tensor where the model computes in fp32
};

//! Linear layers of the same input, computed as one: y = x W^T + bias + scale (x A^T) B^T.
class TrainedLinear {
 public:
  //! Lays the rows of their weights side by side in memory; the model goes on using them. `adapter` may be null.
  TrainedLinear(const Transformer& model, const std::vector<std::string>& layers, const GradientStore& gradients,
                const TrainedAdapter* adapter);

  //! x (T, in) -> (T, out of all). `inner` becomes x A^T, where there is an adapter.
  at::Tensor forward(const at::Tensor& x, at::Tensor& inner) const;
  //! Adds to the gradients of what is trained; returns that of x.
  at::Tensor backward(const at::Tensor& out_gradient, const at::Tensor& x, const at::Tensor& inner) const;

 private:
  //! One layer's part of an adapter.
  struct Part {
    std::int64_t first_row = 0;  //!< of the layers' outputs
    at::Tensor b;                //!< (out, rank)
    at::Tensor b_gradient;
  };
  void add_adapter(const TrainedAdapter& adapter, const std::vector<std::string>& layers,
                   const std::vector<std::int64_t>& first_rows, const GradientStore& gradients);
  void adapter_backward(const at::Tensor& out_gradient, const at::Tensor& x, const at::Tensor& inner,
                        const at::Tensor& x_gradient) const;

  at::Tensor weight_, bias_;  //!< (out of all, in), (out of all)
  at::Tensor weight_gradient_, bias_gradient_;
  double scale_ = 1.0;
  std::int64_t rank_ = 0;
  std::vector<Part> parts_;  //!< layers that the adapter has
  at::Tensor a_;             //!< (parts * rank, in)
  at::Tensor a_gradient_;
};

}  // namespace cudal1
