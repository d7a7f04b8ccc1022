#include "writer/fused/row_passes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cudal1 {
namespace {

template <class T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

//! The term and all it is made of, without what reductions give.
void add_with_operands(const FusedTerms& fused, int term, std::set<int>& found) {
  if (fused.terms[term].kind == TermKind::reduce || !found.insert(term).second) return;
  for (const int operand : fused.terms[term].operands) add_with_operands(fused, operand, found);
}

//! Terms that more than one pass computes, that of the outputs included.
std::set<int> terms_of_several_passes(const RowSpace& space) {
  std::vector<std::set<int>> of_pass(space.passes() + 1);
  for (std::size_t i = 0; i < space.reductions.size(); ++i)
    for (const int operand : space.fused.terms[space.reductions[i]].operands)
      add_with_operands(space.fused, operand, of_pass[space.pass_of[i]]);
  for (const FusedTerms::Output& output : space.fused.outputs)
    add_with_operands(space.fused, output.term, of_pass.back());
  std::set<int> once, again;
  for (const std::set<int>& terms : of_pass)
    for (const int term : terms)
      if (!once.insert(term).second) again.insert(term);
  return again;
}

}  // namespace

RowPasses::RowPasses(const OpGraph& graph, const RowSpace& space, NamedLoops rows, NamedLoops columns)
    : graph_(graph),
      space_(space),
      rows_(std::move(rows)),
      columns_(std::move(columns)),
      access_(graph, space.fused, joined(rows_.loops, columns_.loops), joined(rows_.names, columns_.names)),
      computed_again_(terms_of_several_passes(space)) {}

ElementCode RowPasses::element_code(std::function<std::optional<std::string>(int)> given, const char* indent) const {
  ElementCode code(space_.fused, std::move(given), indent);
  code.round_sums(computed_again_);
  return code;
}

void RowPasses::start_row() {
  row_code_ = std::make_unique<ElementCode>(element_code([this](int term) { return given_to_row(term); }, "  "));
  row_text_written_ = 0;
}

std::optional<std::string> RowPasses::given_to_row(int term) const {
  const TermKind kind = space_.fused.terms[term].kind;
  if (kind == TermKind::map) return std::nullopt;
  if (kind != TermKind::reduce) return access_.element_now(term);
  return fmt::format("x{}", std::ranges::find(space_.reductions, term) - space_.reductions.begin());
}

std::optional<std::string> RowPasses::given(int index) {
  if (!space_.in_columns[index]) return (*row_code_)[index];
  if (space_.fused.terms[index].kind == TermKind::map) return std::nullopt;
  return access_.element(index, loaded_name(index));
}

std::string RowPasses::loaded_name(int term) const { return fmt::format("v{}", term); }

std::string RowPasses::new_row_text() {
  const std::string text = row_code_->text().substr(row_text_written_);
  row_text_written_ = row_code_->text().size();
  return text;
}

std::vector<std::size_t> RowPasses::reductions_of_pass(std::size_t pass) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < space_.reductions.size(); ++i)
    if (space_.pass_of[i] == pass) found.push_back(i);
  return found;
}

std::vector<std::size_t> RowPasses::outputs_with_columns() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < space_.fused.outputs.size(); ++i)
    if (space_.output_has_columns(i)) found.push_back(i);
  return found;
}

std::vector<int> RowPasses::operands_of(const std::vector<std::size_t>& reductions) const {
  std::vector<int> operands;
  for (const std::size_t reduction : reductions)
    for (const int operand : space_.fused.terms[space_.reductions[reduction]].operands) operands.push_back(operand);
  return operands;
}

const std::string& RowPasses::operation(std::size_t reduction) const {
  return space_.fused.terms[space_.reductions[reduction]].code;
}

std::string RowPasses::pass(const Pass& what, const std::string& before_columns) {
  std::vector<int> targets = operands_of(what.reductions);
  std::string starts, elements, results, before, stores, after;
  ElementCode code = element_code([this](int term) { return given(term); }, "      ");
  for (const std::size_t i : what.reductions) {
    std::vector<std::string> operands;
    for (const int operand : operands_of({i})) operands.push_back(code[operand]);
    const std::string element = fmt::format("{}", fmt::join(operands, ", "));
    starts += fmt::format("  auto a{} = {}::identity();\n", i, operation(i));
    elements += fmt::format("      a{0} = {1};\n", i, accumulated(operation(i), fmt::format("a{}", i), element));
    results += fmt::format("  const auto x{} = {};\n", i, reduced(operation(i), fmt::format("a{}", i)));
  }
  const std::string guard = what.store_if.empty() ? "" : fmt::format("if ({}) ", what.store_if);
  for (const std::size_t i : what.outputs) {
    const FusedTerms::Output& output = space_.fused.outputs[i];
    targets.push_back(output.term);
    const std::string value = code[output.term];
    if (!access_.output_is_vector(i)) {
      stores += access_.store_element(i, value, "      " + guard);
      continue;
    }
    before += access_.vector_variable(i, "    ");
    stores += fmt::format("      o{}[e] = {};\n", i, stored(value, graph_.values[output.value].meta.dtype));
    after += access_.store_vector(i, "    " + guard);
  }
  const std::string row = new_row_text() + before_columns + starts;
  return row + loop(targets, before, code.text() + elements + stores, after) + results;
}

//! `element` is done for each of a thread's neighbours.
std::string RowPasses::loop(const std::vector<int>& targets, const std::string& body_before, const std::string& element,
                            const std::string& body_after) {
  std::string body;
  for (const int load : space_.column_loads(targets))
    if (!is_kept(load)) body += access_.load_before(load, "    ");
  body += body_before;
  if (access_.width() == 1)
    body += element;
  else
    body += fmt::format("#pragma unroll\n    for (int e = 0; e < {}; ++e) {{\n{}    }}\n", access_.width(), element);
  return columns(body + body_after);
}

std::string RowPasses::combined_partials(std::size_t reduction, const std::string& first, std::int64_t count,
                                         std::int64_t lanes) const {
  std::string text = fmt::format("  auto a{} = {}::identity();\n", reduction, operation(reduction));
  text += fmt::format("  for ({} k = lane; k < {}; k += {})\n", access_.index_type(), count, lanes);
  text += fmt::format("    a{0} = {1}::combine(a{0}, static_cast<const {1}::Value*>(partial{0})[{2} + k]);\n",
                      reduction, operation(reduction), first);
  return text + fmt::format("  const auto x{} = {};\n", reduction,
                            reduced(operation(reduction), fmt::format("a{}", reduction)));
}

//! Of rows that an output does not tell apart, the first writes it.
std::string RowPasses::row_outputs(const std::string& condition) const {
  std::string text;
  for (std::size_t i = 0; i < space_.fused.outputs.size(); ++i) {
    if (space_.output_has_columns(i)) continue;
    const FusedTerms::Output& output = space_.fused.outputs[i];
    std::string all = condition;
    for (std::size_t row = 0; row < rows_.loops.size(); ++row)
      if (rows_.loops[row].size > 1 && rows_.loops[row].stride_of(output.place) == 0)
        all += fmt::format(" && {} == 0", rows_.names[row]);
    ElementCode code = element_code([this](int term) { return given_to_row(term); }, "    ");
    const std::string value = code[output.term];
    text += fmt::format("  if ({}) {{\n{}{}  }}\n", all, code.text(), access_.store_first(i, value, "    "));
  }
  return text;
}

}  // namespace cudal1
