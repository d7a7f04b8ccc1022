// Windows -> a kernel: each thread computes an output, or some neighbouring ones that read once what their windows
// share. Windows into windows are loops inside loops.
#pragma once

#include "writer/draft.hpp"
#include "writer/fused/access_code.hpp"
#include "writer/fused/element_code.hpp"
#include "writer/fused/window_space.hpp"

namespace cudal1 {

//! How the work is dealt out.
struct WindowShape {
  std::optional<Slide> slide;  //!< with more than one item: along which dimension they lie
  std::int64_t items = 1;      //!< outputs of a thread along that
  std::int64_t width = 1;      //!< neighbours in memory that a thread loads at once; no window moves along them
  std::int64_t inside = 1;     //!< neighbours in a window's last dimension that a thread loads at once
  std::int64_t block = 256;    //!< threads of a block
};

class WindowCode {
 public:
  WindowCode(const OpGraph& graph, const WindowSpace& space, const WindowShape& shape, std::string name);

  const AccessCode& access() const { return at_element_; }
  //! The most neighbours in a window that can be loaded at once, and whether so many can be.
  std::int64_t widest_inside() const;
  bool fits_inside(std::int64_t count) const;
  WrittenGroup write();

 private:
  std::vector<Loop> all_loops(bool of_columns) const;
  std::vector<std::string> all_names(bool of_columns) const;
  int last_inside() const;
  std::size_t last_inside_loop() const;
  std::vector<Loop> thread_loops() const;
  std::string kernel();
  std::string places_of_thread() const;
  std::string base_pointers();
  std::string base_pointers(AccessCode& access, const FusedTerms& fused, const std::set<int>& loads, char letter) const;
  std::set<int> loads_under(const std::vector<int>& targets, bool of_columns) const;
  std::string window_pass();
  std::string open_windows(const Term& reduction, std::int64_t inner, int& depth) const;
  std::string open_dimension(const WindowDim& dim, bool unrolled, int& depth) const;
  std::string begin_and_end(const WindowDim& dim, const std::string& indent) const;
  std::string whole_window(const std::string& indent);
  std::string nested(const std::vector<int>& targets, int depth);
  std::int64_t elements_of(const std::vector<int>& targets) const;
  std::string columns(const std::string& indent);
  std::string neighbours(const std::string& indent);
  std::string outputs();
  std::string combined(ElementCode& code, const std::string& indent) const;
  std::string repeated(std::string_view index, std::int64_t count, const std::string& body,
                       const std::string& indent) const;
  std::string for_each_of_width(const std::string& body, const std::string& indent) const;
  std::string loads(const AccessCode& access, const std::vector<int>& targets, const std::string& indent) const;
  std::string is_inside(const AccessCode& access, const Affine& index, std::int64_t size) const;
  std::string slot(std::string_view group) const;
  bool leaves_end() const;
  bool skips() const;
  bool is_column_term(int term) const;
  std::optional<std::string> given(const AccessCode& access, int term) const;
  std::int64_t column_count() const { return shape_.slide->columns(shape_.items); }

  const OpGraph& graph_;
  const WindowSpace& space_;
  WindowShape shape_;
  std::string name_;
  int column_ = -1;       //!< the atom of columns
  FusedTerms by_column_;  //!< the same terms, read at a column instead of an output and a place in its window
  AccessCode at_element_, at_column_;
  AccessCode in_window_;  //!< the same with the window's last dimension innermost
};

}  // namespace cudal1
