// A matrix product with what comes before and after it -> kernels.
#pragma once

#include "writer/draft.hpp"
#include "writer/products/product_space.hpp"

namespace cudal1 {

class ProductCode {
 public:
  ProductCode(const OpGraph& graph, const ProductSpace& space, const ProductShape& shape, std::string name);

  WrittenGroup write() const;
  //! Only the kernel that leaves sums of parts of the depth; whoever adds them up knows what follows.
  WrittenGroup write_parts();

 private:
  bool is_split() const { return shape_.split > 1; }
  WrittenGroup sums() const;
  std::string product_kernel() const;
  std::string adding_kernel() const;
  WrittenLaunch product_launch() const;
  WrittenLaunch adding_launch() const;
  std::string kernel_head(const std::string& name, const std::string& bounds, bool reads_operands,
                          bool writes_results) const;
  std::string tile_sums() const;
  std::string part_stores() const;
  std::vector<ValueId> tensors(bool reads_operands, bool writes_results) const;
  std::vector<std::string> arguments(bool reads_operands, bool writes_results) const;
  std::string parts_name() const { return name_ + "_parts"; }
  std::int64_t groups() const;  //!< of neighbouring results

  const OpGraph& graph_;
  const ProductSpace& space_;
  ProductShape shape_;
  std::string name_;
  AccessCode results_;
};

}  // namespace cudal1
