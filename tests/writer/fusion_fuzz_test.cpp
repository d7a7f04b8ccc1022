// Fusions of random graphs: what is not refused must be right. CUDAL1_FUZZ_SEEDS="1000 200": 200 seeds from 1000 on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "random_graph.hpp"

namespace cudal1::testing {
namespace {

struct Seeds {
  std::uint64_t first = 1, count = 40;
};

Seeds seeds() {
  Seeds wanted;
  if (const char* given = std::getenv("CUDAL1_FUZZ_SEEDS")) std::istringstream(given) >> wanted.first >> wanted.count;
  return wanted;
}

//! Several fusions of one graph until one is not refused.
std::string accepted_fusion(const RandomTask& random, std::uint64_t seed) {
  for (std::uint64_t attempt = 0; attempt < 12; ++attempt)
    if (const std::string line = random_fusion(random, 12 * seed + attempt); planned(random.task, line).status == "ok")
      return line;
  return {};
}

TEST(FusionFuzz, WhatIsNotRefusedIsRight) {
  if (const std::string why = why_no_device(); !why.empty()) GTEST_SKIP() << why;
  const Seeds wanted = seeds();
  std::uint64_t judged_count = 0;
  for (std::uint64_t seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
    const RandomTask random = random_task(seed);
    const std::string line = accepted_fusion(random, seed);
    if (line.empty()) continue;
    ++judged_count;
    const Verdict verdict = judged(random.task, line);
    EXPECT_EQ(verdict.status, "ok") << "seed " << seed << "\n"
                                    << verdict.message << "\n"
                                    << random.task.json().dump() << "\n"
                                    << line << verdict.code;
  }
  EXPECT_GE(judged_count, wanted.count / 2);
}

}  // namespace
}  // namespace cudal1::testing
