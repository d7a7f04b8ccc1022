// What a family of modules is drawn with: randomness and how hard the module may be. Integers only, so that the same
// seed gives the same module on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"

namespace cudal1 {

class Choices {
 public:
  //! `difficulty` from 0 (few nodes, plain sizes) to 1.
  Choices(Random random, double difficulty) : random_(random), difficulty_(difficulty) {}

  double difficulty() const { return difficulty_; }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  bool chance(double probability) { return random_.uniform() < probability; }
  //! Rarer in easy modules, where it never happens at difficulty 0.
  bool hard_chance(double probability) { return chance(probability * difficulty_); }

  template <class T>
  T any(std::span<const T> from) {
    return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
  }
  template <class T>
  T any(const std::vector<T>& from) {
    return any(std::span<const T>(from));
  }

  //! How many of something: `fewest` in the easiest modules, about `most` in the hardest.
  std::int64_t count(std::int64_t fewest, std::int64_t most);
  //! Between two powers of two, perhaps by quarters: 1024, 1280, 1536, 1792, 2048. The harder the module,
  //! the likelier a size that no tile divides.
  std::int64_t size(int low_exponent, int high_exponent);
  //! The same, a multiple of `step` in any case.
  std::int64_t size_of_multiple(int low_exponent, int high_exponent, std::int64_t step);

 private:
  std::int64_t plain_size(int low_exponent, int high_exponent);

  Random random_;
  double difficulty_;
};

}  // namespace cudal1
