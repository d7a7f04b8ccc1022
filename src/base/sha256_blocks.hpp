// The inner loop of SHA-256: weights of hundreds of megabytes are hashed whenever a task is loaded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cudal1 {

using Sha256State = std::array<std::uint32_t, 8>;

//! Takes in so many blocks of 64 bytes, with the processor's own instructions where it has them.
void sha256_take_in(Sha256State& state, const std::uint8_t* blocks, std::size_t count);

//! The same in plain C++, by the standard's text.
void sha256_take_in_plainly(Sha256State& state, const std::uint8_t* blocks, std::size_t count);

}  // namespace cudal1
