// What a C++ type name of a kernel's parameter says about its elements.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/tensor_meta.hpp"
#include "program/plan.hpp"

namespace cudal1 {

//! float4 is {f32, 4}; `unsigned` is {u32, 1}.
struct ElementType {
  enum class Scalar { f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, boolean } scalar = Scalar::f32;
  int lanes = 1;
  bool operator==(const ElementType&) const = default;
};

//! The words of a type without const and the like: {"unsigned", "int"}. Nothing for types we do not know.
std::optional<ElementType> element_type(const std::vector<std::string_view>& words);

//! One of the words that may be combined: unsigned, long, int …
bool is_builtin_type_word(std::string_view word);

//! May a pointer to this type point to a tensor of that dtype?
bool fits_tensor(const ElementType& type, DType dtype);

//! May a parameter of this type take that number? Signs may differ as long as the value means the same.
bool fits_scalar(const ElementType& type, const ScalarArgument& scalar);

//! How the argument for such a parameter is written ("i32:"); empty if none can be.
std::string_view argument_prefix(const ElementType& type);

}  // namespace cudal1
