// _cudal1_native: the native part of an exported package, called by its model.py.
#include "package/python_object.hpp"
//
#include <ATen/TracerMode.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <c10/util/SmallVector.h>
#include <structmember.h>
#include <torch/csrc/autograd/python_variable.h>

#include <memory>
#include <string>
#include <vector>

#include "package/bound_module.hpp"
#include "package/module_watch.hpp"

namespace cudal1 {
namespace {

//! Lets other threads run Python meanwhile.
class WithoutInterpreter {
 public:
  explicit WithoutInterpreter(bool apply) : state_(apply ? PyEval_SaveThread() : nullptr) {}
  ~WithoutInterpreter() {
    if (state_) PyEval_RestoreThread(state_);
  }
  WithoutInterpreter(const WithoutInterpreter&) = delete;
  WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;

 private:
  PyThreadState* state_;
};

//! Where a weight is found: dictionary[key].
struct Holder {
  Owned dictionary, key;
};

struct Program {
  std::unique_ptr<BoundModule> bound;
  std::vector<Holder> weights, states;
};

struct CallState {
  std::shared_ptr<Package> package;
  std::vector<Program> programs;  // as the package lists them
  std::unique_ptr<ModuleWatch> watch;
  std::vector<Owned> hooks;      // dictionaries that are empty where nobody has hooks
  bool forward_is_ours = false;  // and not that of a subclass, or set on the module
  Owned flatten, rebuild;
  std::string reason;
  bool is_stale = false;  // the last call found something changed
};

//! Few enough in most modules to need no memory of their own.
using Tensors = c10::SmallVector<at::Tensor, 8>;

struct CallObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  CallState* state;
};

PyObject* refuse(CallState& state, std::string reason) {
  state.reason = std::move(reason);
  Py_RETURN_NOTIMPLEMENTED;
}

//! Subclasses may mean anything: they are not for us.
bool is_plain_tensor(PyObject* object) {
  return THPVariable_CheckExact(object) && THPVariable_Unpack(object).has_storage();
}

bool collect(const std::vector<Holder>& holders, Tensors& tensors) {
  for (const Holder& holder : holders) {
    PyObject* object = PyDict_GetItemWithError(holder.dictionary.get(), holder.key.get());
    if (!object && PyErr_Occurred()) throw PythonError{};
    if (!object || !is_plain_tensor(object)) return false;
    tensors.push_back(THPVariable_Unpack(object));
  }
  return true;
}

//! Fills the tensors by position, or through the package's own idea of its arguments. False: a reason is set.
bool inputs_of(CallState& state, PyObject* const* args, Py_ssize_t count, PyObject* names, Tensors& inputs) {
  const auto add = [&](PyObject* object) {
    if (!is_plain_tensor(object)) return false;
    inputs.push_back(THPVariable_Unpack(object));
    return true;
  };
  const bool by_name = names && PyTuple_GET_SIZE(names) > 0;
  // Others may be defaults that are given all the same.
  const bool of_usual_number =
      count == static_cast<Py_ssize_t>(state.package->programs.front()->packaged.inputs.size());
  if (state.package->takes_tensors_only && of_usual_number && !by_name) {
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!add(args[i])) return state.reason = "an argument is not a plain tensor", false;
    return true;
  }
  const Owned positional(PyTuple_New(count)), named(PyDict_New());
  if (!positional || !named) throw PythonError{};
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; by_name && i < PyTuple_GET_SIZE(names); ++i)
    if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(names, i), args[count + i]) < 0) throw PythonError{};
  const Owned flat(PyObject_CallFunctionObjArgs(state.flatten.get(), positional.get(), named.get(), nullptr));
  if (!flat) throw PythonError{};
  if (PyUnicode_Check(flat.get())) return state.reason = PyUnicode_AsUTF8(flat.get()), false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(flat.get()); ++i)
    if (!add(PyList_GET_ITEM(flat.get(), i))) return state.reason = "an argument is not a plain tensor", false;
  return true;
}

PyObject* result_of(const CallState& state, std::vector<at::Tensor> outputs) {
  if (state.package->returns_one_tensor) return THPVariable_Wrap(std::move(outputs.front()));
  const Owned all(PyTuple_New(static_cast<Py_ssize_t>(outputs.size())));
  if (!all) throw PythonError{};
  for (std::size_t i = 0; i < outputs.size(); ++i)
    PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), THPVariable_Wrap(std::move(outputs[i])));
  return PyObject_CallFunctionObjArgs(state.rebuild.get(), all.get(), nullptr);
}

