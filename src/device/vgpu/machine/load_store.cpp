// ld and st.
#include "device/vgpu/machine/effects.hpp"
#include "device/vgpu/machine/load_lanes.hpp"
#include "device/vgpu/machine/reach.hpp"

namespace cudal1::vgpu {
namespace {

//! Lanes side by side are mostly followed by others, of this warp or the next one: those come into the cache meanwhile.
template <int bytes>
CUDAL1_INLINE void fetch_behind(const Reach& reach) {
  constexpr int line = 64;
  constexpr int ahead = bytes >= 512 ? 2 * bytes : bytes;
  for (int offset = ahead; offset < ahead + bytes; offset += line) __builtin_prefetch(reach.first + offset);
}

template <bool wide, class T, class Register, int vector>
CUDAL1_INLINE void load_all_and_fetch(const Columns<Register, vector>& columns, const Step& step, const Reach& reach) {
  if (step.space != AddressSpace::shared && reach.pattern->shape == LaneShape::consecutive)
    fetch_behind<vector* static_cast<int>(sizeof(T)) * warp_size>(reach);
  load_all<wide, T, Register, vector>(columns, reach);
}

template <bool wide, class T, class Register, int vector>
CUDAL1_INLINE void load(Warp& warp, const Step& step, Mask mask) {
  const Reach reach = warp.reach(step, mask, vector * sizeof(T), AccessKind::read);
  const Columns<Register, vector> columns(warp.registers(), step);
  if (reach.first && mask == full_mask) return load_all_and_fetch<wide, T, Register, vector>(columns, step, reach);
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

//! All lanes. Where they write to one place, the last of them wins.
template <class T, class Register, int vector>
CUDAL1_INLINE void store_all(const Columns<Register, vector>& columns, const Reach& reach) {
  if (reach.pattern->shape == LaneShape::consecutive)
    return store_consecutive<T, Register, vector, warp_size>(columns, reach.first, 0);
  if (reach.pattern->shape == LaneShape::consecutive_by_eights) {
    for (int lane = 0; lane < warp_size; lane += 8)
      store_consecutive<T, Register, vector, 8>(columns, reach.at(lane), lane);
    return;
  }
  for (int lane = 0; lane < warp_size; ++lane)
    store_lane<T, Register, vector>(columns, reach.first + reach.pattern->deltas[static_cast<std::size_t>(lane)], lane);
}

template <class T, class Register, int vector>
CUDAL1_INLINE void store(Warp& warp, const Step& step, Mask mask) {
  const Reach reach = warp.reach(step, mask, vector * sizeof(T), AccessKind::write);
  const Columns<Register, vector> columns(warp.registers(), step);
  if (reach.first && mask == full_mask) return store_all<T, Register, vector>(columns, reach);
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
  //! Inner loops mostly go on through memory as they did before. Apart, that needs no stack and half the time.
  CUDAL1_WIDE_VECTORS static void wide(Warp& warp, const Step& step, Mask mask) {
    if (mask != full_mask || !warp.counts()) return wide_anywhere(warp, step, mask);
    const Reach reach = warp.reach_again(step, vector * sizeof(T), storing ? AccessKind::write : AccessKind::read);
    if (!reach.first) return wide_anywhere(warp, step, mask);
    const Columns<Register, vector> columns(warp.registers(), step);
    if constexpr (storing)
      store_all<T, Register, vector>(columns, reach);
    else
      load_all_and_fetch<true, T, Register, vector>(columns, step, reach);
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

}  // namespace

Effect find_load(const Access& access) { return find_access<false>(access); }
Effect find_store(const Access& access) { return find_access<true>(access); }

}  // namespace cudal1::vgpu
