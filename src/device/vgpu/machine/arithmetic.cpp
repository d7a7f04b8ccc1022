// Every instruction that only computes, by its full PTX name.
#include "device/vgpu/machine/arithmetic_lanes.hpp"

namespace cudal1::vgpu {
namespace {

ArithmeticTable make_table() {
  ArithmeticTable table;
  add_integer_arithmetic(table);
  add_bit_arithmetic(table);
  add_real_arithmetic(table);
  add_half_arithmetic(table);
  add_comparisons_and_selections(table);
  add_conversions(table);
  add_rounding_conversions(table);
  return table;
}

const ArithmeticTable& table() {
  static const ArithmeticTable made = make_table();
  return made;
}

}  // namespace

const ArithmeticOpcode* find_arithmetic(const std::string& full_opcode) {
  const auto found = table().find(full_opcode);
  return found == table().end() ? nullptr : &found->second;
}

std::vector<std::string> arithmetic_opcodes() {
  std::vector<std::string> names;
  for (const auto& [name, opcode] : table()) names.push_back(name);
  return names;
}

}  // namespace cudal1::vgpu
