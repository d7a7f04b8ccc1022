#include "graph/aten_call.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <set>

#include "base/result.hpp"
#include "graph/aten_arguments.hpp"
#include "graph/random_nodes.hpp"
#include "graph/torch_errors.hpp"

namespace cudal1 {
namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 10> scalar_types{{
    {DType::f32, at::kFloat},
    {DType::f64, at::kDouble},
    {DType::f16, at::kHalf},
    {DType::bf16, at::kBFloat16},
    {DType::i8, at::kChar},
    {DType::i16, at::kShort},
    {DType::i32, at::kInt},
    {DType::i64, at::kLong},
    {DType::u8, at::kByte},
    {DType::boolean, at::kBool},
}};

c10::OperatorName operator_name(const std::string& op) {
  const std::size_t dot = op.find('.');
  return {op.substr(0, dot), dot == std::string::npos ? "" : op.substr(dot + 1)};
}

[[noreturn]] void fail_unknown_operator(const c10::OperatorName& name) {
  std::set<std::string> overloads;
  for (const c10::OperatorName& known : c10::Dispatcher::singleton().getAllOpNames())
    if (known.name == name.name) overloads.insert(known.overload_name.empty() ? name.name : "." + known.overload_name);
  if (overloads.empty()) throw Error("ATen has no such operator");
  throw Error(fmt::format("ATen has no such overload; there are {}", fmt::join(overloads, ", ")));
}

//! A task is a function of its leaves: no files, and no memory that nobody wrote.
void refuse_what_is_no_function(const std::string& op) {
  const std::string name = operator_name(op).name.substr(std::string_view("aten::").size());
  if (name == "from_file") throw Error("operators that open files are not supported");
  for (const char* beginning : {"empty", "new_empty", "resize", "_resize", "_empty"})
    if (name.starts_with(beginning))
      throw Error("its result is memory that nobody wrote, so there is nothing to compare");
}

c10::OperatorHandle find_operator(const std::string& op) {
  const c10::OperatorName name = operator_name(op);
  const auto found = c10::Dispatcher::singleton().findSchema(name);
  if (!found) fail_unknown_operator(name);
  return *found;
}

}  // namespace

struct AtenCall::Impl {
  std::string label;  //!< "node softmax_1 (aten::softmax.int)"
  c10::OperatorHandle op;
  CallTemplate prepared;
  at::Device device;
  std::optional<std::uint64_t> seed;
  bool draws = false;

  const c10::FunctionSchema& schema() const { return op.schema(); }

  const c10::IValue* constant(std::string_view argument) const {
    const auto index = schema().argumentIndexWithName(argument);
    return index ? &prepared.stack[static_cast<std::size_t>(*index)] : nullptr;
  }

  const TensorSlot* slot(std::string_view argument) const {
    const auto index = schema().argumentIndexWithName(argument);
    const auto matches = [&](const TensorSlot& slot) {
      return index && slot.position == static_cast<std::size_t>(*index);
    };
    const auto found = std::ranges::find_if(prepared.slots, matches);
    return found == prepared.slots.end() ? nullptr : &*found;
  }

  bool is_false(std::string_view argument) const {
    const c10::IValue* value = constant(argument);
    return value && value->isBool() && !value->toBool();
  }

  bool is_zero(std::string_view argument) const {
    const c10::IValue* value = constant(argument);
    return value && value->isDouble() && value->toDouble() == 0.0;
  }

  //! Dropout and its kin carry the tag even where they draw nothing.
  bool draws_random_numbers() const {
    if (!op.hasTag(at::Tag::nondeterministic_seeded)) return false;
    return !(is_false("train") || is_false("training") || is_zero("p") || is_zero("dropout_p") || is_zero("dropout"));
  }

  //! The operator draws from the device's own generator.
  void seed_generator() const {
    if (!draws || !seed || device.is_meta()) return;
    if (!device.is_cpu()) at::globalContext().lazyInitDevice(device.type());
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(*seed);
  }

  //! Normalisations update their running statistics without saying so in the schema.
  bool writes_running_statistics() const {
    const c10::IValue* training = constant(constant("use_input_stats") ? "use_input_stats" : "training");
    return training && training->isBool() && training->toBool();
  }

  void check_writes(const Node& node) const {
    for (std::size_t i = 0; i < schema().arguments().size(); ++i) {
      const c10::Argument& argument = schema().arguments()[i];
      const bool is_statistic = argument.name() == "running_mean" || argument.name() == "running_var";
      const bool is_written =
          (argument.alias_info() && argument.alias_info()->isWrite()) || (is_statistic && writes_running_statistics());
      const TensorSlot* written = is_written ? slot(argument.name()) : nullptr;
      if (!written) continue;
      for (const ValueId id : written->ids)
        if (std::ranges::find(node.writes_state, id) == node.writes_state.end())
          throw Error(
              fmt::format("the operator writes its argument \"{}\", which must be a state that the node lists "
                          "in writes_state",
                          argument.name()));
    }
  }

