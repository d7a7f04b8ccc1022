#include "judge/short_cut.hpp"

#include "judge/timing_statistics.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t fewest_derived_pairs = 3;
// The interval of a median is the whole range of fewer: one derived pair that happens to be fast would settle it.
constexpr std::size_t enough_derived_pairs = 16;

}  // namespace

ShortCut short_cut_in(const std::vector<double>& native, const std::vector<double>& derived) {
  if (derived.size() < fewest_derived_pairs || native.empty()) return ShortCut::none;
  const double limit = short_cut_limit * median(native);
  if (median(derived) >= limit) return ShortCut::none;
  if (derived.size() < enough_derived_pairs) return ShortCut::suspected;
  return median_interval(derived).high < limit ? ShortCut::taken : ShortCut::none;
}

}  // namespace cudal1
