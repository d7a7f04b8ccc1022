// Which registers hold a value that somebody will read, of programs in any form: the usual backward analysis.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cudal1::vgpu {

//! One bit a register, by a number that whoever asks has given it.
class RegisterSet {
 public:
  RegisterSet() = default;
  explicit RegisterSet(std::size_t size) : words_((size + 63) / 64) {}
  bool contains(std::size_t index) const { return (words_[index / 64] >> index % 64 & 1) != 0; }
  void insert(std::size_t index) { words_[index / 64] |= std::uint64_t{1} << index % 64; }
  void erase(std::size_t index) { words_[index / 64] &= ~(std::uint64_t{1} << index % 64); }
  void insert(const RegisterSet& others) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= others.words_[i];
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
        visit(i * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }
  bool operator==(const RegisterSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

//! By part of a program: registers that are wanted before it. A part is an instruction, or several in a row;
//! for_each_next(part, visit) says which parts may follow it, step_back(part, wanted) turns what is wanted behind it
//! into what is wanted before it. Nothing is wanted where nothing follows.
template <class ForEachNext, class StepBack>
std::vector<RegisterSet> registers_wanted(std::size_t parts, std::size_t registers, ForEachNext for_each_next,
                                          StepBack step_back) {
  std::vector<RegisterSet> before(parts, RegisterSet(registers));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t part = parts; part-- > 0;) {
      RegisterSet wanted(registers);
      for_each_next(part, [&](std::size_t next) { wanted.insert(before[next]); });
      step_back(part, wanted);
      if (wanted == before[part]) continue;
      before[part] = std::move(wanted);
      changed = true;
    }
  }
  return before;
}

}  // namespace cudal1::vgpu
