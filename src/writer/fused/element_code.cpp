#include "writer/fused/element_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace cudal1 {
namespace {

//! There is a variable for it already.
bool is_name(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

}  // namespace

std::string ElementCode::operator[](int index) {
  const Term& term = terms_.terms[index];
  if (term.kind == TermKind::constant) return term.code;
  if (const auto known = names_.find(index); known != names_.end()) return known->second;
  const std::optional<std::string> given = given_(index);
  if (given && is_name(*given)) return names_[index] = *given;
  const std::string value = with_operands(given ? *given : code_of(index), term);
  const std::string name = fmt::format("t{}", index);
  const bool is_value = term.kind == TermKind::reduce || term.kind == TermKind::scan;  // of an operation: any type
  text_ += fmt::format("{}const {} {} = {};\n", indent_, is_value ? "auto" : cuda_name(term.scalar), name, value);
  return names_[index] = name;
}

const std::string& ElementCode::code_of(int index) const {
  static const std::string sum = "{0} + {1}", rounded_sum = "cudal1::sum({0}, {1})";
  const Term& term = terms_.terms[index];
  const bool rounds = rounded_sums_ != nullptr && term.scalar == ScalarKind::real && rounded_sums_->contains(index);
  return rounds && term.code == sum ? rounded_sum : term.code;
}

std::string ElementCode::with_operands(const std::string& code, const Term& term) {
  std::string text;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] != '{') {
      text += code[i];
      continue;
    }
    text += (*this)[term.operands[static_cast<std::size_t>(code[i + 1] - '0')]];
    i += 2;
  }
  return text;
}

std::string loaded(const std::string& element, DType dtype) {
  if (dtype == DType::f32 || dtype == DType::i64 || dtype == DType::boolean) return element;
  if (is_floating(dtype)) return fmt::format("cudal1::to_float({})", element);
  return fmt::format("static_cast<long long>({})", element);
}

std::string stored(const std::string& scalar, DType dtype) {
  if (dtype == DType::f32 || dtype == DType::i64 || dtype == DType::boolean) return scalar;
  if (is_floating(dtype)) return fmt::format("cudal1::from_float<{}>({})", cuda_element_name(dtype), scalar);
  return fmt::format("static_cast<{}>({})", cuda_element_name(dtype), scalar);
}

//! Operations whose values are plain numbers have `combine` alone.
std::string accumulated(const std::string& operation, const std::string& before, const std::string& element) {
  const auto is = [&](const char* name) { return operation.find(name) != operation.npos; };
  const bool adds = is("ArgMax") || is("ArgMin") || is("Welford") || is("LogSumExp");
  return fmt::format("{}::{}({}, {})", operation, adds ? "add" : "combine", before, element);
}

std::string header_for(DType dtype) {
  if (dtype == DType::f16) return "cudal1/half.cuh";
  if (dtype == DType::bf16) return "cudal1/bfloat16.cuh";
  return {};
}

}  // namespace cudal1
