#include "writer/fused/access_code.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/rejection.hpp"
#include "writer/draft.hpp"
#include "writer/fused/element_code.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t access_bytes = 16;
constexpr std::int64_t narrow_limit = std::int64_t{1} << 31;  // below it sums of two indices fit 32 bits as well

}  // namespace

AccessCode::AccessCode(const OpGraph& graph, const FusedTerms& fused, std::vector<Loop> loops,
                       std::vector<std::string> names)
    : graph_(graph), fused_(fused), loops_(std::move(loops)), names_(std::move(names)) {}

bool AccessCode::fits(ValueId value, const Affine& place, std::int64_t width) const {
  const Loop& inner = loops_.back();
  if (inner.stride_of(place) != 1 || inner.size % width != 0 || place.offset % width != 0) return false;
  if (const auto& view = graph_.values[value].view; view && view->offset_elements % width != 0) return false;
  return std::ranges::all_of(place.factors, [&](const auto& entry) {
    return entry.second % width == 0 || std::ranges::find(inner.atoms, entry.first) != inner.atoms.end();
  });
}

std::string AccessCode::why_unfit(ValueId value, const Affine& place, std::int64_t width) const {
  const Loop& inner = loops_.back();
  const std::string name = quoted(graph_.values[value].name);
  if (inner.stride_of(place) != 1)
    return fmt::format("vector={}: no elements of {} lie side by side in the order in which threads take them", width,
                       name);
  if (inner.size % width != 0)
    return fmt::format("vector={} does not divide the {} elements of {} that lie side by side", width, inner.size,
                       name);
  return fmt::format("vector={}: not all lines of {} start at a multiple of {} elements", width, name, width);
}

std::int64_t AccessCode::widest(ValueId value, const Affine& place) const {
  std::int64_t largest = size_in_bytes(meta(value).dtype);
  const auto count_in = [&](ValueId tensor, const Affine& at) {
    if (loops_.back().stride_of(at) != 0) largest = std::max(largest, size_in_bytes(meta(tensor).dtype));
  };
  for (const Term& term : fused_.terms)
    if (is_read(term)) count_in(term.value, term.place);
  for (const FusedTerms::Output& output : fused_.outputs) count_in(output.value, output.place);
  std::int64_t width = access_bytes / largest;
  while (width > 1 && !fits(value, place, width)) width /= 2;
  return width;
}

bool AccessCode::reaches_far() const {
  const auto is_far = [&](const Affine& place) { return fused_.atoms.largest(place) >= narrow_limit; };
  const auto loads_far = [&](const Term& term) {
    if (term.kind == TermKind::gather) return meta(term.value).span_bytes() >= narrow_limit;
    return term.kind == TermKind::load && is_far(term.place);
  };
  const auto stores_far = [&](const FusedTerms::Output& output) { return is_far(output.place); };
  return std::ranges::any_of(fused_.terms, loads_far) || std::ranges::any_of(fused_.outputs, stores_far);
}

bool AccessCode::is_written(ValueId value) const {
  return std::ranges::find(fused_.outputs, value, &FusedTerms::Output::value) != fused_.outputs.end();
}

std::vector<ValueId> AccessCode::tensors() const {
  std::vector<ValueId> values = fused_.reads();
  std::erase_if(values, [&](ValueId value) { return is_written(value); });
  for (const FusedTerms::Output& output : fused_.outputs) values.push_back(output.value);
  return values;
}

std::vector<std::string> AccessCode::parameters() const {
  const std::vector<ValueId> reads = fused_.reads();
  std::vector<std::string> texts;
  for (const ValueId value : tensors()) {
    const bool read = std::ranges::find(reads, value) != reads.end(), written = is_written(value);
    texts.push_back(fmt::format("{}{}* {}{}", written ? "" : "const ", cuda_element_name(meta(value).dtype),
                                read && written ? "" : "__restrict__ ", variable(value)));
  }
  return texts;
}

std::vector<std::string> AccessCode::arguments() const {
  std::vector<std::string> names;
  for (const ValueId value : tensors()) names.push_back(directive_name(graph_.values[value]));
  return names;
}

std::set<std::string> AccessCode::headers() const {
  std::set<std::string> headers = {"cudal1/math.cuh", "cudal1/vector.cuh"};
  for (const ValueId value : tensors())
    if (const std::string header = header_for(meta(value).dtype); !header.empty()) headers.insert(header);
  for (const DType dtype : {DType::f16, DType::bf16})  // casts between nodes
    for (const Term& term : fused_.terms)
      if (term.code.find(cuda_element_name(dtype)) != std::string::npos) headers.insert(header_for(dtype));
  return headers;
}

std::string AccessCode::variable(ValueId value) const { return "p_" + code_name(graph_.values[value].name); }

//! The innermost index counts groups of neighbours.
std::vector<std::string> AccessCode::scaled_names(const Affine& at, std::string_view suffix) const {
  std::vector<std::string> names = names_;
  if (width_ > 1) names.back() = fmt::format("{}{} * {}", width_, suffix, names.back());
  const std::int64_t inner = loops_.back().stride_of(at);
  if (width_ > 1 && inner != 1) names.back() = fmt::format("({})", names.back());
  return names;
}

