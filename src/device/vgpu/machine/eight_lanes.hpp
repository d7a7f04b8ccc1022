// What reads a register reads eight lanes at once, and the host's processor waits long for what was just written in
// smaller pieces: registers are written eight lanes at a time where that is possible.
#pragma once

#include "device/vgpu/machine/lanes.hpp"

namespace cudal1::vgpu {

template <class Word>
using Eight __attribute__((vector_size(8 * sizeof(Word)), may_alias, aligned(1))) = Word;

//! Lanes 0 to 7 from word(0) to word(7).
template <class Word, class WordOfLane>
__attribute__((always_inline)) inline void write_eight(Word* to, WordOfLane word) {
  *reinterpret_cast<Eight<Word>*>(to) =
      Eight<Word>{word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)};
}

}  // namespace cudal1::vgpu
