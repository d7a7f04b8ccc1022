// Makes the parts of random block programs: each a few lines of PTX and what they mean.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "block_state.hpp"
#include "random_program.hpp"

namespace cudal1::vgpu {

struct BlockPart {
  std::string text;
  std::function<void(BlockState&)> meaning;
};

//! %w0 to %w7 have 32 bits, %d0 and %d1 64, %p0 to %p3 one. %t0 to %t3, %a and %m are of use inside a part; %tid,
//! %tile, %in and %atoms say where things are.
class BlockProgramMaker {
 public:
  BlockProgramMaker(const Choose& choose, std::size_t threads)
      : choose_(choose), random_(choose(std::uint64_t{1} << 32)), threads_(threads) {}

  std::vector<BlockPart> program();

 private:
  std::size_t any(std::size_t count) { return choose_(count); }
  std::string one_of(std::initializer_list<const char*> names) { return names.begin()[choose_(names.size())]; }
  std::vector<std::size_t> different_words(std::size_t count);

  BlockPart part();
  // what warps do
  BlockPart arithmetic();
  BlockPart shuffle();
  BlockPart vote();
  BlockPart vote_of_some();
  BlockPart match();
  BlockPart reduction();
  BlockPart reduction_of_some();
  BlockPart matrix_product();
  BlockPart transposition();
  // what goes through memory; each ends with a barrier, so that nothing races
  BlockPart own_store();
  BlockPart load_of_any();
  BlockPart matrix_load();
  BlockPart atomics_of_all();
  BlockPart atomic_on_own();
  BlockPart asynchronous_copy();
  BlockPart barrier_vote();

  const Choose& choose_;
  Random random_;
  std::size_t threads_;
};

}  // namespace cudal1::vgpu
