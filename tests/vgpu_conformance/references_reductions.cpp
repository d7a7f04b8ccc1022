#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "references.hpp"

namespace cudal1::conformance {
namespace {

using Words = std::span<std::uint32_t>;
using Integers = std::span<std::int32_t>;

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void sum_parts(const Task& task) {
  const auto x = task.reals("x");
  std::vector<double> sums(static_cast<std::size_t>(task.value("parts")));
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / (x.size() / sums.size())] += x[i];
  task.store("sums", sums);
}

void sum_all(const Task& task) { task.store("total", {sum_of(task.reals("x"))}); }

void sum_warps(const Task& task) {
  const auto x = task.buffer<double>("x"), sums = task.buffer<double>("sums");
  const auto k = task.buffer<std::uint64_t>("k"), totals = task.buffer<std::uint64_t>("totals");
  std::ranges::fill(sums, 0.0);
  std::ranges::fill(totals, 0u);
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[i / 32] += x[i];
    totals[i / 32] += k[i];
  }
}

void reduce_atomics(const Task& task) {
  const auto sum = task.buffer<std::uint32_t>("sum"), bits = task.buffer<std::uint32_t>("bits");
  const auto wide = task.buffer<std::uint64_t>("wide");
  const auto extremes = task.buffer<std::int32_t>("extremes");
  for (const std::int32_t value : task.buffer<std::int32_t>("x")) {
    const auto own = static_cast<std::uint32_t>(value);
    sum[0] += own;
    wide[0] += static_cast<std::uint64_t>(own) << 8;
    extremes[0] = std::min(extremes[0], value);
    extremes[1] = std::max(extremes[1], value);
    bits[0] |= own & 0x00ff00ffu;
    bits[1] ^= own;
    bits[2] &= own | 0xffff0000u;
  }
}

void float_atomics(const Task& task) {
  const auto x = task.reals("x");
  std::vector<double> sums(8);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i % 8] += x[i];
  task.store("sums", sums);
  task.store("total", {sum_of(x)});
}

void half2_atomics(const Task& task) {
  const auto x = task.reals("x");
  std::vector<double> sums(16);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i % 16] += x[i];
  task.store("sums", sums);
}

void cas_loops(const Task& task) {
  const auto x = task.buffer("x");
  task.buffer("largest")[0] = std::max(0.0f, *std::ranges::max_element(x));
  const auto bytes = task.buffer<std::uint8_t>("bytes");
  auto& product = task.buffer<std::uint64_t>("product")[0];
  for (const std::uint32_t k : task.buffer<std::uint32_t>("k")) {
    if (k % 16 == 1) product = product * k % 1000000007u;
    ++bytes[k % 8];
  }
}

void spin_lock(const Task& task) {
  const auto threads = static_cast<std::uint32_t>(task.value("threads"));
  const auto pair = task.buffer<std::uint32_t>("pair");
  pair[0] = threads;
  pair[1] = threads * (threads + 1) / 2;
}

void histogram(const Task& task) {
  const auto counts = task.buffer<std::uint32_t>("counts");
  for (const std::uint32_t value : task.buffer<std::uint32_t>("x")) ++counts[value];
}

//! Warps lie inside groups of 64 that have one number.
void match_aggregate(const Task& task) {
  histogram(task);
  std::ranges::fill(task.buffer<std::uint32_t>("uniform"), 0xffffffffu);
}

void scatter_add(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x"), index = task.buffer<std::int32_t>("index");
  const Integers sums = task.buffer<std::int32_t>("sums");
  for (std::size_t i = 0; i < x.size(); ++i) sums[static_cast<std::size_t>(index[i])] += x[i];
}

void scan(Integers x, Integers y, std::size_t piece) {
  for (std::size_t begin = 0; begin < x.size(); begin += piece)
    std::partial_sum(x.begin() + static_cast<std::ptrdiff_t>(begin),
                     x.begin() + static_cast<std::ptrdiff_t>(begin + piece),
                     y.begin() + static_cast<std::ptrdiff_t>(begin));
}

void scan_pieces(const Task& task) {
  scan(task.buffer<std::int32_t>("x"), task.buffer<std::int32_t>("y"), static_cast<std::size_t>(task.value("piece")));
}

void scan_all(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x");
  scan(x, task.buffer<std::int32_t>("y"), x.size());
}

void scan_segments(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x"), flags = task.buffer<std::int32_t>("flags");
  const Integers y = task.buffer<std::int32_t>("y");
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] + (i % 32 == 0 || flags[i] == 0 ? 0 : y[i - 1]);
}

template <class T>
void sort_in_pieces(std::span<T> x, std::size_t piece) {
  for (std::size_t begin = 0; begin < x.size(); begin += piece) std::ranges::sort(x.subspan(begin, piece));
}

void sort_pieces(const Task& task) {
  sort_in_pieces(task.buffer<std::uint32_t>("x"), static_cast<std::size_t>(task.value("PIECE")));
}

void sort_signed_pieces(const Task& task) {
  sort_in_pieces(task.buffer<std::int32_t>("x"), static_cast<std::size_t>(task.value("piece")));
}

void radix_step(const Task& task) {
  const Words x = task.buffer<std::uint32_t>("x"), y = task.buffer<std::uint32_t>("y");
  std::ranges::copy(x, y.begin());
  const auto digit = [](std::uint32_t key) { return key >> 8 & 15u; };
  for (std::size_t begin = 0; begin < y.size(); begin += 256)
    std::ranges::stable_sort(y.subspan(begin, 256), {}, digit);
}

