// The memories that a kernel sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudal1::vgpu {

//! Generic addresses from here on are shared or local memory; all others are global.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 62;
inline constexpr std::uint64_t local_window = std::uint64_t{1} << 61;
//! Where a kernel's parameters lie, beyond all buffers.
inline constexpr std::uint64_t parameter_window = std::uint64_t{1} << 60;

//! A buffer in global memory, at the addresses a kernel uses for it.
struct Segment {
  std::uint64_t begin = 0, bytes = 0;
  std::byte* host = nullptr;
  std::string name;
  bool writable = true;
};

//! Everything outside its segments is out of bounds.
class GlobalMemory {
 public:
  //! Segments must not overlap.
  void add(Segment segment);
  //! Null where not all of these bytes lie in one segment.
  const Segment* find(std::uint64_t address, std::uint64_t bytes) const;
  //! By address.
  const std::vector<Segment>& segments() const { return segments_; }
  std::size_t index_of(const Segment& segment) const { return static_cast<std::size_t>(&segment - segments_.data()); }
  //! For messages: where an address lies, or what it lies beside, and the address.
  std::string describe(std::uint64_t address) const;

 private:
  std::vector<Segment> segments_;
};

}  // namespace cudal1::vgpu
