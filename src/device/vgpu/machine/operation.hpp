// One decoded instruction.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "device/vgpu/machine/lanes.hpp"

namespace cudal1::vgpu {

struct Operation;

//! Does the operation for the lanes in the mask.
using Handler = void (*)(Registers& registers, const Operation& operation, Mask mask);

struct Operation {
  Handler run = nullptr;
  Slot result = 0, second_result = 0;
  std::array<Slot, 4> operands{};  //!< constants have slots too, so that there is one way to read an operand
};

//! What a register or an operand holds.
enum class Kind : std::uint8_t { predicate, bits16, bits32, bits64, real32, real64 };

//! Of a lane's value; 1 for predicates.
constexpr std::uint32_t bits_of(Kind kind) {
  switch (kind) {
    case Kind::predicate:
      return 1;
    case Kind::bits16:
      return 16;
    case Kind::bits32:
    case Kind::real32:
      return 32;
    case Kind::bits64:
    case Kind::real64:
      return 64;
  }
  return 0;
}

//! An instruction that computes results from operands, lane by lane, and does nothing else.
struct ArithmeticOpcode {
  Handler run = nullptr;
  Handler plain = nullptr;  //!< the same for processors without wide vectors
  Kind result = Kind::bits32;
  std::vector<Kind> operands;
  bool second_result = false;  //!< the complement of a predicate: setp's p|q
  bool reads_carry = false;    //!< as an operand behind the others
  bool writes_carry = false;   //!< as the second result
};

//! By full name, "add.rn.f32"; null for those not known. What is not known is refused when a kernel is loaded.
const ArithmeticOpcode* find_arithmetic(const std::string& full_opcode);

//! All of them, in order: for the manual, and for tests that want every one.
std::vector<std::string> arithmetic_opcodes();

}  // namespace cudal1::vgpu
