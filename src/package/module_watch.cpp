#include "package/module_watch.hpp"

#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>
#include <bit>

namespace cudal1 {
namespace {

//! Another one after every change, until Python 3.12; from then on entries are compared one by one.
std::uint64_t version_of([[maybe_unused]] PyObject* dictionary) {
#if PY_VERSION_HEX < 0x030C0000
  return reinterpret_cast<PyDictObject*>(dictionary)->ma_version_tag;
#else
  return 0;
#endif
}

bool is_surely_unchanged([[maybe_unused]] PyObject* dictionary, [[maybe_unused]] std::uint64_t version) {
#if PY_VERSION_HEX < 0x030C0000
  return version_of(dictionary) == version;
#else
  return false;
#endif
}

std::uint64_t version_of_tensor(PyObject* object) {
  const at::Tensor& tensor = THPVariable_Unpack(object);
  return tensor.is_inference() ? 0 : tensor.unsafeGetTensorImpl()->version_counter().current_version();
}

//! The same object, or the same number or string. -0 is not 0.
bool is_plainly_equal(PyObject* now, PyObject* before) {
  if (now == before) return true;
  if (Py_TYPE(now) != Py_TYPE(before)) return false;
  if (PyFloat_CheckExact(now))
    return std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(now)) ==
           std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(before));
  if (!PyLong_CheckExact(now) && !PyUnicode_CheckExact(now)) return false;
  const int equal = PyObject_RichCompareBool(now, before, Py_EQ);
  if (equal < 0) throw PythonError{};
  return equal == 1;
}

PyObject* found(PyObject* dictionary, PyObject* key) {
  PyObject* value = PyDict_GetItemWithError(dictionary, key);
  if (!value && PyErr_Occurred()) throw PythonError{};
  return value;
}

PyObject* part(PyObject* description, const char* name) {
  PyObject* value = PyDict_GetItemString(description, name);
  if (!value) {
    PyErr_SetString(PyExc_KeyError, name);
    throw PythonError{};
  }
  return value;
}

template <typename Made, typename Make>
std::vector<Made> made_of(PyObject* list, const Make& make) {
  if (!PyList_Check(list)) {
    PyErr_SetString(PyExc_TypeError, "what is to be watched is no list");
    throw PythonError{};
  }
  std::vector<Made> made;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) made.push_back(make(PyList_GET_ITEM(list, i)));
  return made;
}

Owned new_reference(PyObject* object) {
  if (!object) throw PythonError{};
  return Owned(object);
}

//! Two parameters on the same memory are as good as one, as long as writes to one are counted by both.
bool share_everything(const at::Tensor& a, const at::Tensor& b) {
  return a.has_storage() && b.has_storage() && a.const_data_ptr() == b.const_data_ptr() && a.dtype() == b.dtype() &&
         a.sizes() == b.sizes() && a.strides() == b.strides() && a.is_inference() == b.is_inference() &&
         (a.is_inference() || a._version() == b._version());
}

}  // namespace

ModuleWatch::Dictionary ModuleWatch::dictionary_from(PyObject* pair, PyObject* any_tensor) {
  PyObject *dictionary = nullptr, *expected = nullptr;
  if (!PyArg_ParseTuple(pair, "O!O!", &PyDict_Type, &dictionary, &PyDict_Type, &expected)) throw PythonError{};
  Dictionary watched{Owned::borrowed(dictionary), version_of(dictionary), PyDict_GET_SIZE(dictionary), {}};
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(expected, &at, &key, &value);)
    watched.entries.push_back({Owned::borrowed(key), Owned::borrowed(value == any_tensor ? nullptr : value)});
  return watched;
}

