#include "writer/products/operand_code.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "writer/fused/element_code.hpp"
#include "writer/products/result_code.hpp"
#include "writer/products/triangle.hpp"

namespace cudal1 {
namespace {

class OperandCode {
 public:
  OperandCode(const OpGraph& graph, const ProductSpace& space, const ProductShape& shape)
      : graph_(graph), space_(space), shape_(shape) {}

  //! Which part of the depth the block adds up.
  std::string depth_range() const {
    const std::int64_t part = shape_.part(space_.sizes), depth = space_.sizes.depth;
    const std::string begin = is_split() ? fmt::format("static_cast<int>(blockIdx.y) * {}", part) : "0";
    std::string end = fmt::format("{}", depth);
    if (is_split()) end = fmt::format("begin + {} < {} ? begin + {} : {}", part, depth, part, depth);
    if (const auto triangle = kept_triangle(space_.results))
      end = fmt::format("!({}) ? begin : {}", triangle->is_needed(shape_.tile), end);
    return fmt::format("  const int begin = {};\n  const int end = {};\n", begin, end);
  }

  std::string operand(const ProductOperand& operand, const std::string& name, std::int64_t lines) const {
    if (!operand.is_direct) return computed_operand(operand, name, lines);
    const Term& load = operand.load();
    const bool turned = shape_.math == ProductMath::fp32 && operand.along_depth;
    AccessCode access(graph_, operand.fused, operand.loops(),
                      names_of(operand.batches, operand.lines, "l", operand.depth, "k"));
    access.set_wide(true);
    Affine start = load.place;  // of the batch; lines and depth are the operand's own business
    std::erase_if(start.factors, [&](const auto& entry) {
      return std::ranges::none_of(operand.batches, [&](const Loop& loop) {
        return std::ranges::find(loop.atoms, entry.first) != loop.atoms.end();
      });
    });
    const std::string type =
        fmt::format("const cudal1::StridedOperand<{}, {}, {}, {}, {}, {}>", cuda_element_name(space_.dtype), lines,
                    space_.sizes.depth, operand.along_depth, operand.stride, turned ? 1 : operand.vector);
    const std::string address = access.variable(load.value) + (start == Affine{} ? "" : " + " + access.place(start));
    if (start.factors.empty()) return fmt::format("  {} {}{{{}}};\n", type, name, address);
    return fmt::format(
        "  {} {}{{[&] {{\n{}    return {};\n  }}()}};\n", type, name,
        index_statements(operand.batches, loop_names("b", operand.batches.size()), "batch", true, "    "), address);
  }

  std::string computed_operand(const ProductOperand& operand, const std::string& name, std::int64_t lines) const {
    AccessCode access(graph_, operand.fused, operand.loops(),
                      names_of(operand.batches, operand.lines, "l", operand.depth, "k"));
    access.set_wide(access.reaches_far());
    const auto type = cuda_element_name(space_.dtype);
    std::string text = fmt::format(
        "  const auto {} = cudal1::computed_operand<{}, {}, {}, {}>([&](unsigned line, unsigned depth) -> {} {{\n",
        name, type, lines, space_.sizes.depth, operand.along_depth, type);
    text +=
        index_statements(operand.batches, loop_names("b", operand.batches.size()), "batch", access.is_wide(), "    ");
    text += index_statements(operand.lines, loop_names("l", operand.lines.size()), "line", access.is_wide(), "    ");
    text += index_statements(operand.depth, loop_names("k", operand.depth.size()), "depth", access.is_wide(), "    ");
    const auto given = [&](int term) -> std::optional<std::string> {
      const TermKind kind = operand.fused.terms[term].kind;
      if (kind != TermKind::load && kind != TermKind::position) return std::nullopt;
      return access.element_now(term);
    };
    ElementCode code(operand.fused, given, "    ");
    const std::string value = code[operand.term];
    return text + code.text() + fmt::format("    return {};\n  }});\n", stored(value, space_.dtype));
  }

 private:
  bool is_split() const { return shape_.split > 1; }

  const OpGraph& graph_;
  const ProductSpace& space_;
  const ProductShape& shape_;
};

}  // namespace

std::string sums_of_tile(const OpGraph& graph, const ProductSpace& space, const ProductShape& shape) {
  const OperandCode code(graph, space, shape);
  std::string text = tile_of_block(shape, space.sizes);
  text += code.operand(space.left, "left", space.sizes.rows);
  text += code.operand(space.right, "right", space.sizes.columns);
  text += code.depth_range();
  return text + fmt::format(
                    "  const float* sums = cudal1::tiled_product<Tile, cudal1::{}>(cudal1_shared, left, right, "
                    "first_row, first_column, begin, end);\n",
                    math_name(shape));
}

std::set<std::string> operand_headers(const OpGraph& graph, const ProductSpace& space) {
  std::set<std::string> headers;
  for (const ProductOperand* operand : {&space.left, &space.right})
    headers.merge(AccessCode(graph, operand->fused, operand->loops(), {}).headers());
  return headers;
}

}  // namespace cudal1
