// bar, barrier: of all threads of a block, of some, of a warp.
#include <fmt/format.h>

#include <map>

#include "device/vgpu/machine/operand_reader.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;

BarrierUse barrier_use(const OperandReader& reader, const std::vector<std::string>& words) {
  static const std::map<std::vector<std::string>, BarrierUse> uses{{{"sync"}, BarrierUse::wait},
                                                                   {{"arrive"}, BarrierUse::arrive},
                                                                   {{"red", "popc", "u32"}, BarrierUse::count_votes},
                                                                   {{"red", "and", "pred"}, BarrierUse::all_votes},
                                                                   {{"red", "or", "pred"}, BarrierUse::any_vote}};
  const auto found = uses.find(words);
  if (found == uses.end()) reader.unknown();
  return found->second;
}

Step warp_barrier(OperandReader& reader) {
  Step step = OperandReader::of_flow(Flow::warp_barrier);
  step.members = reader.source32(reader.operand(0));
  return step;
}

// bar.sync a{, threads}; bar.arrive a, threads; bar.red.popc.u32 result, a{, threads}, {!}vote
Step barrier(OperandReader& reader) {
  std::vector<std::string> words = reader.instruction().modifiers;
  std::erase_if(words, [](const std::string& word) { return word == "cta" || word == "aligned"; });
  if (words == std::vector<std::string>{"warp", "sync"}) return warp_barrier(reader);
  Step step = OperandReader::of_flow(Flow::barrier);
  step.barrier = barrier_use(reader, words);
  step.barrier_is_aligned = reader.instruction().opcode == "bar" || reader.has("aligned");
  const bool votes = step.barrier >= BarrierUse::count_votes, arrives = step.barrier == BarrierUse::arrive;
  const std::size_t first = votes ? 1 : 0, least = votes ? 3 : arrives ? 2 : 1;
  const std::size_t given = reader.instruction().operands.size();
  if (given < least || given > (votes ? 4 : 2))
    reader.fail(fmt::format("'{}' does not take {} operands", reader.instruction().full_opcode(), given));
  step.operation.operands[0] = reader.source32(reader.operand(first));
  if (arrives || given > least) step.operation.operands[1] = reader.source32(reader.operand(first + 1));
  step.barrier_is_fixed =
      step.barrier == BarrierUse::wait && given == 1 && reader.operand(0).kind == Operand::Kind::integer;
  if (!votes) return step;
  step.operation.result = reader.register_with(reader.operand(0), step.barrier == BarrierUse::count_votes ? 32 : 1);
  reader.set_vote(step, step.operation.operands[2], reader.operand(given - 1));
  return step;
}

}  // namespace

std::optional<Step> decode_barrier(OperandReader& reader) {
  const std::string& op = reader.instruction().opcode;
  if (op != "bar" && op != "barrier") return std::nullopt;
  return barrier(reader);
}

}  // namespace cudal1::vgpu
