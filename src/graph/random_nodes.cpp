#include "graph/random_nodes.hpp"

#include <algorithm>

namespace cudal1 {

bool draws_repeatably(std::string_view op) {
  constexpr std::string_view known[] = {"aten::native_dropout",
                                        "aten::bernoulli.p",
                                        "aten::rand",
                                        "aten::randn",
                                        "aten::rand_like",
                                        "aten::randn_like",
                                        "aten::randint",
                                        "aten::randint.low",
                                        "aten::randint_like",
                                        "aten::randint_like.low_dtype",
                                        "aten::randperm",
                                        "aten::normal.float_float",
                                        "aten::normal_functional",
                                        "aten::uniform",
                                        "aten::exponential",
                                        "aten::geometric",
                                        "aten::cauchy",
                                        "aten::log_normal"};
  return std::ranges::find(known, op) != std::end(known);
}

//! FNV-1a.
std::uint64_t seed_of_node(std::string_view name) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char byte : name) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return value >> 1;
}

}  // namespace cudal1
