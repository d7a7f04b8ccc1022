// Which slot a register of a function has.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/vgpu/machine/operation.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

//! All lanes of a register. Those of 16 bits take words of 32.
std::size_t bytes_of_register(Kind kind);

//! Gives out slots, one behind the other.
class SlotSpace {
 public:
  Slot reserve(Kind kind);
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 64;  // slot 0 means none
};

//! Registers, constants and special registers of one function, each with a slot of its own.
class RegisterMap {
 public:
  //! Throws PtxError for types that no register can have.
  explicit RegisterMap(const ptx::Function& function);

  struct Register {
    Slot slot;
    Kind kind;
  };
  std::optional<Register> find(const std::string& name) const;

  // Functions that the kernel calls have registers of their own, whatever their names.
  void declare(const ptx::Function& function, const std::string& scope);
  void use_scope(const std::string& scope) { scope_ = scope; }
  std::vector<Register> registers_in(const std::string& scope) const;

  //! A slot that somebody else fills.
  Slot reserve(Kind kind);
  //! The slot of a constant: the same one for the same bits.
  Slot constant(std::uint64_t bits, Kind kind);
  //! Whether this is the slot of a constant, of 32 bits, with these.
  bool is_constant(Slot slot, std::uint32_t bits) const;

  //! Where add.cc leaves its carry for addc: a predicate.
  Slot carry();

  std::size_t bytes() const { return space_.bytes(); }
  //! Every slot that was given out, in order.
  const std::vector<Register>& all() const { return all_; }
  //! Of the registers that the function declares; they come first.
  std::size_t declared_bytes() const { return declared_bytes_; }
  //! Puts the constants in place; once a warp.
  void fill_constants(Registers& registers) const;
  //! Everything goes where `change` says, which is in this space.
  void move(const std::function<void(Slot&)>& change, const SlotSpace& space);

 private:
  struct Constant {
    std::uint64_t bits;
    Kind kind;
    auto operator<=>(const Constant&) const = default;
  };
  std::string scope_;  // goes before names
  std::map<std::string, Register> registers_;
  std::map<Constant, Slot> constants_;
  Slot carry_ = 0;
  SlotSpace space_;
  std::vector<Register> all_;
  std::size_t declared_bytes_ = 0;
};

//! Predicates and 16-bit registers included.
Kind kind_of_register(const std::string& type, int ptx_line);

}  // namespace cudal1::vgpu
