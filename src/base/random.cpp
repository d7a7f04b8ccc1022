#include "base/random.hpp"

#include <sys/random.h>

#include "base/result.hpp"

namespace cudal1 {

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed))
    throw Error("the operating system gives no random bytes");
  return seed;
}

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

__extension__ using Wide = unsigned __int128;

std::uint64_t Random::below(std::uint64_t bound) {
  // Lemire's multiply-shift; the bias is below 2^-32 for the small bounds used here.
  return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

}  // namespace cudal1
