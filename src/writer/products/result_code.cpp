#include "writer/products/result_code.hpp"

#include <fmt/format.h>

#include "writer/fused/element_code.hpp"

namespace cudal1 {

std::vector<std::string> loop_names(const char* letter, std::size_t count) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(fmt::format("{}{}", letter, i));
  return made;
}

std::vector<std::string> names_of(const std::vector<Loop>& batches, const std::vector<Loop>& lines, const char* line,
                                  const std::vector<Loop>& others, const char* other) {
  std::vector<std::string> made = loop_names("b", batches.size());
  for (const std::string& name : loop_names(line, lines.size())) made.push_back(name);
  for (const std::string& name : loop_names(other, others.size())) made.push_back(name);
  return made;
}

std::vector<std::string> result_names(const ProductResults& results) {
  return names_of(results.batches, results.rows, "r", results.columns, "c");
}

std::string math_name(const ProductShape& shape) {
  constexpr const char* texts[] = {"Fp32", "Tf32x3", "HalfInputs", "Tf32x3Groups"};
  if (shape.math == ProductMath::tf32x3 && shape.loop != WarpLoop{})
    return fmt::format("Tf32x3By<{}, {}>", shape.loop.in_a_row, shape.loop.ahead);
  return texts[static_cast<int>(shape.math)];
}

std::string launch_bounds(const ProductShape& shape) {
  const std::string threads = std::to_string(shape.tile.threads());
  return shape.blocks > 1 ? fmt::format("{}, {}", threads, shape.blocks) : threads;
}

std::string element_results(const OpGraph& graph, const AccessCode& access, const FusedTerms& fused,
                            const std::string& indent) {
  std::string before, after, stores;
  for (std::size_t i = 0; i < fused.terms.size(); ++i)
    if (fused.terms[i].kind == TermKind::load) before += access.load_before(static_cast<int>(i), indent);
  const auto given = [&](int term) -> std::optional<std::string> {
    const TermKind kind = fused.terms[term].kind;
    if (kind != TermKind::load && kind != TermKind::position) return std::nullopt;
    return access.element(term, fmt::format("v{}", term));
  };
  ElementCode code(fused, given, indent + "  ");
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    const std::string value = code[fused.outputs[i].term];
    if (!access.output_is_vector(i)) {
      stores += access.store_element(i, value, indent + "  ");
      continue;
    }
    const DType dtype = graph.values[fused.outputs[i].value].meta.dtype;
    before += access.vector_variable(i, indent);
    stores += fmt::format("{}  o{}[e] = {};\n", indent, i, stored(value, dtype));
    after += access.store_vector(i, indent);
  }
  return fmt::format("{}#pragma unroll\n{}for (int e = 0; e < {}; ++e) {{\n{}{}{}}}\n{}", before, indent,
                     access.width(), code.text(), stores, indent, after);
}

}  // namespace cudal1
