// ld and st.
#include <cstring>

#include "device/vgpu/machine/arithmetic_lanes.hpp"
#include "device/vgpu/machine/effects.hpp"
#include "device/vgpu/machine/eight_lanes.hpp"
#include "device/vgpu/machine/reach.hpp"

namespace cudal1::vgpu {
namespace {

#define CUDAL1_INLINE __attribute__((always_inline)) inline

//! What is narrower than its register is extended, by its sign if it has one.
template <class T, class Register>
CUDAL1_INLINE WordOf<Register> extended(T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(Register))
    return to_word<Register>(static_cast<Register>(value));
  else
    return to_word<T>(value);
}

template <class T>
CUDAL1_INLINE T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

//! In memory, where it may lie anywhere and be somebody else's type.
template <class T>
using Loose __attribute__((may_alias, aligned(1))) = T;

//! Eight words.
template <class Word>
CUDAL1_INLINE void copy_eight(void* to, const void* from) {
  *static_cast<Eight<Word>*>(to) = *static_cast<const Eight<Word>*>(from);
}

//! The registers of an access, each with 32 lanes.
template <class Register, int vector>
struct Columns {
  using Word = WordOf<Register>;
  std::array<Word*, vector> words;
  Columns(Registers& registers, const Step& step) {
    for (std::size_t i = 0; i < vector; ++i) words[i] = registers.words<Word>(step.data[i]);
  }
};

// Lanes `begin` to `begin + count` with one address, or side by side from `from` on.
template <bool wide, class T, class Register, int vector, int count>
CUDAL1_INLINE void load_same(const Columns<Register, vector>& columns, const std::byte* from, int begin) {
  for (std::size_t i = 0; i < vector; ++i) {
    const auto word = extended<T, Register>(read<T>(from + i * sizeof(T)));
    for (int lane = begin; lane < begin + count; lane += 8)
      write_eight<wide>(columns.words[i] + lane, [&](int) { return word; });
  }
}

template <class T, class Register, int vector, int count>
CUDAL1_INLINE void load_consecutive(const Columns<Register, vector>& columns, const std::byte* from, int begin) {
  if constexpr (vector == 1 && sizeof(T) == sizeof(WordOf<Register>)) {
    for (int lane = 0; lane < count; lane += 8)
      copy_eight<WordOf<Register>>(columns.words[0] + begin + lane, from + static_cast<std::size_t>(lane) * sizeof(T));
    return;
  }
  const auto* values = reinterpret_cast<const Loose<T>*>(from);
  for (std::size_t i = 0; i < vector; ++i) {
    auto* const words = columns.words[i] + begin;
#pragma GCC ivdep
    for (std::size_t lane = 0; lane < count; ++lane) words[lane] = extended<T, Register>(values[lane * vector + i]);
  }
}

template <bool wide, class T, class Register, int vector>
CUDAL1_INLINE void load_scattered(const Columns<Register, vector>& columns, const Reach& reach) {
  for (std::size_t i = 0; i < vector; ++i)
    for (std::size_t lane = 0; lane < warp_size; lane += 8) {
      const std::int64_t* deltas = reach.pattern->deltas.data() + lane;
      const auto word = [&](int n) { return extended<T, Register>(read<T>(reach.first + deltas[n] + i * sizeof(T))); };
      write_eight<wide>(columns.words[i] + lane, word);
    }
}

template <class T, class Register, int vector>
CUDAL1_INLINE void load_lane(const Columns<Register, vector>& columns, const std::byte* from, int lane) {
  for (std::size_t i = 0; i < vector; ++i)
    columns.words[i][lane] = extended<T, Register>(read<T>(from + i * sizeof(T)));
}

//! All lanes.
template <bool wide, class T, class Register, int vector>
CUDAL1_INLINE void load_all(const Columns<Register, vector>& columns, const Reach& reach) {
  switch (reach.pattern->shape) {
    case Shape::consecutive:
      return load_consecutive<T, Register, vector, warp_size>(columns, reach.first, 0);
    case Shape::same:
      return load_same<wide, T, Register, vector, warp_size>(columns, reach.first, 0);
    case Shape::consecutive_by_eights:
      for (int lane = 0; lane < warp_size; lane += 8)
        load_consecutive<T, Register, vector, 8>(columns, reach.at(lane), lane);
      return;
    case Shape::same_by_eights:
      for (int lane = 0; lane < warp_size; lane += 8)
        load_same<wide, T, Register, vector, 8>(columns, reach.at(lane), lane);
      return;
    case Shape::scattered:
      return load_scattered<wide, T, Register, vector>(columns, reach);
  }
}

template <bool wide, class T, class Register, int vector>
CUDAL1_INLINE void load(Warp& warp, const Step& step, Mask mask) {
  const Reach reach = warp.reach(step, mask, vector * sizeof(T), AccessKind::read);
  const Columns<Register, vector> columns(warp.registers(), step);
  if (reach.first && mask == full_mask) return load_all<wide, T, Register, vector>(columns, reach);
  for (; mask != 0; mask &= mask - 1)
    load_lane<T, Register, vector>(columns, reach.at(std::countr_zero(mask)), std::countr_zero(mask));
}

//! The low bytes: the host is little-endian, as the device.
template <class T, class Register, int vector>
CUDAL1_INLINE void store_lane(const Columns<Register, vector>& columns, std::byte* to, int lane) {
  for (std::size_t i = 0; i < vector; ++i) std::memcpy(to + i * sizeof(T), &columns.words[i][lane], sizeof(T));
}

//! Lanes `begin` to `begin + count` side by side from `to` on.
template <class T, class Register, int vector, int count>
CUDAL1_INLINE void store_consecutive(const Columns<Register, vector>& columns, std::byte* to, int begin) {
  if constexpr (vector == 1 && sizeof(T) == sizeof(WordOf<Register>)) {
    for (int lane = 0; lane < count; lane += 8)
      copy_eight<WordOf<Register>>(to + static_cast<std::size_t>(lane) * sizeof(T), columns.words[0] + begin + lane);
    return;
  }
  auto* values = reinterpret_cast<Loose<T>*>(to);
  for (std::size_t i = 0; i < vector; ++i) {
    const auto* const words = columns.words[i] + begin;
#pragma GCC ivdep
    for (std::size_t lane = 0; lane < count; ++lane) values[lane * vector + i] = static_cast<T>(words[lane]);
  }
}

//! Where lanes write to one place, the last of them wins.
template <class T, class Register, int vector>
CUDAL1_INLINE void store(Warp& warp, const Step& step, Mask mask) {
  const Reach reach = warp.reach(step, mask, vector * sizeof(T), AccessKind::write);
  const Columns<Register, vector> columns(warp.registers(), step);
  const Shape shape = reach.first ? reach.pattern->shape : Shape::scattered;
  if (shape == Shape::consecutive) return store_consecutive<T, Register, vector, warp_size>(columns, reach.first, 0);
  if (shape == Shape::consecutive_by_eights) {
    for (int lane = 0; lane < warp_size; lane += 8)
      store_consecutive<T, Register, vector, 8>(columns, reach.at(lane), lane);
    return;
  }
  if (reach.first && mask == full_mask) {
    for (int lane = 0; lane < warp_size; ++lane)
      store_lane<T, Register, vector>(columns, reach.first + reach.pattern->deltas[static_cast<std::size_t>(lane)],
                                      lane);
    return;
  }
  for (; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    store_lane<T, Register, vector>(columns, reach.at(lane), lane);
  }
}

template <bool storing, bool wide, class T, class Register, int vector>
CUDAL1_INLINE void access_memory(Warp& warp, const Step& step, Mask mask) {
  if constexpr (storing)
    store<T, Register, vector>(warp, step, mask);
  else
    load<wide, T, Register, vector>(warp, step, mask);
}

template <bool storing, class T, class Register, int vector>
struct AccessHandler {
  static void plain(Warp& warp, const Step& step, Mask mask) {
    access_memory<storing, false, T, Register, vector>(warp, step, mask);
  }
  //! Inner loops mostly load from shared memory as they did before. Apart, that needs no stack and half the time.
  CUDAL1_WIDE_VECTORS static void wide(Warp& warp, const Step& step, Mask mask) {
    if constexpr (!storing)
      if (mask == full_mask && step.space == AddressSpace::shared)
        if (const Reach reach = warp.reach_shared_again(step, vector * sizeof(T)); reach.first)
          return load_all<true, T, Register, vector>(Columns<Register, vector>(warp.registers(), step), reach);
    return wide_anywhere(warp, step, mask);
  }
  CUDAL1_WIDE_VECTORS __attribute__((noinline)) static void wide_anywhere(Warp& warp, const Step& step, Mask mask) {
    access_memory<storing, true, T, Register, vector>(warp, step, mask);
  }
  static Effect best() { return host_has_wide_vectors() ? &wide : &plain; }
};

template <bool storing, class T, class Register>
Effect with_vector(int vector) {
  switch (vector) {
    case 1:
      return AccessHandler<storing, T, Register, 1>::best();
    case 2:
      return AccessHandler<storing, T, Register, 2>::best();
    case 4:
      return AccessHandler<storing, T, Register, 4>::best();
    default:
      return nullptr;
  }
}

template <bool storing, class T>
Effect with_register(const Access& access) {
  using Narrow = std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>;
  using Middle = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
  using Broad = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  if constexpr (sizeof(T) <= sizeof(Narrow))
    if (access.register_bits == 16) return with_vector<storing, T, Narrow>(access.vector);
  if constexpr (sizeof(T) <= sizeof(Middle))
    if (access.register_bits == 32) return with_vector<storing, T, Middle>(access.vector);
  return access.register_bits == 64 ? with_vector<storing, T, Broad>(access.vector) : nullptr;
}

template <bool storing>
Effect find_access(const Access& access) {
  const auto digits = access.type.find_first_of("0123456789");
  const int bits = std::stoi(access.type.substr(digits));
  const bool is_signed = access.type.front() == 's';
  switch (bits) {
    case 8:
      return is_signed ? with_register<storing, std::int8_t>(access) : with_register<storing, std::uint8_t>(access);
    case 16:
      return is_signed ? with_register<storing, std::int16_t>(access) : with_register<storing, std::uint16_t>(access);
    case 32:
      return is_signed ? with_register<storing, std::int32_t>(access) : with_register<storing, std::uint32_t>(access);
    case 64:
      return with_register<storing, std::uint64_t>(access);
    default:
      return nullptr;
  }
}

#undef CUDAL1_INLINE

}  // namespace

Effect find_load(const Access& access) { return find_access<false>(access); }
Effect find_store(const Access& access) { return find_access<true>(access); }

}  // namespace cudal1::vgpu