//! The program for inputs such as these; null: a reason is set.
Program* program_for(CallState& state, const Tensors& inputs) {
  for (Program& program : state.programs) {
    std::optional<DoesNotFit> misfit = program.bound->misfit_of(inputs);
    if (!misfit) return &program;
    state.reason = std::move(misfit->reason);
  }
  if (state.programs.size() > 1)
    state.reason = "no program was exported for such inputs: in the last one " + state.reason;
  return nullptr;
}

PyObject* call(CallState& state, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (c10::impl::TorchDispatchModeTLS::any_modes_set()) return refuse(state, "a dispatch mode is on");
  if (at::tracer::impl::is_dispatch_enabled()) return refuse(state, "it is being traced");
  state.is_stale = !state.watch || state.watch->has_changed();
  if (state.is_stale) return refuse(state, "something of it was replaced");
  Tensors inputs, weights, states;
  if (!inputs_of(state, args, count, names, inputs)) Py_RETURN_NOTIMPLEMENTED;
  Program* program = program_for(state, inputs);
  if (!program) Py_RETURN_NOTIMPLEMENTED;
  if (!collect(program->weights, weights) || !collect(program->states, states))
    return refuse(state, "a parameter or buffer is not a plain tensor");
  std::variant<std::vector<at::Tensor>, DoesNotFit> result;
  {
    // Library steps take their time; a launch is over before another thread would have woken up.
    const WithoutInterpreter released(program->bound->packaged().plan.has_op_steps());
    result = program->bound->call(inputs, weights, states);
  }
  if (auto* misfit = std::get_if<DoesNotFit>(&result)) return refuse(state, std::move(misfit->reason));
  if (!state.reason.empty()) state.reason.clear();
  return result_of(state, std::move(std::get<0>(result)));
}

PyObject* call_or_raise(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  try {
    return call(*reinterpret_cast<CallObject*>(self)->state, args, count, names);
  } catch (const PythonError&) {
    return nullptr;
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());
    return nullptr;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

//! What stands for torch.nn.Module's own call: hooks and another `forward` are left to that one.
PyObject* call_object(PyObject* self, PyObject* const* args, std::size_t count, PyObject* names) {
  const CallState& state = *reinterpret_cast<CallObject*>(self)->state;
  if (!state.forward_is_ours) Py_RETURN_NOTIMPLEMENTED;
  for (const Owned& hooks : state.hooks)
    if (PyDict_GET_SIZE(hooks.get()) > 0) Py_RETURN_NOTIMPLEMENTED;
  return call_or_raise(self, args, PyVectorcall_NARGS(count), names);
}

//! What stands for `forward`.
PyObject* call_without_hooks(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return call_or_raise(self, args, count, names);
}

std::vector<Holder> holders_from(PyObject* list) {
  std::vector<Holder> holders;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject *dictionary = nullptr, *key = nullptr;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "O!O", &PyDict_Type, &dictionary, &key)) throw PythonError{};
    holders.push_back({Owned::borrowed(dictionary), Owned::borrowed(key)});
  }
  return holders;
}

//! [(weights, states), …], as the package lists its programs.
std::vector<Program> programs_from(PyObject* list, const std::shared_ptr<Package>& package) {
  std::vector<Program> programs;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject *weights = nullptr, *states = nullptr;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "O!O!", &PyList_Type, &weights, &PyList_Type, &states))
      throw PythonError{};
    programs.push_back({std::make_unique<BoundModule>(package, static_cast<std::size_t>(i)), holders_from(weights),
                        holders_from(states)});
  }
  return programs;
}

std::vector<Owned> dictionaries_from(PyObject* list) {
  std::vector<Owned> dictionaries;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* dictionary = PyList_GET_ITEM(list, i);
    if (!PyDict_Check(dictionary)) {
      PyErr_SetString(PyExc_TypeError, "hooks are no dictionary");
      throw PythonError{};
    }
    dictionaries.push_back(Owned::borrowed(dictionary));
  }
  return dictionaries;
}

