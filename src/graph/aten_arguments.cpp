#include "graph/aten_arguments.hpp"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <fmt/format.h>

#include <map>
#include <optional>

#include "base/result.hpp"
#include "graph/aten_call.hpp"

namespace cudal1 {
namespace {

using c10::IValue;
using c10::TypeKind;

std::optional<std::int64_t> as_integer(const Argument& argument) {
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) return *integer;
  return std::nullopt;
}

std::optional<double> as_double(const Argument& argument) {
  if (const auto integer = as_integer(argument)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&argument)) return *number;
  return std::nullopt;
}

std::optional<c10::Scalar> as_scalar(const Argument& argument) {
  if (const auto integer = as_integer(argument)) return c10::Scalar(*integer);
  if (const auto number = as_double(argument)) return c10::Scalar(*number);
  if (const auto* truth = std::get_if<bool>(&argument)) return c10::Scalar(*truth);
  return std::nullopt;
}

//! A number where a tensor is wanted, as Python's `x + 2`: it takes part in type promotion as a number does.
at::Tensor wrapped_number(const c10::Scalar& number) {
  at::Tensor tensor = at::scalar_tensor(number, at::TensorOptions().dtype(number.type()));
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

std::optional<c10::MemoryFormat> memory_format_from_string(const std::string& name) {
  static const std::map<std::string, c10::MemoryFormat> formats{
      {"contiguous_format", c10::MemoryFormat::Contiguous},
      {"preserve_format", c10::MemoryFormat::Preserve},
      {"channels_last", c10::MemoryFormat::ChannelsLast},
      {"channels_last_3d", c10::MemoryFormat::ChannelsLast3d}};
  const auto found = formats.find(name);
  return found == formats.end() ? std::nullopt : std::optional(found->second);
}

c10::TypePtr without_optional(const c10::TypePtr& type) {
  const auto* optional = type->castRaw<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

bool is_optional(const c10::TypePtr& type) { return type->kind() == TypeKind::OptionalType; }

//! Builds the stack of one call, argument by argument.
class TemplateBuilder {
 public:
  TemplateBuilder(const c10::FunctionSchema& schema, const Node& node, at::Device device, bool widen)
      : schema_(schema), node_(node), device_(device), widen_(widen) {}

  CallTemplate build() {
    check_counts();
    for (std::size_t i = 0; i < schema_.arguments().size(); ++i) {
      current_ = &schema_.arguments()[i];
      const Argument* given = find_given(i);
      result_.stack.push_back(given ? convert(*given) : default_value());
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(fmt::format("argument \"{}\": {}", current_->name(), message));
  }

  void check_counts() const {
    std::size_t positional = 0;
    for (const c10::Argument& argument : schema_.arguments()) positional += argument.kwarg_only() ? 0 : 1;
    if (node_.args.size() > positional)
      throw Error(fmt::format("{} positional arguments, but the operator takes {}", node_.args.size(), positional));
    for (const auto& [name, ignored] : node_.kwargs) {
      const auto index = schema_.argumentIndexWithName(name);
      if (!index) throw Error(fmt::format("the operator has no argument \"{}\"", name));
      if (static_cast<std::size_t>(*index) < node_.args.size())
        throw Error(fmt::format("argument \"{}\" is given twice", name));
    }
  }

  const Argument* find_given(std::size_t index) const {
    if (index < node_.args.size()) return &node_.args[index];
    for (const auto& [name, argument] : node_.kwargs)
      if (name == current_->name()) return &argument;
    return nullptr;
  }

  IValue default_value() const {
    const c10::TypePtr type = current_->real_type();
    if (without_optional(type)->kind() == TypeKind::DeviceObjType) return device_;
    if (current_->default_value()) return *current_->default_value();
    if (is_optional(type)) return IValue();
    throw Error(fmt::format("argument \"{}\" is missing", current_->name()));
  }

  IValue convert(const Argument& argument) {
    const c10::TypePtr type = current_->real_type();
    const TypeKind kind = without_optional(type)->kind();
    if (kind == TypeKind::DeviceObjType) return device_;  // a task does not say where it runs
    if (std::holds_alternative<NoArgument>(argument)) {
      if (!is_optional(type)) fail("null, but the operator needs a value");
      return IValue();
    }
    if (kind == TypeKind::TensorType) return convert_tensor(argument);
    if (kind == TypeKind::ListType) return convert_list(*without_optional(type)->castRaw<c10::ListType>(), argument);
    return convert_plain(kind, argument);
  }

  IValue convert_tensor(const Argument& argument) {
    if (const auto* value = std::get_if<ValueRef>(&argument)) return add_slot(TensorSlot::Form::single, {value->id});
    if (const auto number = as_scalar(argument)) return wrapped_number(*number);
    fail("expected the name of a value or a number");
  }

  IValue add_slot(TensorSlot::Form form, std::vector<ValueId> ids) {
    result_.slots.push_back({result_.stack.size(), form, std::move(ids)});
    return IValue();
  }

  IValue convert_list(const c10::ListType& list, const Argument& argument) {
    const c10::TypePtr element = list.getElementType();
    switch (without_optional(element)->kind()) {
      case TypeKind::TensorType:
        return add_slot(is_optional(element) ? TensorSlot::Form::optional_list : TensorSlot::Form::list,
                        value_ids(argument));
      case TypeKind::IntType:
      case TypeKind::SymIntType:
        return integer_list(argument);
      case TypeKind::FloatType:
        return double_list(argument);
      case TypeKind::BoolType:
        if (const auto* truths = std::get_if<std::vector<bool>>(&argument)) return bool_list(*truths);
        fail("expected a list of booleans");
      default:
        fail(fmt::format("arguments of type {} are not supported", list.repr_str()));
    }
  }

  std::vector<ValueId> value_ids(const Argument& argument) const {
    std::vector<ValueId> ids;
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&argument); integers && integers->empty())
      return ids;  // an empty list has no type of its own
    const auto* values = std::get_if<ValueList>(&argument);
    if (!values) fail("expected a list of names of values");
    for (const ValueRef& value : *values) ids.push_back(value.id);
    return ids;
  }

  IValue integer_list(const Argument& argument) const {
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&argument)) return *integers;
    const auto single = as_integer(argument);  // `int[2] stride` accepts 1 for [1, 1]
    if (single && current_->N()) return std::vector<std::int64_t>(static_cast<std::size_t>(*current_->N()), *single);
    fail("expected a list of integers");
  }

  IValue double_list(const Argument& argument) const {
    if (const auto* numbers = std::get_if<std::vector<double>>(&argument)) return *numbers;
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&argument))
      return std::vector<double>(integers->begin(), integers->end());
    fail("expected a list of numbers");
  }

  static IValue bool_list(const std::vector<bool>& truths) {
    c10::List<bool> list;
    for (const bool truth : truths) list.push_back(truth);
    return list;
  }

  IValue convert_plain(TypeKind kind, const Argument& argument) const {
    switch (kind) {
      case TypeKind::IntType:
      case TypeKind::SymIntType:
        if (const auto integer = as_integer(argument)) return *integer;
        fail("expected an integer");
      case TypeKind::FloatType:
      case TypeKind::SymFloatType:
        if (const auto number = as_double(argument)) return *number;
        fail("expected a number");
      case TypeKind::NumberType:
        if (const auto number = as_scalar(argument)) return *number;
        fail("expected a number");
      case TypeKind::BoolType:
      case TypeKind::SymBoolType:
        if (const auto* truth = std::get_if<bool>(&argument)) return *truth;
        fail("expected true or false");
      case TypeKind::StringType:
        if (const auto* text = std::get_if<std::string>(&argument)) return *text;
        fail("expected {\"string\": …}");
      default:
        return convert_tensor_option(kind, argument);
    }
  }

  IValue convert_tensor_option(TypeKind kind, const Argument& argument) const {
    const auto* text = std::get_if<std::string>(&argument);
    if (kind == TypeKind::ScalarTypeType) {
      const auto* dtype = std::get_if<DTypeArgument>(&argument);
      if (!dtype) fail("expected {\"dtype\": …}");
      const bool widened = widen_ && dtype->compute && is_floating(dtype->dtype);
      return static_cast<std::int64_t>(to_scalar_type(widened ? DType::f64 : dtype->dtype));
    }
    if (kind == TypeKind::MemoryFormatType) {
      const auto format = text ? memory_format_from_string(*text) : std::nullopt;
      if (!format)
        fail(
            "expected {\"string\": …} with contiguous_format, preserve_format, channels_last or "
            "channels_last_3d");
      return static_cast<std::int64_t>(*format);
    }
    if (kind == TypeKind::LayoutType && text && *text == "strided") return static_cast<std::int64_t>(c10::kStrided);
    fail("an argument of this type is not supported");
  }

  const c10::FunctionSchema& schema_;
  const Node& node_;
  at::Device device_;
  bool widen_;
  const c10::Argument* current_ = nullptr;
  CallTemplate result_;
};

}  // namespace

CallTemplate make_call_template(const c10::FunctionSchema& schema, const Node& node, at::Device device, bool widen) {
  return TemplateBuilder(schema, node, device, widen).build();
}

}  // namespace cudal1
