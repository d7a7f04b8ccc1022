// Notices that a module is not what it was when its package compared it with the exported one: attributes, parts, and
// which weights there are and which of them are one. The weights' contents are bound_module.hpp's.
#pragma once

#include "package/python_object.hpp"
//
#include <cstdint>
#include <vector>

namespace cudal1 {

class ModuleWatch {
 public:
  //! What Python gives: {"dictionaries": [(dictionary, {key: value})], "any_tensor": what such a value is where it may
  //! be any tensor, "lists": […], "sets": […], "tensors": […], "ties": [(dictionary, key, dictionary, key)]}. All as
  //! they are now. Throws PythonError.
  explicit ModuleWatch(PyObject* description);

  //! Has something been replaced by what is not plainly equal? Whether that matters takes another comparison. Throws
  //! PythonError.
  bool has_changed();

  int traverse(visitproc visit, void* arg) const;

 private:
  struct Entry {
    Owned key, value;  // no value: any tensor
  };
  struct Dictionary {
    Owned dictionary;
    std::uint64_t version = 0;  // Python's own count of its changes
    Py_ssize_t size = 0;
    std::vector<Entry> entries;
  };
  struct List {
    Owned list;
    std::vector<Owned> items;
  };
  struct Set {
    Owned set, copy;
  };
  struct Tensor {
    Owned tensor;
    std::uint64_t version = 0;
  };
  //! Two names that must mean one tensor.
  struct Tie {
    Owned dictionary, key, other_dictionary, other_key;
  };

  static Dictionary dictionary_from(PyObject* pair, PyObject* any_tensor);
  static bool has_changed(Dictionary& watched);
  static bool has_changed(List& watched);
  static bool has_changed(const Set& watched);
  static bool has_changed(const Tensor& watched);
  static bool is_untied(const Tie& tie);

  std::vector<Dictionary> dictionaries_;
  std::vector<List> lists_;
  std::vector<Set> sets_;
  std::vector<Tensor> tensors_;
  std::vector<Tie> ties_;
};

}  // namespace cudal1
