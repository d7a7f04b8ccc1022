#include "device/vgpu/machine/effects.hpp"

#include <algorithm>
#include <cstring>

#include "device/vgpu/machine/warp.hpp"

namespace cudal1::vgpu {
namespace {

template <class Visit>
void for_each_lane(Mask mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

template <AddressSpace space>
std::byte* place(Warp& warp, const Step& step, int lane, std::uint64_t bytes, bool write) {
  const std::uint64_t address =
      warp.registers().words<std::uint64_t>(step.operation.operands[0])[lane] + static_cast<std::uint64_t>(step.offset);
  if constexpr (space == AddressSpace::shared)
    return warp.shared(address, bytes, lane, step);
  else if constexpr (space == AddressSpace::local)
    return warp.local(address, bytes, lane, step);
  else if constexpr (space == AddressSpace::generic)
    return warp.generic(address, bytes, write, lane, step);
  else
    return warp.global(address, bytes, write, lane, step);
}

//! What is narrower than its register is extended, by its sign if it has one.
template <class T, class Register>
WordOf<Register> extended(T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(Register))
    return to_word<Register>(static_cast<Register>(value));
  else
    return to_word<T>(value);
}

template <AddressSpace space, class T, class Register, int vector>
void load(Warp& warp, const Step& step, Mask mask) {
  for_each_lane(mask, [&](int lane) {
    const std::byte* from = place<space>(warp, step, lane, vector * sizeof(T), false);
    for (std::size_t i = 0; i < vector; ++i) {
      T value;
      std::memcpy(&value, from + i * sizeof(T), sizeof(T));
      warp.registers().words<WordOf<Register>>(step.data[i])[lane] = extended<T, Register>(value);
    }
  });
}

template <AddressSpace space, class T, class Register, int vector>
void store(Warp& warp, const Step& step, Mask mask) {
  for_each_lane(mask, [&](int lane) {
    std::byte* to = place<space>(warp, step, lane, vector * sizeof(T), true);
    for (std::size_t i = 0; i < vector; ++i) {
      const auto word = warp.registers().words<WordOf<Register>>(step.data[i])[lane];
      std::memcpy(to + i * sizeof(T), &word, sizeof(T));  // the low bytes: the host is little-endian, as the device
    }
  });
}

template <bool storing, AddressSpace space, class T, class Register, int vector>
constexpr Effect access_of() {
  if constexpr (storing)
    return &store<space, T, Register, vector>;
  else
    return &load<space, T, Register, vector>;
}

template <bool storing, AddressSpace space, class T, class Register>
Effect with_vector(int vector) {
  switch (vector) {
    case 1:
      return access_of<storing, space, T, Register, 1>();
    case 2:
      return access_of<storing, space, T, Register, 2>();
    case 4:
      return access_of<storing, space, T, Register, 4>();
    default:
      return nullptr;
  }
}

template <bool storing, AddressSpace space, class T>
Effect with_register(const Access& access) {
  using Narrow = std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>;
  using Middle = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
  using Broad = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  if constexpr (sizeof(T) <= sizeof(Narrow))
    if (access.register_bits == 16) return with_vector<storing, space, T, Narrow>(access.vector);
  if constexpr (sizeof(T) <= sizeof(Middle))
    if (access.register_bits == 32) return with_vector<storing, space, T, Middle>(access.vector);
  return access.register_bits == 64 ? with_vector<storing, space, T, Broad>(access.vector) : nullptr;
}

template <bool storing, AddressSpace space>
Effect with_type(const Access& access) {
  const char kind = access.type.front();
  const auto digits = access.type.find_first_of("0123456789");
  const int bits = std::stoi(access.type.substr(digits));
  const bool is_signed = kind == 's';
  switch (bits) {
    case 8:
      return is_signed ? with_register<storing, space, std::int8_t>(access)
                       : with_register<storing, space, std::uint8_t>(access);
    case 16:
      return is_signed ? with_register<storing, space, std::int16_t>(access)
                       : with_register<storing, space, std::uint16_t>(access);
    case 32:
      return is_signed ? with_register<storing, space, std::int32_t>(access)
                       : with_register<storing, space, std::uint32_t>(access);
    case 64:
      return with_register<storing, space, std::uint64_t>(access);
    default:
      return nullptr;
  }
}

template <bool storing>
Effect find_access(const Access& access) {
  switch (access.space) {
    case AddressSpace::generic:
      return with_type<storing, AddressSpace::generic>(access);
    case AddressSpace::shared:
      return with_type<storing, AddressSpace::shared>(access);
    case AddressSpace::local:
      return with_type<storing, AddressSpace::local>(access);
    case AddressSpace::global:
    case AddressSpace::constant:
      return with_type<storing, AddressSpace::global>(access);
  }
  return nullptr;
}

// --- atomics: lanes one after the other, in their order
struct AddTo {
  template <class T>
  T operator()(T old, T value, T) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(value));
    else
      return old + value;
  }
};
struct TakeSmaller {
  template <class T>
  T operator()(T old, T value, T) const {
    return std::min(old, value);
  }
};
struct TakeLarger {
  template <class T>
  T operator()(T old, T value, T) const {
    return std::max(old, value);
  }
};
struct Exchange {
  template <class T>
  T operator()(T, T value, T) const {
    return value;
  }
};
struct CompareAndSwap {
  template <class T>
  T operator()(T old, T expected, T value) const {
    return old == expected ? value : old;
  }
};
struct AndWith {
  template <class T>
  T operator()(T old, T value, T) const {
    return old & value;
  }
};
struct OrWith {
  template <class T>
  T operator()(T old, T value, T) const {
    return old | value;
  }
};
struct XorWith {
  template <class T>
  T operator()(T old, T value, T) const {
    return old ^ value;
  }
};
struct Increment {
  template <class T>
  T operator()(T old, T largest, T) const {
    return old >= largest ? 0 : old + 1;
  }
};
struct Decrement {
  template <class T>
  T operator()(T old, T largest, T) const {
    return old == 0 || old > largest ? largest : old - 1;
  }
};

