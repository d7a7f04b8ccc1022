#include "program/element_type.hpp"

#include <algorithm>
#include <map>

namespace cudal1 {
namespace {

using Scalar = ElementType::Scalar;

const std::map<std::string, ElementType, std::less<>>& named_types() {
  static const std::map<std::string, ElementType, std::less<>> types = [] {
    std::map<std::string, ElementType, std::less<>> table = {{"float", {Scalar::f32}},
                                                             {"double", {Scalar::f64}},
                                                             {"bool", {Scalar::boolean}},
                                                             {"half", {Scalar::f16}},
                                                             {"__half", {Scalar::f16}},
                                                             {"half2", {Scalar::f16, 2}},
                                                             {"__half2", {Scalar::f16, 2}},
                                                             {"nv_bfloat16", {Scalar::bf16}},
                                                             {"__nv_bfloat16", {Scalar::bf16}},
                                                             {"nv_bfloat162", {Scalar::bf16, 2}},
                                                             {"__nv_bfloat162", {Scalar::bf16, 2}},
                                                             {"int8_t", {Scalar::i8}},
                                                             {"uint8_t", {Scalar::u8}},
                                                             {"int16_t", {Scalar::i16}},
                                                             {"uint16_t", {Scalar::u16}},
                                                             {"int32_t", {Scalar::i32}},
                                                             {"uint32_t", {Scalar::u32}},
                                                             {"int64_t", {Scalar::i64}},
                                                             {"uint64_t", {Scalar::u64}},
                                                             {"size_t", {Scalar::u64}},
                                                             {"ptrdiff_t", {Scalar::i64}}};
    const std::pair<std::string, Scalar> vectors[] = {
        {"float", Scalar::f32}, {"double", Scalar::f64}, {"char", Scalar::i8},      {"uchar", Scalar::u8},
        {"short", Scalar::i16}, {"ushort", Scalar::u16}, {"int", Scalar::i32},      {"uint", Scalar::u32},
        {"long", Scalar::i64},  {"ulong", Scalar::u64},  {"longlong", Scalar::i64}, {"ulonglong", Scalar::u64}};
    for (const auto& [name, scalar] : vectors) {
      for (int lanes = 1; lanes <= 4; ++lanes) table[name + std::to_string(lanes)] = {scalar, lanes};
    }
    return table;
  }();
  return types;
}

Scalar integer_of_bytes(int bytes, bool is_unsigned) {
  if (bytes == 1) return is_unsigned ? Scalar::u8 : Scalar::i8;
  if (bytes == 2) return is_unsigned ? Scalar::u16 : Scalar::i16;
  if (bytes == 4) return is_unsigned ? Scalar::u32 : Scalar::i32;
  return is_unsigned ? Scalar::u64 : Scalar::i64;
}

//! `unsigned long long`, `short int` and so on; device code is LP64, so long has eight bytes.
ElementType combined_type(const std::vector<std::string_view>& words) {
  const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  const int bytes = has("char") ? 1 : has("short") ? 2 : has("long") ? 8 : 4;
  return {integer_of_bytes(bytes, has("unsigned")), 1};
}

bool is_integer(Scalar scalar) { return scalar >= Scalar::i8 && scalar <= Scalar::u64; }

}  // namespace

bool is_builtin_type_word(std::string_view word) {
  return word == "unsigned" || word == "signed" || word == "char" || word == "short" || word == "int" || word == "long";
}

std::optional<ElementType> element_type(const std::vector<std::string_view>& words) {
  if (words.empty()) return std::nullopt;
  if (std::all_of(words.begin(), words.end(), is_builtin_type_word)) return combined_type(words);
  const auto found = named_types().find(words.back());
  return words.size() == 1 && found != named_types().end() ? std::optional(found->second) : std::nullopt;
}

bool fits_tensor(const ElementType& type, DType dtype) {
  // Wide unsigned types and integer vectors are how code moves raw bits, whatever these mean.
  if (is_integer(type.scalar) && type.lanes > 1) return true;
  switch (type.scalar) {
    case Scalar::f32:
      return dtype == DType::f32;
    case Scalar::f64:
      return dtype == DType::f64;
    case Scalar::f16:
      return dtype == DType::f16;
    case Scalar::bf16:
      return dtype == DType::bf16;
    case Scalar::i16:
      return dtype == DType::i16;
    case Scalar::i32:
      return dtype == DType::i32;
    case Scalar::i64:
      return dtype == DType::i64;
    case Scalar::boolean:
      return dtype == DType::boolean || dtype == DType::u8;
    case Scalar::i8:
    case Scalar::u8:
      return size_in_bytes(dtype) == 1;
    default:
      return true;
  }
}

std::string_view argument_prefix(const ElementType& type) {
  if (type.lanes != 1) return {};
  switch (type.scalar) {
    case Scalar::f32:
      return "f32:";
    case Scalar::f64:
      return "f64:";
    case Scalar::i32:
      return "i32:";
    case Scalar::u32:
      return "u32:";
    case Scalar::i64:
      return "i64:";
    case Scalar::u64:
      return "u64:";
    default:
      return {};
  }
}

bool fits_scalar(const ElementType& type, const ScalarArgument& scalar) {
  const std::string_view prefix = argument_prefix(type);
  if (prefix.empty()) return false;
  if (prefix.substr(0, 3) == scalar.type) return true;
  const bool same_width = prefix.substr(1, 2) == std::string_view(scalar.type).substr(1);
  const bool both_integers = prefix[0] != 'f' && scalar.type[0] != 'f';
  const bool sign_bit_set = (scalar.bits >> (8 * scalar.size_bytes - 1)) & 1;
  return same_width && both_integers && !sign_bit_set;
}

}  // namespace cudal1
