#include "writer/fused/terms.hpp"

#include <algorithm>

namespace cudal1 {

bool is_read(const Term& term) { return term.kind == TermKind::load || term.kind == TermKind::gather; }

ScalarKind scalar_kind(DType dtype) {
  if (dtype == DType::boolean) return ScalarKind::boolean;
  return is_floating(dtype) ? ScalarKind::real : ScalarKind::integer;
}

std::string_view cuda_name(ScalarKind kind) {
  constexpr std::string_view names[] = {"bool", "long long", "float"};
  return names[static_cast<int>(kind)];
}

std::string_view cuda_element_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::f16:
      return "__half";
    case DType::bf16:
      return "__nv_bfloat16";
    case DType::i8:
      return "signed char";
    case DType::i16:
      return "short";
    case DType::i32:
      return "int";
    case DType::i64:
      return "long long";
    case DType::u8:
      return "unsigned char";
    case DType::boolean:
      break;
  }
  return "bool";
}

void FusedTerms::resolve() {
  for (Term& term : terms) {
    term.place = atoms.resolved(term.place);
    term.loops = atoms.parts_of(term.loops);
  }
  for (Output& output : outputs) output.place = atoms.resolved(output.place);
}

std::vector<std::set<int>> FusedTerms::atoms_of_terms() const {
  std::vector<std::set<int>> all;
  for (const Term& term : terms) {
    std::set<int> found;
    for (const auto& [atom, factor] : term.place.factors) found.insert(atom);
    for (const int operand : term.operands) found.insert(all[operand].begin(), all[operand].end());
    for (const WindowDim& window : term.windows)
      for (const Affine* along : {&window.index, &window.part, &window.divided})
        for (const auto& [atom, factor] : along->factors) found.insert(atom);
    for (const int loop : term.loops) found.erase(loop);
    for (const WindowDim& window : term.windows) {
      found.erase(window.quotient);
      found.erase(window.remainder);
    }
    all.push_back(std::move(found));
  }
  return all;
}

std::vector<Affine> FusedTerms::places() const {
  std::vector<Affine> all;
  for (const Output& output : outputs) all.push_back(output.place);
  for (const Term& term : terms)
    if (is_read(term)) all.push_back(term.place);
  for (const Term& term : terms)
    for (const WindowDim& window : term.windows) {
      all.push_back(window.index);
      all.push_back(window.part);
      all.push_back(window.divided);
    }
  return all;
}

std::set<int> FusedTerms::positions() const {
  std::set<int> found;
  for (const Term& term : terms)
    if (term.kind == TermKind::position)
      for (const auto& [atom, factor] : term.place.factors) found.insert(atom);
  return found;
}

std::vector<ValueId> FusedTerms::reads() const {
  std::vector<ValueId> values;
  for (const Term& term : terms)
    if (is_read(term) && std::ranges::find(values, term.value) == values.end()) values.push_back(term.value);
  return values;
}

}  // namespace cudal1