template <AddressSpace space, class F, class T>
void atomic(Warp& warp, const Step& step, Mask mask) {
  for_each_lane(mask, [&](int lane) {
    std::byte* at = place<space>(warp, step, lane, sizeof(T), true);
    const auto operand = [&](std::size_t i) {
      const Slot slot = step.operation.operands[i];
      return slot == 0 ? T{} : from_word<T>(warp.registers().words<WordOf<T>>(slot)[lane]);
    };
    T old;
    std::memcpy(&old, at, sizeof(T));
    const T made = F{}(old, operand(1), operand(2));
    std::memcpy(at, &made, sizeof(T));
    if (step.operation.result != 0) warp.registers().words<WordOf<T>>(step.operation.result)[lane] = to_word<T>(old);
  });
}

template <AddressSpace space, class T>
Effect integer_atomic(const std::string& operation) {
  if (operation == "min") return &atomic<space, TakeSmaller, T>;
  if (operation == "max") return &atomic<space, TakeLarger, T>;
  return operation == "add" ? &atomic<space, AddTo, T> : nullptr;
}

template <AddressSpace space, class T>
Effect bits_atomic(const std::string& operation) {
  if (operation == "exch") return &atomic<space, Exchange, T>;
  if (operation == "cas") return &atomic<space, CompareAndSwap, T>;
  if (operation == "and") return &atomic<space, AndWith, T>;
  if (operation == "or") return &atomic<space, OrWith, T>;
  return operation == "xor" ? &atomic<space, XorWith, T> : nullptr;
}

template <AddressSpace space>
Effect atomic_in(const std::string& operation, const std::string& type) {
  if (type == "f32" && operation == "add") return &atomic<space, AddTo, float>;
  if (type == "f64" && operation == "add") return &atomic<space, AddTo, double>;
  if (type == "b32") return bits_atomic<space, std::uint32_t>(operation);
  if (type == "b64") return bits_atomic<space, std::uint64_t>(operation);
  if (type == "s32") return integer_atomic<space, std::int32_t>(operation);
  if (type == "s64") return integer_atomic<space, std::int64_t>(operation);
  if (type == "u64") return integer_atomic<space, std::uint64_t>(operation);
  if (type != "u32") return nullptr;
  if (operation == "inc") return &atomic<space, Increment, std::uint32_t>;
  if (operation == "dec") return &atomic<space, Decrement, std::uint32_t>;
  return integer_atomic<space, std::uint32_t>(operation);
}

// --- across lanes
// From which lane a value comes. `bound` is the last lane, going up the first, that may be read; an index counts from
// the segment's first lane.
struct Up {
  static int source(int lane, int count, int bound, int) { return lane - count >= bound ? lane - count : -1; }
};
struct Down {
  static int source(int lane, int count, int bound, int) { return lane + count <= bound ? lane + count : -1; }
};
struct Butterfly {
  static int source(int lane, int count, int bound, int) { return (lane ^ count) <= bound ? lane ^ count : -1; }
};
struct Indexed {
  static int source(int lane, int index, int bound, int segment_mask) {
    const int wanted = (lane & segment_mask) | (index & ~segment_mask & 31);
    return wanted <= bound ? wanted : -1;
  }
};

