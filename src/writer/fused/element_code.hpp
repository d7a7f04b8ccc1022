// Terms -> statements of C++ for one element.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "writer/fused/terms.hpp"

namespace cudal1 {

class ElementCode {
 public:
  //! `given`: the expression of a term that is not computed here from its operands; it must know all loads,
  //! positions and reductions that are asked for. That of a gather may have {0} and {1} for its operands.
  ElementCode(const FusedTerms& terms, std::function<std::optional<std::string>(int term)> given, std::string indent)
      : terms_(terms), given_(std::move(given)), indent_(std::move(indent)) {}

  //! Sums among these terms add their operands as they are rounded, whatever else is computed here: what is computed
  //! again elsewhere is then the same number. The set must outlive this.
  void round_sums(const std::set<int>& terms) { rounded_sums_ = &terms; }

  //! The name of the variable that holds a term, or its literal; statements for all it needs are added.
  std::string operator[](int term);
  const std::string& text() const { return text_; }

 private:
  const std::string& code_of(int index) const;
  std::string with_operands(const std::string& code, const Term& term);

  const FusedTerms& terms_;
  std::function<std::optional<std::string>(int)> given_;
  std::string indent_;
  const std::set<int>* rounded_sums_ = nullptr;
  std::map<int, std::string> names_;
  std::string text_;
};

//! An element from memory as kernels compute with it, and back.
std::string loaded(const std::string& element, DType dtype);
std::string stored(const std::string& scalar, DType dtype);

//! An operation of <cudal1/operations.cuh> with one element more.
std::string accumulated(const std::string& operation, const std::string& before, const std::string& element);

//! The header that this type of elements needs; empty: none.
std::string header_for(DType dtype);

}  // namespace cudal1