std::string AccessCode::place(const Affine& at) const {
  return place_text(at, loops_, scaled_names(at, suffix()), suffix());
}

std::string AccessCode::further(const Affine& at) const {
  const std::int64_t stride = loops_.back().stride_of(at);
  if (width_ == 1 || stride == 0) return {};
  return stride == 1 ? " + e" : fmt::format(" + {} * e", stride);
}

//! Signed, since differences of indices may be negative.
std::string AccessCode::position(const Affine& index) const {
  std::vector<std::string> names = names_;
  if (width_ > 1) names.back() = fmt::format("{}{} * {}", width_, suffix(), names.back());
  for (std::string& name : names) name = fmt::format("static_cast<long long>({})", name);
  return place_text(index, loops_, names, "ll");
}

bool AccessCode::is_vector(int index) const {
  const Term& term = fused_.terms[index];
  return width_ > 1 && fits(term.value, term.place, width_);
}

std::pair<std::string, std::string> AccessCode::address(int index) const {
  if (const auto base = bases_.find(index); base != bases_.end())
    return {base->second.pointer, place_text(base->second.rest, loops_, scaled_names(base->second.rest, ""), "")};
  const Term& term = fused_.terms[index];
  return {variable(term.value), place(term.place)};
}

//! Places in brackets: backwards, parts of the sum wrap around, and only the whole of it may be added to a pointer.
std::string AccessCode::load_of_all(int index) const {
  const auto [pointer, at] = address(index);
  if (is_vector(index)) return fmt::format("cudal1::load<{}>({} + ({}))", width_, pointer, at);
  return fmt::format("{}[{}]", pointer, at);
}

std::string AccessCode::load_before(int index, const std::string& indent) const {
  const bool each_its_own = width_ > 1 && !is_vector(index) && loops_.back().stride_of(fused_.terms[index].place) != 0;
  return each_its_own ? std::string() : fmt::format("{}const auto v{} = {};\n", indent, index, load_of_all(index));
}

std::string AccessCode::element(int index, const std::string& loaded_as) const {
  const Term& term = fused_.terms[index];
  if (term.kind == TermKind::position) return position(term.place) + further(term.place);
  if (term.kind == TermKind::gather) return gathered(term, place(term.place) + further(term.place));
  const DType dtype = meta(term.value).dtype;
  if (is_vector(index)) return loaded(fmt::format("{}[e]", loaded_as), dtype);
  if (further(term.place).empty()) return loaded(loaded_as, dtype);
  const auto [pointer, at] = address(index);
  return loaded(fmt::format("{}[{}{}]", pointer, at, further(term.place)), dtype);
}

//! {0} is what is added to the place, {1} the condition.
std::string AccessCode::gathered(const Term& term, const std::string& at) const {
  const DType dtype = meta(term.value).dtype;
  const std::string element =
      loaded(fmt::format("{}[{} + static_cast<{}>({{0}})]", variable(term.value), at, index_type()), dtype);
  if (term.operands.size() == 1) return element;
  return fmt::format("{{1}} ? {} : static_cast<{}>(0)", element, cuda_name(term.scalar));
}

std::string AccessCode::element_now(int index) const {
  const Term& term = fused_.terms[index];
  if (term.kind == TermKind::position) return position(term.place);
  if (term.kind == TermKind::gather) return gathered(term, place(term.place));
  return loaded(fmt::format("{}[{}]", variable(term.value), place(term.place)), meta(term.value).dtype);
}

bool AccessCode::output_is_vector(std::size_t output) const {
  return width_ > 1 && fits(fused_.outputs[output].value, fused_.outputs[output].place, width_);
}

std::string AccessCode::store_element(std::size_t index, const std::string& value, const std::string& indent) const {
  const FusedTerms::Output& output = fused_.outputs[index];
  return fmt::format("{}{}[{}{}] = {};\n", indent, variable(output.value), place(output.place), further(output.place),
                     stored(value, meta(output.value).dtype));
}

std::string AccessCode::store_first(std::size_t index, const std::string& value, const std::string& indent) const {
  const FusedTerms::Output& output = fused_.outputs[index];
  return fmt::format("{}{}[{}] = {};\n", indent, variable(output.value), place(output.place),
                     stored(value, meta(output.value).dtype));
}

std::string AccessCode::store_vector(std::size_t index, const std::string& indent) const {
  const FusedTerms::Output& output = fused_.outputs[index];
  return fmt::format("{}cudal1::store({} + ({}), o{});\n", indent, variable(output.value), place(output.place), index);
}

std::string AccessCode::vector_variable(std::size_t index, const std::string& indent) const {
  return fmt::format("{}cudal1::Vector<{}, {}> o{};\n", indent,
                     cuda_element_name(meta(fused_.outputs[index].value).dtype), width_, index);
}

}  // namespace cudal1