//! operands: value, lane operand, clamp and segment mask, member mask. Out of range: the lane's own value.
template <class Mode>
void shuffle(Warp& warp, const Step& step, Mask mask) {
  Registers& registers = warp.registers();
  const auto word = [&](std::size_t operand, int lane) {
    return registers.words<std::uint32_t>(step.operation.operands[operand])[lane];
  };
  std::array<std::uint32_t, warp_size> values{};
  Mask in_range = 0;
  for_each_lane(mask, [&](int lane) {
    const auto control = static_cast<int>(word(2, lane));
    const int count = static_cast<int>(word(1, lane) & 31u);
    const int segment_mask = control >> 8 & 31, bound = (lane & segment_mask) | (control & ~segment_mask & 31);
    const int source = Mode::source(lane, count, bound, segment_mask);
    if (source >= 0 && (mask >> source & 1) == 0)
      warp.fail(FaultKind::inactive_lane, "a shuffle reads lane " + std::to_string(source) + ", which takes no part",
                lane, step);
    values[static_cast<std::size_t>(lane)] = word(0, source >= 0 ? source : lane);
    if (source >= 0) in_range |= Mask{1} << lane;
  });
  for_each_lane(mask, [&](int lane) {
    registers.words<std::uint32_t>(step.operation.result)[lane] = values[static_cast<std::size_t>(lane)];
  });
  if (step.operation.second_result == 0) return;
  Mask& predicate = registers.predicate(step.operation.second_result);
  predicate = (predicate & ~mask) | in_range;
}

//! 16-bit registers take words of 32 bits, with nothing above.
template <class Word>
void checked_division(Warp& warp, const Step& step, Mask mask) {
  const Word* divisors = warp.registers().words<Word>(step.operation.operands[1]);
  Mask zeros = 0;
  for (int lane = 0; lane < warp_size; ++lane) zeros |= static_cast<Mask>(divisors[lane] == 0) << lane;
  if ((zeros & mask) != 0)
    warp.fail(FaultKind::division_by_zero, "an integer is divided by zero", std::countr_zero(zeros & mask), step);
  step.operation.run(warp.registers(), step.operation, mask);
}

struct Any {
  static bool holds(Mask votes, Mask) { return votes != 0; }
};
struct All {
  static bool holds(Mask votes, Mask mask) { return votes == mask; }
};
struct Uniform {
  static bool holds(Mask votes, Mask mask) { return votes == mask || votes == 0; }
};

template <class Mode>
void vote(Warp& warp, const Step& step, Mask mask) {
  const Mask votes = warp.registers().predicate(step.operation.operands[0]) & mask;
  Mask& result = warp.registers().predicate(step.operation.result);
  result = (result & ~mask) | (Mode::holds(votes, mask) ? mask : 0);
}

void ballot(Warp& warp, const Step& step, Mask mask) {
  const Mask votes = warp.registers().predicate(step.operation.operands[0]) & mask;
  for_each_lane(mask, [&](int lane) { warp.registers().words<std::uint32_t>(step.operation.result)[lane] = votes; });
}

}  // namespace

Effect find_load(const Access& access) { return find_access<false>(access); }
Effect find_store(const Access& access) { return find_access<true>(access); }

Effect find_atomic(AddressSpace space, const std::string& operation, const std::string& type) {
  switch (space) {
    case AddressSpace::generic:
      return atomic_in<AddressSpace::generic>(operation, type);
    case AddressSpace::global:
      return atomic_in<AddressSpace::global>(operation, type);
    case AddressSpace::shared:
      return atomic_in<AddressSpace::shared>(operation, type);
    default:
      return nullptr;
  }
}

Effect find_checked_division(const std::string& type) {
  if (type == "s64" || type == "u64") return &checked_division<std::uint64_t>;
  const bool narrow = type == "s32" || type == "u32" || type == "s16" || type == "u16";
  return narrow ? &checked_division<std::uint32_t> : nullptr;
}

Effect find_shuffle(const std::string& mode) {
  if (mode == "up") return &shuffle<Up>;
  if (mode == "down") return &shuffle<Down>;
  if (mode == "bfly") return &shuffle<Butterfly>;
  return mode == "idx" ? &shuffle<Indexed> : nullptr;
}

Effect find_vote(const std::string& mode) {
  if (mode == "any") return &vote<Any>;
  if (mode == "all") return &vote<All>;
  if (mode == "uni") return &vote<Uniform>;
  return mode == "ballot" ? &ballot : nullptr;
}

}  // namespace cudal1::vgpu
