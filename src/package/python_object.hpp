// References to Python's objects, for the native part of a package. Include it first: it includes Python.h.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace cudal1 {

//! A reference that is given back.
class Owned {
 public:
  explicit Owned(PyObject* object = nullptr) : object_(object) {}
  static Owned borrowed(PyObject* object) {
    Py_XINCREF(object);
    return Owned(object);
  }
  Owned(Owned&& other) noexcept : object_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

//! A Python exception is set.
struct PythonError {};

}  // namespace cudal1
