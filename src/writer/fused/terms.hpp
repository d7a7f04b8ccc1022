// What a fused kernel computes for one element, as a list of terms, each made of earlier ones.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/op_graph.hpp"
#include "writer/fused/affine.hpp"

namespace cudal1 {

//! How kernels hold a number: small floating types are computed in fp32, integers in 64 bits.
enum class ScalarKind { boolean, integer, real };

ScalarKind scalar_kind(DType dtype);
std::string_view cuda_name(ScalarKind kind);      //!< "bool", "long long", "float"
std::string_view cuda_element_name(DType dtype);  //!< "__half", …: the type of elements in memory

enum class TermKind {
  load,      //!< an element of a tensor in memory
  gather,    //!< the same where operand 0 is added to the place; read only where operand 1, if there is one, is true
  constant,  //!< a number of the program
  position,  //!< an index
  map,       //!< a function of other terms
  reduce,    //!< one operation over all elements of its loops
  scan,      //!< one operation over all elements up to an index, `place`
};

//! A dimension of an argument that a reduction walks through by a window, not from end to end.
struct WindowDim {
  Affine index;            //!< in the argument; what lies beyond its ends is left out
  std::int64_t size = 1;   //!< of the argument
  bool may_leave = false;  //!< the index can lie beyond the ends
  int loop = -1;           //!< the window's atom; -1: it is one element wide
  //! Not 0: windows of different lengths. The loop, which is the index then, runs from ⌊part · size / parts⌋ to
  //! ⌈(part + 1) · size / parts⌉.
  std::int64_t parts = 0;
  Affine part = {};
  //! Not 0: two atoms of the index are no loops, but what division of `divided` by this gives.
  std::int64_t divisor = 0;
  Affine divided = {};
  int quotient = -1, remainder = -1;
};

struct Term {
  TermKind kind = TermKind::constant;
  ScalarKind scalar = ScalarKind::real;
  //! constant: the literal; map: an expression of {0}, {1}…; reduce, scan: the operation
  std::string code = {};
  std::vector<int> operands = {};       //!< indices of terms
  ValueId value = -1;                   //!< load, gather: of which tensor
  Affine place = {};                    //!< load, gather: where, in elements; position: the index
  std::vector<int> loops = {};          //!< reduce: atoms
  std::vector<WindowDim> windows = {};  //!< reduce: of dimensions where this is not all of them
  std::int64_t results = 0;             //!< reduce of windows: elements that there are of it
};

//! A load or a gather.
bool is_read(const Term& term);

//! Everything that a fused kernel reads, computes and writes.
struct FusedTerms {
  struct Output {
    ValueId value = -1;
    int term = -1;
    Affine place;
  };
  AtomTable atoms;
  std::vector<Term> terms;
  std::vector<Output> outputs;

  //! Says all places anew, in the parts of atoms that were split.
  void resolve();
  //! For each term the atoms on which it depends, loops of reductions left out.
  std::vector<std::set<int>> atoms_of_terms() const;
  //! Of all loads, gathers and stores, and the indices of windows.
  std::vector<Affine> places() const;
  //! Atoms whose index itself is a number that is computed with.
  std::set<int> positions() const;
  //! Tensors that are read, in order of first use.
  std::vector<ValueId> reads() const;
};

}  // namespace cudal1
