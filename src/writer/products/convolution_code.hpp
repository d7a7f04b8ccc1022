// A convolution as a matrix product, with what follows it -> a kernel.
#pragma once

#include "writer/draft.hpp"
#include "writer/products/convolution_space.hpp"

namespace cudal1 {

class ConvolutionCode {
 public:
  ConvolutionCode(const OpGraph& graph, const ConvolutionSpace& space, const ProductShape& shape, std::string name);

  WrittenGroup write() const;

 private:
  std::string kernel() const;
  std::string head() const;
  std::vector<ValueId> tensors() const;
  std::string base(const ConvolutionOperand& operand) const;
  std::string operand(const ConvolutionOperand& operand, const std::string& name, std::int64_t lines,
                      const std::string& line) const;
  std::string gathered(const ConvolutionOperand& operand, const std::string& name, std::int64_t lines,
                       const std::string& line) const;
  std::string depth_of_phase() const;
  std::string tap(const ConvolutionOperand& operand) const;
  std::string results() const;
  std::string scattered_results() const;
  std::string scattered_column() const;
  std::string scattered_element() const;
  std::int64_t interleaved() const;

  const OpGraph& graph_;
  const ConvolutionSpace& space_;
  ProductShape shape_;
  std::string name_;
  AccessCode results_;
};

}  // namespace cudal1