  void fill(torch::jit::Stack& stack, const std::function<const at::Tensor&(ValueId)>& lookup) const {
    for (const TensorSlot& slot : prepared.slots) {
      if (slot.form == TensorSlot::Form::single) {
        stack[slot.position] = lookup(slot.ids.front());
      } else if (slot.form == TensorSlot::Form::list) {
        c10::List<at::Tensor> list;
        for (const ValueId id : slot.ids) list.push_back(id < 0 ? at::Tensor() : lookup(id));
        stack[slot.position] = std::move(list);
      } else {
        c10::List<std::optional<at::Tensor>> list;
        for (const ValueId id : slot.ids) list.push_back(id < 0 ? std::nullopt : std::optional(lookup(id)));
        stack[slot.position] = std::move(list);
      }
    }
  }

  //! An export froze the flag of the machine it was made on.
  void set_backend_flags(torch::jit::Stack& stack) const {
    if (const auto index = schema().argumentIndexWithName("cudnn_enabled"))
      stack[static_cast<std::size_t>(*index)] = at::globalContext().userEnabledCuDNN();
  }

  std::vector<at::Tensor> collect(torch::jit::Stack& stack) const {
    std::vector<at::Tensor> outputs;
    for (c10::IValue& returned : stack) {
      if (returned.isTensorList()) {
        for (const at::Tensor& tensor : returned.toTensorVector()) outputs.push_back(tensor);
      } else if (returned.isTensor()) {
        outputs.push_back(std::move(returned).toTensor());
      } else {
        throw Error(fmt::format("{}: returns {}, not a tensor", label, returned.tagKind()));
      }
      // Some kernels leave outputs undefined that carry nothing; a value of a graph always is a tensor.
      if (!outputs.empty() && !outputs.back().defined()) outputs.back() = at::empty({0});
    }
    return outputs;
  }
};

at::ScalarType to_scalar_type(DType dtype) { return scalar_types.at(static_cast<std::size_t>(dtype)).second; }

DType from_scalar_type(at::ScalarType type) {
  const auto found = std::ranges::find(scalar_types, type, &std::pair<DType, at::ScalarType>::second);
  if (found == scalar_types.end()) throw Error(fmt::format("dtype {} is not supported", c10::toString(type)));
  return found->first;
}

AtenCall::AtenCall(const Node& node, at::Device device, bool widen, RandomNumbers random_numbers) {
  const std::string label = fmt::format("node {} ({})", node.name, node.op);
  try {
    refuse_what_is_no_function(node.op);
    const c10::OperatorHandle op = find_operator(node.op);
    const bool seeded = random_numbers == RandomNumbers::of_the_task;
    impl_ = std::make_unique<Impl>(Impl{label, op, make_call_template(op.schema(), node, device, widen), device,
                                        seeded ? std::optional(seed_of_node(node.name)) : std::nullopt});
    impl_->draws = impl_->draws_random_numbers();
    if (impl_->draws && seeded && !draws_repeatably(node.op)) throw Error("its random numbers cannot be drawn again");
    impl_->check_writes(node);
  } catch (const Error& problem) {
    throw Error(fmt::format("{}: {}", label, problem.what()));
  }
}

AtenCall::~AtenCall() = default;
AtenCall::AtenCall(AtenCall&&) noexcept = default;

std::vector<at::Tensor> AtenCall::operator()(const std::function<const at::Tensor&(ValueId)>& lookup) const {
  // Nothing here needs gradients, views' histories or version counters: go straight to the backend's kernels.
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::AutoGradMode no_gradients(false);
  torch::jit::Stack stack = impl_->prepared.stack;
  impl_->fill(stack, lookup);
  impl_->set_backend_flags(stack);
  with_torch_errors(impl_->label, [&] {
    impl_->seed_generator();
    impl_->op.callBoxed(stack);
  });
  return impl_->collect(stack);
}

bool AtenCall::returns_view() const {
  return std::ranges::any_of(impl_->schema().returns(), [](const c10::Argument& returned) {
    return returned.alias_info() && !returned.alias_info()->isWrite();
  });
}

bool AtenCall::draws_random_numbers() const { return impl_->draws; }

bool AtenCall::sizes_depend_on_values() const {
  return impl_->op.hasTag(at::Tag::dynamic_output_shape) || impl_->op.hasTag(at::Tag::data_dependent_output);
}

std::vector<ValueId> AtenCall::values_of(std::string_view argument) const {
  const TensorSlot* slot = impl_->slot(argument);
  return slot ? slot->ids : std::vector<ValueId>{};
}

std::vector<std::int64_t> AtenCall::integers_of(std::string_view argument) const {
  const c10::IValue* value = impl_->constant(argument);
  if (!value) return {};
  if (value->isInt()) return {value->toInt()};
  if (value->isBool()) return {value->toBool() ? 1 : 0};
  return value->isIntList() ? value->toIntVector() : std::vector<std::int64_t>{};
}

double AtenCall::number_of(std::string_view argument) const {
  const c10::IValue* value = impl_->constant(argument);
  return value && (value->isDouble() || value->isInt()) ? value->toScalar().toDouble() : 0.0;
}

}  // namespace cudal1
