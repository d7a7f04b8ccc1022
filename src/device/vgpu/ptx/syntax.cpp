#include "device/vgpu/ptx/syntax.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudal1::ptx {
namespace {

constexpr std::array<std::pair<const char*, std::uint64_t>, 23> type_bytes{{
    {"pred", 1}, {"b8", 1},  {"u8", 1},  {"s8", 1},  {"b16", 2},   {"u16", 2},    {"s16", 2},    {"f16", 2},
    {"bf16", 2}, {"b32", 4}, {"u32", 4}, {"s32", 4}, {"f32", 4},   {"f16x2", 4},  {"bf16x2", 4}, {"tf32", 4},
    {"b64", 8},  {"u64", 8}, {"s64", 8}, {"f64", 8}, {"b128", 16}, {"e4m3x2", 2}, {"e5m2x2", 2},
}};

}  // namespace

std::uint64_t bytes_of_type(const std::string& type) {
  const auto found = std::ranges::find_if(type_bytes, [&](const auto& known) { return type == known.first; });
  return found == type_bytes.end() ? 0 : found->second;
}

std::uint64_t Variable::bytes() const { return elements * bytes_of_type(type); }

std::string Instruction::full_opcode() const {
  std::string text = opcode;
  for (const std::string& modifier : modifiers) text += "." + modifier;
  return text;
}

const Function* Module::find(const std::string& name) const {
  const auto found = std::ranges::find_if(functions, [&](const Function& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace cudal1::ptx
