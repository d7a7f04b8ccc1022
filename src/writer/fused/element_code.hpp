// Terms -> statements of C++ for one element.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "writer/fused/terms.hpp"

namespace cudal1 {

class ElementCode {
 public:
  //! `leaf`: the expression for a term that is not made of others here: a load, a position, a reduction.
  ElementCode(const FusedTerms& terms, std::function<std::string(int term)> leaf, std::string indent)
      : terms_(terms), leaf_(std::move(leaf)), indent_(std::move(indent)) {}

  //! The name of the variable that holds a term, or its literal; statements for all it needs are added.
  std::string operator[](int term);
  const std::string& text() const { return text_; }

 private:
  std::string expression(const Term& term);

  const FusedTerms& terms_;
  std::function<std::string(int)> leaf_;
  std::string indent_;
  std::map<int, std::string> names_;
  std::string text_;
};

//! An element from memory as kernels compute with it, and back.
std::string loaded(const std::string& element, DType dtype);
std::string stored(const std::string& scalar, DType dtype);

//! The header that this type of elements needs; empty: none.
std::string header_for(DType dtype);

}  // namespace cudal1
