// A table of rows and columns -> kernels: threads that share a row, passes over its columns, what is kept in registers.
#pragma once

#include "writer/draft.hpp"
#include "writer/fused/row_passes.hpp"

namespace cudal1 {

//! How the work is dealt out.
struct RowShape {
  bool across = false;       //!< neighbouring threads have neighbouring rows, not columns
  std::int64_t lanes = 32;   //!< threads that share a row
  std::int64_t block = 256;  //!< threads of a block
  std::int64_t split = 1;    //!< blocks that share a row; each pass is then a kernel of its own
  std::int64_t width = 1;    //!< neighbouring columns that a thread loads at once
  bool keep = false;         //!< what is loaded once stays in registers

  std::int64_t rows_a_block() const { return block / lanes; }
};

class RowCode : public RowPasses {
 public:
  RowCode(const OpGraph& graph, const RowSpace& space, const RowShape& shape, std::string name);

  WrittenGroup write();

 private:
  std::string columns(const std::string& body) const override;
  std::string reduced(const std::string& operation, const std::string& value) const override;
  bool is_kept(int term) const override { return kept_.contains(term); }
  std::string loaded_name(int term) const override;
  std::string kernel(std::size_t stage);
  std::string kernel_name(std::size_t stage) const;
  std::string partial_name(std::size_t reduction) const;
  WrittenLaunch launch(std::size_t stage) const;
  std::string places_of_thread() const;
  std::string earlier_results(std::size_t stage) const;
  std::string reduction_pass(std::size_t number);
  std::string kept_columns(const std::vector<int>& targets);
  std::string stored_partials(std::size_t pass) const;
  bool knows(std::size_t reduction, std::size_t stage) const { return space_.pass_of[reduction] <= stage; }
  std::string output_pass();
  std::string who_writes() const;
  std::int64_t groups() const { return space_.column_count() / shape_.width; }
  std::int64_t items() const { return (groups() + shape_.lanes - 1) / shape_.lanes; }
  std::int64_t chunk() const { return (groups() + shape_.split - 1) / shape_.split; }
  std::size_t stages() const { return shape_.split > 1 ? space_.passes() + 1 : 1; }
  bool covers_rows() const { return space_.row_count() % shape_.rows_a_block() == 0; }
  bool is_last(std::size_t stage) const { return stage + 1 == stages(); }

  RowShape shape_;
  std::string name_;
  std::set<int> kept_;
};

}  // namespace cudal1
