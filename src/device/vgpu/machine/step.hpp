// A decoded kernel: what a warp goes through, step by step.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/vgpu/machine/counters.hpp"
#include "device/vgpu/machine/machine_code.hpp"
#include "device/vgpu/machine/operation.hpp"
#include "device/vgpu/machine/register_map.hpp"
#include "device/vgpu/machine/shared_arrays.hpp"
#include "device/vgpu/ptx/syntax.hpp"

namespace cudal1::vgpu {

class Warp;
struct Step;

//! Anything that touches more than registers: memory, other lanes.
using Effect = void (*)(Warp& warp, const Step& step, Mask mask);

enum class Flow : std::uint8_t {
  compute,
  effect,
  gather,  //!< an effect that lanes have together: those that `members` names wait for each other first
  branch,
  exit,
  barrier,       //!< of the block
  warp_barrier,  //!< of the lanes that `members` names
};

//! How a warp whose lanes all go together does a step (whole_warp.cpp). What programs mostly consist of needs no call.
enum class Quick : std::uint8_t {
  leave,  //!< not there
  call_operation,
  call_effect,
  branch,
  load_shared,          //!< one register of 32 bits
  load_shared_vectors,  //!< four of them
  fused_multiply_add,   //!< these of fp32, to nearest
  add_real,
  multiply_real,
  add32,
  add64,
  multiply_wide_unsigned,  //!< two registers of 32 bits to one of 64
  multiply_wide_signed,
  compare32,  //!< integers of 32 bits, to one predicate
  copy32,
  copy64,
  barrier,  //!< of the block, for all threads
  gather,   //!< where the member mask names all lanes
};

enum class AddressSpace : std::uint8_t { generic, global, shared, local, constant };

//! What a thread does at a barrier of the block.
enum class BarrierUse : std::uint8_t { wait, arrive, count_votes, all_votes, any_vote };

//! What every instruction needs comes first: it is the cache line that the machine reads.
struct alignas(64) Step {
  Flow flow = Flow::compute;
  bool guard_negated : 1 = false;
  bool spins : 1 = false;  //!< of branch: goes back in a loop that may wait for other threads
  bool loads : 1 = false;  //!< of a memory access: writes its data registers and no others
  bool address_repeated : 1 =
      false;  //!< of a memory access: the one before it with this pattern had the same addresses
  bool less : 1 = false, equal : 1 = false, greater : 1 = false;  //!< of Quick::compare32: where it holds
  bool has_sign : 1 = false;                                      //!< of Quick::compare32
  AddressSpace space = AddressSpace::global;                      //!< of a memory access
  Quick quick = Quick::leave;
  Slot guard = 0;             //!< a predicate, or 0: always
  Operation operation;        //!< of compute; effects use its slots as they like
  Effect effect = nullptr;    //!< of effect and gather
  std::int64_t offset = 0;    //!< of a memory access: added to the address
  std::uint32_t pattern = 0;  //!< of a memory access: which AccessPattern it is compared with
  std::uint32_t target = 0;   //!< of branch: index of a step

  std::array<Slot, 4> data{};             //!< of a memory access: the registers that are loaded or stored
  Slot members = 0;                       //!< of gather and warp_barrier: a mask in every lane
  bool needs_all_lanes = false;           //!< of gather: not only those that have not ended
  BarrierUse barrier = BarrierUse::wait;  //!< of barrier; operands: its number, threads (0: all), vote
  bool barrier_is_fixed = false;          //!< of barrier: one number for all lanes, for all threads, without a vote
  bool barrier_is_aligned = false;        //!< of barrier: lanes of a warp come to it together
  bool vote_negated = false;
  bool strong = false;             //!< of a memory access: volatile, relaxed, acquire or release
  bool stores_word = false;        //!< of a store: one register of at most 32 bits
  bool guesses = false;            //!< of a load: see guessing_loads.hpp
  std::uint8_t element_bytes = 1;  //!< of a load: what goes to a register; 1 where that is a floating-point number
  std::uint16_t array = 0;  //!< of a memory access: of shared_arrays.bounds(), the one that its address is made from
  Pipe pipe = Pipe::integer;
  std::uint32_t tensor_products = 0;  //!< of mma: multiply-adds
  ptx::Location at;
};

//! Special registers, in the order of their slots in Kernel::special.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  count
};

//! What a function that calls itself must find again: registers, and bytes of local memory.
struct Frame {
  std::vector<RegisterMap::Register> registers;
  std::uint64_t local_begin = 0, local_bytes = 0;
};

//! A shuffle whose lanes are all known when the kernel is decoded.
struct FixedShuffle {
  std::array<std::int32_t, warp_size> sources{};     //!< by lane: from which it takes its value
  std::array<std::int32_t, warp_size / 8> eights{};  //!< by eight lanes: in which eight all sources lie; -1: in several
  Mask in_range = 0;                                 //!< lanes whose source exists; the others keep their value
};

//! Registers side by side.
struct SlotRange {
  Slot begin = 0;
  std::uint32_t bytes = 0;
};

//! A parameter that every thread finds in a register.
struct ParameterSlot {
  Slot slot = 0;
  std::uint64_t offset = 0;  //!< among the parameters
  std::uint32_t bytes = 0;   //!< 4 or 8
};

struct Kernel {
  std::string name;
  std::vector<Step> steps;
  MachineCode code;  //!< for the timing model; by step
  std::unique_ptr<RegisterMap> registers;
  std::array<Slot, static_cast<std::size_t>(Special::count)> special{};  //!< 0 for those that it does not read
  std::vector<ptx::Variable> parameters;
  std::map<std::string, std::uint64_t> parameter_offsets;
  std::uint64_t parameter_bytes = 0;
  std::vector<ParameterSlot> parameter_slots;
  std::uint64_t static_shared_bytes = 0, local_bytes = 0;
  SharedArrays shared_arrays;
  std::vector<std::array<Slot, 16>> slot_lists;  //!< of steps with many registers
  std::vector<FixedShuffle> shuffles;            //!< step.target of shuffles that have one, counted from 1
  std::vector<Frame> frames;                     //!< of functions that call themselves
  std::vector<SlotRange> read_unwritten;         //!< registers that a thread may read before it has written them
  std::uint32_t patterns = 1;                    //!< how many AccessPatterns its steps name
  bool blocks_may_meet = false;  //!< through atomics and the like in global memory: the order of blocks matters
};

}  // namespace cudal1::vgpu
