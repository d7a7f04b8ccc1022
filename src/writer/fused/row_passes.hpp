// What passes over the columns of a row compute, whoever goes through the columns and wherever they come from.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "writer/fused/access_code.hpp"
#include "writer/fused/element_code.hpp"
#include "writer/fused/row_space.hpp"

namespace cudal1 {

//! Loops with the names of their indices.
struct NamedLoops {
  std::vector<Loop> loops;
  std::vector<std::string> names;
};

class RowPasses {
 public:
  RowPasses(const OpGraph& graph, const RowSpace& space, NamedLoops rows, NamedLoops columns);
  virtual ~RowPasses() = default;

  AccessCode& access() { return access_; }

 protected:
  //! One way through the columns.
  struct Pass {
    std::vector<std::size_t> reductions;  //!< `x{i}` is known to all threads of the row afterwards
    std::vector<std::size_t> outputs;     //!< that have columns
    std::string store_if = {};            //!< empty: always
  };

  //! Through the columns of this thread: `body` is for a group of neighbours, whose indices are known there.
  virtual std::string columns(const std::string& body) const = 0;
  //! What all threads of a row have found.
  virtual std::string reduced(const std::string& operation, const std::string& value) const = 0;
  //! The load's columns are in registers already.
  virtual bool is_kept(int /*term*/) const { return false; }
  virtual std::string loaded_name(int term) const;

  //! A kernel, or a loop in it, comes to its row.
  void start_row();
  //! `before_columns`: between what the row has one of and its columns.
  std::string pass(const Pass& what, const std::string& before_columns = {});
  std::vector<std::size_t> reductions_of_pass(std::size_t pass) const;
  std::vector<std::size_t> outputs_with_columns() const;
  std::vector<int> operands_of(const std::vector<std::size_t>& reductions) const;
  const std::string& operation(std::size_t reduction) const;
  //! `x{reduction}` of what others have left at partial{reduction}[first], `count` of them.
  std::string combined_partials(std::size_t reduction, const std::string& first, std::int64_t count,
                                std::int64_t lanes) const;
  //! What a row has one of, written where the condition holds: by one of its threads.
  std::string row_outputs(const std::string& condition) const;

  const OpGraph& graph_;
  const RowSpace& space_;
  NamedLoops rows_, columns_;
  AccessCode access_;

 private:
  std::optional<std::string> given(int term);
  std::optional<std::string> given_to_row(int term) const;
  ElementCode element_code(std::function<std::optional<std::string>(int)> given, const char* indent) const;
  std::string new_row_text();
  std::string loop(const std::vector<int>& targets, const std::string& body_before, const std::string& element,
                   const std::string& body_after);

  std::set<int> computed_again_;  //!< terms of more than one pass: each must find the same numbers
  std::unique_ptr<ElementCode> row_code_;
  std::size_t row_text_written_ = 0;
};

}  // namespace cudal1
