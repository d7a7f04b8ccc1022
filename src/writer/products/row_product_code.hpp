// A matrix product whose rows are reduced -> kernels. Each block reduces the rows of its tile from the sums in shared
// memory. Where a tile has all columns, that is all; else a second kernel combines what the tiles of a row have found.
#pragma once

#include "writer/draft.hpp"
#include "writer/fused/row_passes.hpp"
#include "writer/products/row_product_space.hpp"

namespace cudal1 {

class RowProductCode : public RowPasses {
 public:
  RowProductCode(const OpGraph& graph, const RowProductSpace& space, const ProductShape& shape, std::string name);

  WrittenGroup write();

 private:
  std::string columns(const std::string& body) const override;
  std::string reduced(const std::string& operation, const std::string& value) const override;

  std::string product_kernel();
  std::string rows_of_block();
  std::string place_in_tile() const;
  std::string all_passes();
  std::string stored_partials() const;
  std::string combining_kernel();
  WrittenLaunch product_launch() const;
  WrittenLaunch combining_launch() const;
  std::vector<ValueId> tensors() const;
  std::vector<std::string> partial_parameters() const;
  std::string partial_name(std::size_t reduction) const;
  std::int64_t widest() const;
  bool covers_rows() const { return sizes().rows % shape_.tile.rows == 0; }
  const ProductSizes& sizes() const { return product_.sizes; }
  std::int64_t tiles_across() const { return shape_.tiles_across(sizes()); }
  std::int64_t row_count() const { return sizes().batches * sizes().rows; }
  std::int64_t groups_of_tile() const { return shape_.tile.columns / access_.width(); }
  std::int64_t combining_lanes() const;

  const ProductSpace& product_;
  const std::vector<bool>& is_late_;
  ProductShape shape_;
  std::string name_;
  std::int64_t lanes_ = 32;  //!< threads that share a row in the kernel that is being written
};

}  // namespace cudal1
