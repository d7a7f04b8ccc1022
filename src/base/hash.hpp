#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/sha256_blocks.hpp"

namespace cudal1 {

//! SHA-256, fed piece by piece. Pieces are length-prefixed by add_field, so that ("ab","c") and
//! ("a","bc") differ.
class Sha256 {
 public:
  Sha256();
  Sha256& add(std::string_view bytes);
  Sha256& add_field(std::string_view bytes);
  std::string hex();  //!< finishes; 64 lower-case digits

 private:
  Sha256State state_;
  std::array<std::uint8_t, 64> pending_{};
  std::size_t pending_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace cudal1
