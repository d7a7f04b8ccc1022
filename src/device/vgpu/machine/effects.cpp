#include "device/vgpu/machine/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/reach.hpp"

namespace cudal1::vgpu {
namespace {

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

template <class F, class T>
void atomic(Warp& warp, const Step& step, Mask mask) {
  const Reach reach = warp.reach(step, mask, sizeof(T), AccessKind::atomic);
  for_each_lane(mask, [&](int lane) {
    std::byte* at = reach.at(lane);
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

template <class T>
Effect integer_atomic(const std::string& operation) {
  if (operation == "min") return &atomic<TakeSmaller, T>;
  if (operation == "max") return &atomic<TakeLarger, T>;
  return operation == "add" ? &atomic<AddTo, T> : nullptr;
}

template <class T>
Effect bits_atomic(const std::string& operation) {
  if (operation == "exch") return &atomic<Exchange, T>;
  if (operation == "cas") return &atomic<CompareAndSwap, T>;
  if (operation == "and") return &atomic<AndWith, T>;
  if (operation == "or") return &atomic<OrWith, T>;
  return operation == "xor" ? &atomic<XorWith, T> : nullptr;
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

//! From which lane each takes its value, itself where the other is out of range; the lanes that are in range.
template <class Mode>
__attribute__((always_inline)) inline Mask sources_of(const std::int32_t* counts, const std::int32_t* controls,
                                                      std::array<std::int32_t, warp_size>& sources) {
  Mask in_range = 0;
  for (std::int32_t lane = 0; lane < warp_size; ++lane) {
    const auto i = static_cast<std::size_t>(lane);
    const int segment_mask = controls[i] >> 8 & 31, bound = (lane & segment_mask) | (controls[i] & ~segment_mask & 31);
    const int source = Mode::source(lane, counts[i] & 31, bound, segment_mask);
    in_range |= source >= 0 ? lane_bits[i] : 0;
    sources[i] = source >= 0 ? source : lane;
  }
  return in_range;
}

template <class Mode>
FixedShuffle fixed(std::int32_t count, std::int32_t control) {
  std::array<std::int32_t, warp_size> counts, controls;
  counts.fill(count);
  controls.fill(control);
  FixedShuffle shuffle;
  shuffle.in_range = sources_of<Mode>(counts.data(), controls.data(), shuffle.sources);
  for (std::size_t eight = 0; eight < shuffle.eights.size(); ++eight) {
    const std::int32_t* sources = shuffle.sources.data() + 8 * eight;
    const bool together =
        std::all_of(sources, sources + 8, [&](std::int32_t lane) { return lane / 8 == *sources / 8; });
    shuffle.eights[eight] = together ? *sources / 8 : -1;
  }
  return shuffle;
}

// For all lanes, of which none can be missing. The result may lie where the values do: all are read first.
void take_values(std::int32_t* to, const std::int32_t* from, const FixedShuffle& shuffle) {
  std::array<std::int32_t, warp_size> values;
  for (std::size_t i = 0; i < warp_size; ++i) values[i] = from[shuffle.sources[i]];
  std::ranges::copy(values, to);
}

#if defined(__x86_64__)
CUDAL1_WIDE_VECTORS void take_values_wide(std::int32_t* to, const std::int32_t* from, const FixedShuffle& shuffle) {
  constexpr std::size_t eights = warp_size / 8;
  __m256i values[eights];
  for (std::size_t i = 0; i < eights; ++i) {
    const __m256i sources = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(shuffle.sources.data() + 8 * i));
    const auto* eight = reinterpret_cast<const __m256i*>(from + 8 * shuffle.eights[i]);
    values[i] = shuffle.eights[i] >= 0 ? _mm256_permutevar8x32_epi32(_mm256_loadu_si256(eight), sources)
                                       : _mm256_i32gather_epi32(from, sources, 4);
  }
  for (std::size_t i = 0; i < eights; ++i) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 8 * i), values[i]);
}
#else
void take_values_wide(std::int32_t* to, const std::int32_t* from, const FixedShuffle& shuffle) {
  take_values(to, from, shuffle);
}
#endif

//! Names the first lane that reads one which takes no part.
[[noreturn]] void fail_asking(Warp& warp, const Step& step, Mask mask,
                              const std::array<std::int32_t, warp_size>& sources) {
  const auto takes_part = [&](std::size_t lane) { return (mask & lane_bits[lane]) != 0; };
  std::size_t lane = 0;
  while (!takes_part(lane) || takes_part(static_cast<std::size_t>(sources[lane]))) ++lane;
  warp.fail(FaultKind::inactive_lane, fmt::format("a shuffle reads lane {}, which takes no part", sources[lane]),
            static_cast<int>(lane), step);
}

//! operands: value, lane operand, clamp and segment mask, member mask.
template <class Mode, auto take>
__attribute__((always_inline)) inline void shuffle_lanes(Warp& warp, const Step& step, Mask mask) {
  Registers& registers = warp.registers();
  if (mask == full_mask && step.target != 0) {
    const FixedShuffle& shuffle = warp.block().kernel->shuffles[step.target - 1];
    take(registers.words<std::int32_t>(step.operation.result),
         registers.words<std::int32_t>(step.operation.operands[0]), shuffle);
    if (step.operation.second_result != 0) registers.predicate(step.operation.second_result) = shuffle.in_range;
    return;
  }
  std::array<std::int32_t, warp_size> sources, values;
  const Mask in_range = sources_of<Mode>(registers.words<std::int32_t>(step.operation.operands[1]),
                                         registers.words<std::int32_t>(step.operation.operands[2]), sources);
  Mask asked = 0;
  for (std::size_t i = 0; i < warp_size; ++i) asked |= (mask & lane_bits[i]) != 0 ? Mask{1} << sources[i] : 0;
  if ((asked & ~mask) != 0) fail_asking(warp, step, mask, sources);
  const auto* from = registers.words<std::int32_t>(step.operation.operands[0]);
  for (std::size_t i = 0; i < warp_size; ++i) values[i] = from[sources[i]];
  auto* to = registers.words<std::int32_t>(step.operation.result);
  for (std::size_t i = 0; i < warp_size; ++i) to[i] = (mask & lane_bits[i]) != 0 ? values[i] : to[i];
  if (step.operation.second_result == 0) return;
  Mask& predicate = registers.predicate(step.operation.second_result);
  predicate = (predicate & ~mask) | (in_range & mask);
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

template <class Mode>
struct ShuffleHandler {
  static void plain(Warp& warp, const Step& step, Mask mask) { shuffle_lanes<Mode, take_values>(warp, step, mask); }
  CUDAL1_WIDE_VECTORS static void wide(Warp& warp, const Step& step, Mask mask) {
    shuffle_lanes<Mode, take_values_wide>(warp, step, mask);
  }
  static Effect best() { return host_has_wide_vectors() ? &wide : &plain; }
};

struct Any {
  static bool holds(Mask votes, Mask) { return votes != 0; }
};
struct All {
  static bool holds(Mask votes, Mask mask) { return votes == mask; }
};
struct Uniform {
  static bool holds(Mask votes, Mask mask) { return votes == mask || votes == 0; }
};

Mask votes_of(Warp& warp, const Step& step, Mask mask) {
  const Mask votes = warp.registers().predicate(step.operation.operands[0]);
  return (step.vote_negated ? ~votes : votes) & mask;
}

template <class Mode>
void vote(Warp& warp, const Step& step, Mask mask) {
  const Mask votes = votes_of(warp, step, mask);
  Mask& result = warp.registers().predicate(step.operation.result);
  result = (result & ~mask) | (Mode::holds(votes, mask) ? mask : 0);
}

void ballot(Warp& warp, const Step& step, Mask mask) {
  const Mask votes = votes_of(warp, step, mask);
  for_each_lane(mask, [&](int lane) { warp.registers().words<std::uint32_t>(step.operation.result)[lane] = votes; });
}

}  // namespace

Effect find_atomic(const std::string& operation, const std::string& type) {
  if (type == "f32" && operation == "add") return &atomic<AddTo, float>;
  if (type == "f64" && operation == "add") return &atomic<AddTo, double>;
  if (type == "b32") return bits_atomic<std::uint32_t>(operation);
  if (type == "b64") return bits_atomic<std::uint64_t>(operation);
  if (type == "s32") return integer_atomic<std::int32_t>(operation);
  if (type == "s64") return integer_atomic<std::int64_t>(operation);
  if (type == "u64") return integer_atomic<std::uint64_t>(operation);
  if (type != "u32") return nullptr;
  if (operation == "inc") return &atomic<Increment, std::uint32_t>;
  if (operation == "dec") return &atomic<Decrement, std::uint32_t>;
  return integer_atomic<std::uint32_t>(operation);
}

Effect find_checked_division(const std::string& type) {
  if (type == "s64" || type == "u64") return &checked_division<std::uint64_t>;
  const bool narrow = type == "s32" || type == "u32" || type == "s16" || type == "u16";
  return narrow ? &checked_division<std::uint32_t> : nullptr;
}

Effect find_shuffle(const std::string& mode) {
  if (mode == "up") return ShuffleHandler<Up>::best();
  if (mode == "down") return ShuffleHandler<Down>::best();
  if (mode == "bfly") return ShuffleHandler<Butterfly>::best();
  return mode == "idx" ? ShuffleHandler<Indexed>::best() : nullptr;
}

FixedShuffle fixed_shuffle(const std::string& mode, std::int32_t count, std::int32_t control) {
  if (mode == "up") return fixed<Up>(count, control);
  if (mode == "down") return fixed<Down>(count, control);
  return mode == "bfly" ? fixed<Butterfly>(count, control) : fixed<Indexed>(count, control);
}

void fence(Warp& warp, const Step&, Mask mask) {
  if (AccessObserver* observer = warp.block().observer) observer->fence(warp.index(), mask);
}

Effect find_vote(const std::string& mode) {
  if (mode == "any") return &vote<Any>;
  if (mode == "all") return &vote<All>;
  if (mode == "uni") return &vote<Uniform>;
  return mode == "ballot" ? &ballot : nullptr;
}

}  // namespace cudal1::vgpu
