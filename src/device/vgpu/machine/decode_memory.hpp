// Instructions that read or write memory: ld, st, atom, red.
#pragma once

#include <map>
#include <tuple>

#include "device/vgpu/machine/effects.hpp"
#include "device/vgpu/machine/operand_reader.hpp"

namespace cudal1::vgpu {

//! Of the instruction that the reader is at. Throws PtxError.
class MemoryDecoder {
 public:
  explicit MemoryDecoder(OperandReader& reader) : reader_(reader) {}

  Step load();
  Step store();
  Step atomic();

 private:
  Step load_parameter(Access access);
  Step copy_parameter_from_register(const Access& access, const Step& load);
  bool is_whole_register(const Access& access, std::int64_t offset) const;
  bool is_passed(const ptx::Operand& address) const;
  void set_data(Step& step, Access& access, const ptx::Operand& given);
  Slot value_of(const ptx::Operand& given, const std::string& type);
  Step finished(Step& step, AddressSpace space, Effect effect);

  OperandReader& reader_;
  std::map<std::tuple<Slot, Effect, AddressSpace>, std::uint32_t> patterns_;
};

}  // namespace cudal1::vgpu