void compact(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x"), y = task.buffer<std::int32_t>("y");
  const Integers counts = task.buffer<std::int32_t>("counts");
  for (std::size_t piece = 0; piece < counts.size(); ++piece) {
    std::size_t kept = 0;
    for (const std::int32_t value : x.subspan(piece * 256, 256))
      if (value % 2 == 0) y[piece * 256 + kept++] = value;
    counts[piece] = static_cast<std::int32_t>(kept);
  }
}

void votes(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x"), blocks = task.buffer<std::int32_t>("blocks");
  const Words warps = task.buffer<std::uint32_t>("warps");
  for (std::size_t warp = 0; warp < x.size() / 32; ++warp) {
    const Integers own = x.subspan(warp * 32, 32);
    warps[3 * warp] = std::ranges::all_of(own, [](int v) { return v < 38; });
    warps[3 * warp + 1] = std::ranges::any_of(own, [](int v) { return v == 39; });
    warps[3 * warp + 2] = 0;
    for (std::size_t lane = 0; lane < 32; ++lane) warps[3 * warp + 2] |= (own[lane] > 20 ? 1u : 0u) << lane;
  }
  for (std::size_t block = 0; block < x.size() / 256; ++block) {
    const Integers own = x.subspan(block * 256, 256);
    blocks[3 * block] = static_cast<std::int32_t>(std::ranges::count_if(own, [](int v) { return v > 20; }));
    blocks[3 * block + 1] = std::ranges::all_of(own, [](int v) { return v < 39; });
    blocks[3 * block + 2] = std::ranges::any_of(own, [](int v) { return v == 7; });
  }
}

void warp_redux(const Task& task) {
  const Words x = task.buffer<std::uint32_t>("x"), y = task.buffer<std::uint32_t>("y");
  for (std::size_t warp = 0; warp < x.size() / 32; ++warp) {
    const Words own = x.subspan(warp * 32, 32), found = y.subspan(warp * 6, 6);
    const auto is_less = [](std::uint32_t a, std::uint32_t b) {
      return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    };
    found[0] = std::accumulate(own.begin(), own.end(), 0u);
    found[1] = *std::ranges::min_element(own);
    found[2] = *std::ranges::max_element(own, is_less);
    found[3] = 0xffffffffu;
    found[4] = found[5] = 0;
    for (const std::uint32_t value : own) {
      found[3] &= value | 0xff00ff00u;
      found[4] |= value & 0x000ff000u;
      found[5] ^= value;
    }
  }
}

void cooperative_tiles(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x"), y = task.buffer<std::int32_t>("y");
  const std::size_t n = x.size();
  for (std::size_t kind = 0; kind < 3; ++kind) {
    const std::size_t tile = std::size_t{4} << kind;
    for (std::size_t i = 0; i < n; ++i) {
      const Integers own = x.subspan(i / tile * tile, tile);
      y[kind * n + i] = std::accumulate(own.begin(), own.end(), static_cast<std::int32_t>(i % tile));
    }
  }
}

void cooperative_nested_tiles(const Task& task) {
  const Integers y = task.buffer<std::int32_t>("y");
  const std::size_t n = y.size() / 4;
  constexpr std::size_t parents[] = {128, 32, 16, 32}, tiles[] = {8, 8, 8, 16};
  for (std::size_t kind = 0; kind < 4; ++kind)
    for (std::size_t i = 0; i < n; ++i)
      y[kind * n + i] = static_cast<std::int32_t>(i % parents[kind] / tiles[kind] * 1000 +
                                                  parents[kind] / tiles[kind] * 10 + i % tiles[kind]);
}

void coalesced_groups(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x");
  const Words y = task.buffer<std::uint32_t>("y"), count = task.buffer<std::uint32_t>("count");
  for (std::size_t warp = 0; warp < x.size() / 32; ++warp) {
    const auto picked = [](int v) { return v % 3 == 0; };
    const auto size = static_cast<std::uint32_t>(std::ranges::count_if(x.subspan(warp * 32, 32), picked));
    count[0] += size;
    std::uint32_t rank = 0;
    for (std::size_t i = warp * 32; i < warp * 32 + 32; ++i)
      if (picked(x[i])) y[i] = rank++ + 100 * size;
  }
}

void half_block_sums(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x"), y = task.buffer<std::int32_t>("y");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Integers own = x.subspan(i / 64 * 64, 64);
    y[i] = std::accumulate(own.begin(), own.end(), 0);
  }
}

}  // namespace

const References& reduction_references() {
  static const References table{{"sum_parts", sum_parts},
                                {"sum_all", sum_all},
                                {"sum_warps", sum_warps},
                                {"reduce_atomics", reduce_atomics},
                                {"float_atomics", float_atomics},
                                {"half2_atomics", half2_atomics},
                                {"bf16_atomics", half2_atomics},
                                {"cas_loops", cas_loops},
                                {"spin_lock", spin_lock},
                                {"histogram", histogram},
                                {"match_aggregate", match_aggregate},
                                {"scatter_add", scatter_add},
                                {"scan_pieces", scan_pieces},
                                {"scan_all", scan_all},
                                {"scan_segments", scan_segments},
                                {"sort_pieces", sort_pieces},
                                {"sort_signed_pieces", sort_signed_pieces},
                                {"radix_step", radix_step},
                                {"compact", compact},
                                {"votes", votes},
                                {"warp_redux", warp_redux},
                                {"cooperative_tiles", cooperative_tiles},
                                {"cooperative_nested_tiles", cooperative_nested_tiles},
                                {"coalesced_groups", coalesced_groups},
                                {"half_block_sums", half_block_sums}};
  return table;
}

}  // namespace cudal1::conformance
