// A second, slow and obvious implementation of the instructions that only compute: one lane, exact numbers, no tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudal1::vgpu {

//! The bits of the result of "add.s32" and its kin; predicates are 0 and 1. Throws for opcodes that it does not know.
//! `carry` is read and written by those that have one.
std::uint64_t evaluate_in_one_lane(const std::string& full_opcode, const std::vector<std::uint64_t>& operands,
                                   bool* carry = nullptr);

//! The other predicate of setp: the complement, or what holds for the upper halves of two numbers in a register.
std::uint64_t second_predicate_in_one_lane(const std::string& full_opcode, std::vector<std::uint64_t> operands);

}  // namespace cudal1::vgpu