ModuleWatch::ModuleWatch(PyObject* description) {
  PyObject* any_tensor = part(description, "any_tensor");
  dictionaries_ = made_of<Dictionary>(part(description, "dictionaries"),
                                      [&](PyObject* pair) { return dictionary_from(pair, any_tensor); });
  lists_ = made_of<List>(part(description, "lists"), [](PyObject* list) {
    return List{Owned::borrowed(list), made_of<Owned>(list, [](PyObject* item) { return Owned::borrowed(item); })};
  });
  sets_ = made_of<Set>(part(description, "sets"), [](PyObject* set) {
    return Set{Owned::borrowed(set), new_reference(PyFrozenSet_New(set))};
  });
  tensors_ = made_of<Tensor>(part(description, "tensors"), [](PyObject* tensor) {
    return Tensor{Owned::borrowed(tensor), version_of_tensor(tensor)};
  });
  ties_ = made_of<Tie>(part(description, "ties"), [](PyObject* tie) {
    PyObject *one = nullptr, *key = nullptr, *other = nullptr, *other_key = nullptr;
    if (!PyArg_ParseTuple(tie, "O!OO!O", &PyDict_Type, &one, &key, &PyDict_Type, &other, &other_key))
      throw PythonError{};
    return Tie{Owned::borrowed(one), Owned::borrowed(key), Owned::borrowed(other), Owned::borrowed(other_key)};
  });
}

bool ModuleWatch::has_changed() {
  for (Dictionary& watched : dictionaries_)
    if (!is_surely_unchanged(watched.dictionary.get(), watched.version) && has_changed(watched)) return true;
  return std::ranges::any_of(lists_, [](List& watched) { return has_changed(watched); }) ||
         std::ranges::any_of(sets_, [](const Set& watched) { return has_changed(watched); }) ||
         std::ranges::any_of(tensors_, [](const Tensor& watched) { return has_changed(watched); }) ||
         std::ranges::any_of(ties_, is_untied);
}

bool ModuleWatch::has_changed(Dictionary& watched) {
  PyObject* dictionary = watched.dictionary.get();
  const std::uint64_t version = version_of(dictionary);
  if (PyDict_GET_SIZE(dictionary) != watched.size) return true;
  for (Entry& entry : watched.entries) {
    PyObject* now = found(dictionary, entry.key.get());
    if (!now) return true;
    if (!entry.value) {
      if (!THPVariable_Check(now)) return true;
    } else if (now != entry.value.get()) {
      if (!is_plainly_equal(now, entry.value.get())) return true;
      entry.value = Owned::borrowed(now);
    }
  }
  watched.version = version;
  return false;
}

bool ModuleWatch::has_changed(List& watched) {
  PyObject* list = watched.list.get();
  if (PyList_GET_SIZE(list) != static_cast<Py_ssize_t>(watched.items.size())) return true;
  for (std::size_t i = 0; i < watched.items.size(); ++i)
    if (!is_plainly_equal(PyList_GET_ITEM(list, static_cast<Py_ssize_t>(i)), watched.items[i].get())) return true;
  return false;
}

bool ModuleWatch::has_changed(const Set& watched) {
  const int equal = PyObject_RichCompareBool(watched.set.get(), watched.copy.get(), Py_EQ);
  if (equal < 0) throw PythonError{};
  return equal == 0;
}

bool ModuleWatch::has_changed(const Tensor& watched) {
  return version_of_tensor(watched.tensor.get()) != watched.version;
}

bool ModuleWatch::is_untied(const Tie& tie) {
  PyObject* one = found(tie.dictionary.get(), tie.key.get());
  PyObject* other = found(tie.other_dictionary.get(), tie.other_key.get());
  if (one == other) return false;
  if (!one || !other || !THPVariable_Check(one) || !THPVariable_Check(other)) return true;
  return !share_everything(THPVariable_Unpack(one), THPVariable_Unpack(other));
}

int ModuleWatch::traverse(visitproc visit, void* arg) const {
  for (const Dictionary& watched : dictionaries_) {
    Py_VISIT(watched.dictionary.get());
    for (const Entry& entry : watched.entries) Py_VISIT(entry.value.get());
  }
  for (const List& watched : lists_) {
    Py_VISIT(watched.list.get());
    for (const Owned& item : watched.items) Py_VISIT(item.get());
  }
  for (const Set& watched : sets_) {
    Py_VISIT(watched.set.get());
    Py_VISIT(watched.copy.get());
  }
  for (const Tensor& watched : tensors_) Py_VISIT(watched.tensor.get());
  for (const Tie& tie : ties_) {
    Py_VISIT(tie.dictionary.get());
    Py_VISIT(tie.other_dictionary.get());
  }
  return 0;
}

}  // namespace cudal1
