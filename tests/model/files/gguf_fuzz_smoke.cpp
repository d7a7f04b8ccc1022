// Feeds mutated models to the fuzz function; the same ones in every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "gguf_builder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace cudal1 {
namespace {

//! Numbers that counts, lengths and offsets go wrong with.
std::uint64_t wicked_number(Random& random) {
  const std::uint64_t power = std::uint64_t{1} << random.below(64);
  const std::uint64_t numbers[] = {0, power, power - 1, ~std::uint64_t{0}, ~power, random.below(64), random.next()};
  return numbers[random.below(std::size(numbers))];
}

void overwrite(std::string& bytes, std::size_t at, std::uint64_t number, std::size_t width) {
  for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i)
    bytes[at + i] = static_cast<char>((number >> (8 * i)) & 255);
}

//! Nearly all that is interesting lies before the tensors' bytes.
void mutate(std::string& bytes, std::size_t header_bytes, Random& random) {
  const std::size_t at = random.below(std::min(header_bytes, bytes.size()) + 1);
  const std::size_t widths[] = {1, 4, 8};
  switch (random.below(5)) {
    case 0:
      bytes.resize(random.below(bytes.size() + 1));
      break;
    case 1:
      bytes.erase(at, random.below(12));
      break;
    case 2:
      bytes.insert(at, bytes.substr(random.below(bytes.size() + 1), random.below(40)));
      break;
    default:
      overwrite(bytes, at, wicked_number(random), widths[random.below(std::size(widths))]);
  }
}

//! A copy of its own on the heap: sanitizers see who reads past its end.
void feed(const std::string& bytes) {
  const auto copy = std::make_unique<std::uint8_t[]>(bytes.size());
  std::ranges::copy(bytes, copy.get());
  LLVMFuzzerTestOneInput(copy.get(), bytes.size());
}

TEST(GgufFuzz, MutatedModelsAreReadOrRefused) {
#ifdef CUDAL1_SANITIZED
  constexpr int cases = 3000;
#else
  constexpr int cases = 30000;
#endif
  const std::string seeds[] = {testing::small_model(Architecture::llama).bytes(),
                               testing::small_model(Architecture::qwen2).bytes(),
                               testing::small_model(Architecture::qwen3).bytes()};
  Random random(20261118);
  for (int i = 0; i < cases; ++i) {
    std::string bytes = seeds[random.below(std::size(seeds))];
    for (std::uint64_t mutations = 1 + random.below(4); mutations > 0; --mutations) mutate(bytes, 4000, random);
    feed(bytes);
  }
}

}  // namespace
}  // namespace cudal1
