#include "writer/fused/loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace cudal1 {

std::vector<Loop> joined_loops(const AtomTable& table, const std::vector<int>& atoms, const std::vector<Affine>& places,
                               const std::set<int>& apart) {
  std::vector<Loop> loops;
  for (const int atom : atoms) {
    const auto walks_on = [&](const Affine& place) {
      return loops.back().stride_of(place) == place.factor_of(atom) * table.size(atom);
    };
    const bool joins = !loops.empty() && !apart.contains(atom) && !apart.contains(loops.back().atoms.back()) &&
                       std::ranges::all_of(places, walks_on);
    if (!joins) loops.push_back({1, {}});
    loops.back().size *= table.size(atom);
    loops.back().atoms.push_back(atom);
  }
  return loops;
}

std::vector<int> in_memory_order(const Affine& place, const std::set<int>& atoms) {
  std::vector<int> ordered(atoms.begin(), atoms.end());
  const auto stride = [&](int atom) {
    const std::int64_t factor = place.factor_of(atom);
    return factor == 0 ? INT64_MAX : std::abs(factor);
  };
  std::ranges::stable_sort(ordered, [&](int a, int b) { return stride(a) > stride(b); });
  return ordered;
}

std::int64_t product_of_sizes(const std::vector<Loop>& loops) {
  std::int64_t product = 1;
  for (const Loop& loop : loops) product *= loop.size;
  return product;
}

std::string place_text(const Affine& place, const std::vector<Loop>& loops, const std::vector<std::string>& names,
                       std::string_view suffix) {
  std::string text = place.offset != 0 ? fmt::format("{}{}", place.offset, suffix) : "";
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const std::int64_t stride = loops[i].stride_of(place);
    if (stride == 0) continue;
    if (!text.empty()) text += " + ";
    text += stride == 1 ? names[i] : fmt::format("{}{} * {}", stride, suffix, names[i]);
  }
  return text.empty() ? "0" : text;
}

std::string index_statements(const std::vector<Loop>& loops, const std::vector<std::string>& names,
                             const std::string& number, bool wide, const std::string& indent) {
  const std::string_view type = wide ? "unsigned long long" : "unsigned", suffix = wide ? "ull" : "u";
  std::string text;
  std::int64_t inside = 1;
  for (std::size_t i = loops.size(); i-- > 0;) {
    std::string index = inside == 1 ? number : fmt::format("{} / {}{}", number, inside, suffix);
    if (i > 0)
      index = fmt::format("{} % {}{}", inside == 1 ? index : fmt::format("({})", index), loops[i].size, suffix);
    text += fmt::format("{}const {} {} = {};\n", indent, type, names[i], index);
    inside *= loops[i].size;
  }
  return text;
}

}  // namespace cudal1
