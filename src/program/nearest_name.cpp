#include "program/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "program/rejection.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t longest_compared = 64;
constexpr std::size_t longest_quoted = 80;

//! Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

bool is_utf8_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > longest_compared) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest_compared) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= best_distance || distance >= name.size()) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? std::string() : fmt::format("; did you mean {}?", quoted(nearest));
}

std::string listed(const std::vector<std::string>& names, std::size_t limit) {
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > limit) text += fmt::format(" and {} more", names.size() - limit);
  return text;
}

std::string quoted(std::string_view name) {
  if (name.size() <= longest_quoted) return fmt::format("'{}'", name);
  std::size_t end = longest_quoted;
  while (end > 0 && is_utf8_continuation(name[end])) --end;
  return fmt::format("'{}…'", name.substr(0, end));
}

}  // namespace cudal1
