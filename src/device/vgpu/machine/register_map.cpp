#include "device/vgpu/machine/register_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/vgpu/ptx/lexer.hpp"

namespace cudal1::vgpu {

std::size_t bytes_of_register(Kind kind) {
  if (kind == Kind::predicate) return sizeof(Mask);
  return warp_size * (bits_of(kind) == 64 ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
}

Kind kind_of_register(const std::string& type, int ptx_line) {
  if (type == "pred") return Kind::predicate;
  if (type == "f32") return Kind::real32;
  if (type == "f64") return Kind::real64;
  switch (ptx::bytes_of_type(type)) {
    case 2:
      return Kind::bits16;
    case 4:
      return Kind::bits32;
    case 8:
      return Kind::bits64;
    default:
      throw ptx::PtxError(ptx_line, fmt::format("no register can have the type '.{}'", type));
  }
}

RegisterMap::RegisterMap(const ptx::Function& function) { declare(function, ""); }

void RegisterMap::declare(const ptx::Function& function, const std::string& scope) {
  for (const ptx::RegisterFamily& family : function.registers) {
    const Kind kind = kind_of_register(family.type, 0);
    const std::string name = scope + family.name;
    if (family.count == 0) registers_[name] = {reserve(kind), kind};
    for (std::uint32_t i = 0; i < family.count; ++i) registers_[fmt::format("{}{}", name, i)] = {reserve(kind), kind};
  }
  declared_bytes_ = space_.bytes();
}

std::vector<RegisterMap::Register> RegisterMap::registers_in(const std::string& scope) const {
  std::vector<Register> found;
  for (auto at = registers_.lower_bound(scope); at != registers_.end() && at->first.starts_with(scope); ++at)
    found.push_back(at->second);
  return found;
}

std::optional<RegisterMap::Register> RegisterMap::find(const std::string& name) const {
  const auto found = registers_.find(scope_ + name);
  if (found == registers_.end()) return std::nullopt;
  return found->second;
}

Slot RegisterMap::constant(std::uint64_t bits, Kind kind) {
  Slot& slot = constants_[{bits, kind}];
  if (slot == 0) slot = reserve(kind);
  return slot;
}

bool RegisterMap::is_constant(Slot slot, std::uint32_t bits) const {
  return std::ranges::any_of(constants_, [&](const auto& entry) {
    const auto& [constant, place] = entry;
    return place == slot && bits_of(constant.kind) == 32 && static_cast<std::uint32_t>(constant.bits) == bits;
  });
}

Slot RegisterMap::carry() {
  if (carry_ == 0) carry_ = reserve(Kind::predicate);
  return carry_;
}

void RegisterMap::fill_constants(Registers& registers) const {
  for (const auto& [constant, slot] : constants_) {
    if (constant.kind == Kind::predicate)
      registers.predicate(slot) = constant.bits != 0 ? full_mask : 0;
    else if (bits_of(constant.kind) == 64)
      std::fill_n(registers.words<std::uint64_t>(slot), warp_size, constant.bits);
    else
      std::fill_n(registers.words<std::uint32_t>(slot), warp_size, static_cast<std::uint32_t>(constant.bits));
  }
}

//! A register that the vector unit reads begins with a cache line.
Slot SlotSpace::reserve(Kind kind) {
  constexpr std::size_t line = 64;
  if (kind != Kind::predicate) bytes_ = (bytes_ + line - 1) / line * line;
  const std::size_t slot = bytes_;
  bytes_ += bytes_of_register(kind);
  return static_cast<Slot>(slot);
}

Slot RegisterMap::reserve(Kind kind) { return all_.emplace_back(Register{space_.reserve(kind), kind}).slot; }

void RegisterMap::move(const std::function<void(Slot&)>& change, const SlotSpace& space) {
  for (auto& [name, one] : registers_) change(one.slot);
  for (auto& [constant, slot] : constants_) change(slot);
  for (Register& one : all_) change(one.slot);
  change(carry_);
  space_ = space;
}

}  // namespace cudal1::vgpu