PyObject* make_object(PyTypeObject* type, PyObject* args, PyObject*) {
  const char* folder = nullptr;
  PyObject *programs = nullptr, *watched = nullptr, *hooks = nullptr, *flatten = nullptr, *rebuild = nullptr;
  int forward_is_ours = 0;
  if (!PyArg_ParseTuple(args, "sO!O!O!pOO", &folder, &PyList_Type, &programs, &PyDict_Type, &watched, &PyList_Type,
                        &hooks, &forward_is_ours, &flatten, &rebuild))
    return nullptr;
  try {
    auto state = std::make_unique<CallState>();
    state->package = open_package(folder);
    state->programs = programs_from(programs, state->package);
    state->watch = std::make_unique<ModuleWatch>(watched);
    state->hooks = dictionaries_from(hooks);
    state->forward_is_ours = forward_is_ours != 0;
    state->flatten = Owned::borrowed(flatten);
    state->rebuild = Owned::borrowed(rebuild);
    auto* object = reinterpret_cast<CallObject*>(type->tp_alloc(type, 0));
    if (!object) return nullptr;
    object->vectorcall = call_object;
    object->state = state.release();
    return reinterpret_cast<PyObject*>(object);
  } catch (const PythonError&) {
    return nullptr;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

//! The dictionaries belong to a module that holds this object: a cycle, which the collector must see.
int traverse(PyObject* self, visitproc visit, void* arg) {
  const CallState* state = reinterpret_cast<CallObject*>(self)->state;
  if (!state) return 0;
  for (const Program& program : state->programs)
    for (const auto* holders : {&program.weights, &program.states})
      for (const Holder& holder : *holders) Py_VISIT(holder.dictionary.get());
  for (const Owned& hooks : state->hooks) Py_VISIT(hooks.get());
  if (state->watch)
    if (const int stopped = state->watch->traverse(visit, arg)) return stopped;
  Py_VISIT(state->flatten.get());
  Py_VISIT(state->rebuild.get());
  return 0;
}

int clear(PyObject* self) {
  CallState* state = reinterpret_cast<CallObject*>(self)->state;
  if (!state) return 0;
  const auto programs = std::move(state->programs);
  const auto watch = std::exchange(state->watch, nullptr);
  const auto hooks = std::move(state->hooks);
  return 0;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  delete reinterpret_cast<CallObject*>(self)->state;
  Py_TYPE(self)->tp_free(self);
}

PyObject* reason_of(PyObject* self, void*) {
  return PyUnicode_FromString(reinterpret_cast<CallObject*>(self)->state->reason.c_str());
}

int set_reason(PyObject* self, PyObject* value, void*) {
  const char* text = value ? PyUnicode_AsUTF8(value) : nullptr;
  if (!text) return -1;
  reinterpret_cast<CallObject*>(self)->state->reason = text;
  return 0;
}

PyObject* is_stale(PyObject* self, void*) {
  return PyBool_FromLong(reinterpret_cast<CallObject*>(self)->state->is_stale);
}

PyGetSetDef properties[] = {
    {"reason", reason_of, set_reason, "What the last call did not fit; empty if it ran.", nullptr},
    {"stale", is_stale, nullptr, "Has the last call found the module changed? It has to be compared anew.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {{"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_without_hooks)),
                          METH_FASTCALL | METH_KEYWORDS, "The same call, whether the module has hooks or not."},
                         {nullptr, nullptr, 0, nullptr}};

PyTypeObject call_type = [] {
  PyTypeObject type{};
  type.ob_base = PyVarObject{PyObject_HEAD_INIT(nullptr) 0};
  type.tp_name = "_cudal1_native.Call";
  type.tp_basicsize = sizeof(CallObject);
  type.tp_dealloc = deallocate;
  type.tp_vectorcall_offset = offsetof(CallObject, vectorcall);
  type.tp_call = PyVectorcall_Call;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC;
  type.tp_doc = "The program of a package with the weights of a module; NotImplemented where a call does not fit.";
  type.tp_traverse = traverse;
  type.tp_clear = clear;
  type.tp_getset = properties;
  type.tp_methods = methods;
  type.tp_new = make_object;
  return type;
}();

PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_cudal1_native", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace cudal1

PyMODINIT_FUNC PyInit__cudal1_native() {
  using namespace cudal1;
  if (PyType_Ready(&call_type) < 0) return nullptr;
  PyObject* module = PyModule_Create(&module_definition);
  if (!module) return nullptr;
  if (PyModule_AddObjectRef(module, "Call", reinterpret_cast<PyObject*>(&call_type)) < 0) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
