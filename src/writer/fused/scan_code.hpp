// A table whose rows are scanned -> kernels: threads that share a row, tile by tile or each a part of it.
#pragma once

#include "writer/draft.hpp"
#include "writer/fused/access_code.hpp"
#include "writer/fused/element_code.hpp"
#include "writer/fused/scan_space.hpp"

namespace cudal1 {

//! How the work is dealt out.
struct ScanShape {
  bool across = false;       //!< neighbouring threads have neighbouring rows; each thread scans a part of one
  std::int64_t lanes = 32;   //!< threads that share a row; along it a warp or a block
  std::int64_t block = 256;  //!< threads of a block
  std::int64_t split = 1;    //!< blocks that share a row; a kernel before finds what each part gives
  std::int64_t width = 1;    //!< neighbouring columns that a thread takes at once

  std::int64_t rows_a_block() const { return block / lanes; }
};

class ScanCode {
 public:
  ScanCode(const OpGraph& graph, const ScanSpace& space, const ScanShape& shape, std::string name);

  AccessCode& access() { return access_; }
  WrittenGroup write();

 private:
  WrittenLaunch launch(const std::string& kernel) const;
  std::string signature(const std::string& kernel) const;
  std::string partial_name(std::size_t scan) const;
  std::string totals_kernel();
  std::string scan_kernel();
  std::string places_of_thread() const;
  std::string carries() const;
  std::string sums_before() const;
  std::string tiles();
  std::string scan_of_tile(std::size_t scan);
  std::string parts();
  std::string totals_of_part();
  std::string outputs(const std::string& condition);
  std::string column(const std::string& type_and_head, const std::string& body) const;
  std::string neighbours(const std::string& body) const;
  std::string loads(const std::vector<int>& targets) const;
  std::optional<std::string> given(int term) const;
  const std::string& operation(std::size_t scan) const { return space_.fused.terms[space_.scans[scan]].code; }
  int element(std::size_t scan) const { return space_.fused.terms[space_.scans[scan]].operands.front(); }
  std::int64_t groups() const { return space_.column.size / shape_.width; }
  std::int64_t parts_of_row() const { return shape_.across ? shape_.lanes : shape_.split; }
  std::int64_t chunk() const { return (groups() + parts_of_row() - 1) / parts_of_row(); }
  bool covers_rows() const { return space_.row_count() % shape_.rows_a_block() == 0; }
  bool is_empty() const { return space_.row_count() == 0 || space_.column.size == 0; }

  const OpGraph& graph_;
  const ScanSpace& space_;
  ScanShape shape_;
  std::string name_;
  std::vector<std::string> row_names_;
  AccessCode access_;
};

}  // namespace cudal1
