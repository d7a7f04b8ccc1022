// Loads and stores of a fused kernel as C++, several neighbours at a time where they lie side by side.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "writer/fused/loops.hpp"
#include "writer/fused/terms.hpp"

namespace cudal1 {

class AccessCode {
 public:
  //! `names`: of the loops' indices, outermost first; the innermost counts groups of neighbours.
  AccessCode(const OpGraph& graph, const FusedTerms& fused, std::vector<Loop> loops, std::vector<std::string> names);

  //! Neighbours that one index of the innermost loop stands for. In code they are told apart by `e`.
  void set_width(std::int64_t width) { width_ = width; }
  std::int64_t width() const { return width_; }
  //! 64-bit indices in the text.
  void set_wide(bool wide) { wide_ = wide; }
  bool is_wide() const { return wide_; }
  std::string_view index_type() const { return wide_ ? "unsigned long long" : "unsigned"; }
  std::string_view suffix() const { return wide_ ? "ull" : "u"; }

  //! A load reads at `rest` from this pointer. The rest is signed: with constant indices an access is then one
  //! instruction, while unsigned sums could wrap around and must be computed.
  void set_base(int term, std::string pointer, Affine rest) { bases_[term] = {std::move(pointer), std::move(rest)}; }

  //! May so many neighbours be moved in one access?
  bool fits(ValueId value, const Affine& place, std::int64_t width) const;
  //! For whoever asked for so many, where they do not fit.
  std::string why_unfit(ValueId value, const Affine& place, std::int64_t width) const;
  //! The most, up to 16 bytes of the largest element that the innermost loop moves, that this tensor can be moved by.
  std::int64_t widest(ValueId value, const Affine& place) const;
  //! Does some tensor reach so far that its places need 64 bits?
  bool reaches_far() const;

  //! Tensors that are read, then those that are written; one that is both comes once, at the end.
  std::vector<ValueId> tensors() const;
  std::vector<std::string> parameters() const;
  std::vector<std::string> arguments() const;
  std::set<std::string> headers() const;

  //! "p_x": prefixed, so that no tensor's name is one of the kernel's own or of CUDA.
  std::string variable(ValueId value) const;
  std::string place(const Affine& place) const;
  //! `const auto v3 = …;` for a load that serves all neighbours; empty where each needs its own.
  std::string load_before(int term, const std::string& indent) const;
  //! The right side of it.
  std::string load_of_all(int term) const;
  bool is_vector(int term) const;
  //! The expression for a load or a position of neighbour `e`; `loaded_as` is what load_before has made.
  std::string element(int term, const std::string& loaded_as) const;
  //! The same where nothing was loaded before: of the first neighbour, straight from memory.
  std::string element_now(int term) const;

  bool output_is_vector(std::size_t output) const;
  //! `p_y[… + e] = value;`
  std::string store_element(std::size_t output, const std::string& value, const std::string& indent) const;
  std::string store_first(std::size_t output, const std::string& value, const std::string& indent) const;
  std::string store_vector(std::size_t output, const std::string& indent) const;  //!< of `o{output}`
  std::string vector_variable(std::size_t output, const std::string& indent) const;

 private:
  struct Base {
    std::string pointer;
    Affine rest;
  };
  //! Pointer and index of a load.
  std::pair<std::string, std::string> address(int term) const;
  const TensorMeta& meta(ValueId value) const { return graph_.values[value].meta; }
  bool is_written(ValueId value) const;
  std::string further(const Affine& place) const;
  std::vector<std::string> scaled_names(const Affine& place, std::string_view suffix) const;
  std::string position(const Affine& index) const;
  std::string gathered(const Term& term, const std::string& at) const;

  const OpGraph& graph_;
  const FusedTerms& fused_;
  std::vector<Loop> loops_;
  std::vector<std::string> names_;
  std::int64_t width_ = 1;
  bool wide_ = false;
  std::map<int, Base> bases_;
};

}  // namespace cudal1
