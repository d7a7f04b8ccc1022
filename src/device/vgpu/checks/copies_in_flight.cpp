#include "device/vgpu/checks/copies_in_flight.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1::vgpu {

void CopiesInFlight::begin(const WarpAccess& copy) {
  if (copiers_.empty()) copiers_.resize(block_.launch->shared_bytes / word_bytes + 1);
  for_each_lane(copy.mask, [&](int lane) {
    const std::uint64_t address = (*copy.addresses)[static_cast<std::size_t>(lane)];
    const Copier copier{copy.at, copy.warp * warp_size + static_cast<std::uint32_t>(lane)};
    for (std::uint64_t word = address / word_bytes; word < (address + copy.bytes) / word_bytes; ++word) {
      if (copiers_[word].at) fail(copy, lane, word);
      copiers_[word] = copier;
      ++words_in_flight_;
    }
  });
}

void CopiesInFlight::end(const WarpAccess& copy) {
  for_each_lane(copy.mask, [&](int lane) {
    const std::uint64_t first = (*copy.addresses)[static_cast<std::size_t>(lane)] / word_bytes;
    for (std::uint64_t word = first; word < first + copy.bytes / word_bytes; ++word) {
      if (!copiers_[word].at) continue;
      copiers_[word] = {};
      --words_in_flight_;
    }
  });
}

void CopiesInFlight::look_at(const WarpAccess& access) const {
  for_each_lane(access.mask, [&](int lane) {
    const std::uint64_t address = (*access.addresses)[static_cast<std::size_t>(lane)];
    const std::uint64_t last = (address + access.bytes - 1) / word_bytes;
    for (std::uint64_t word = address / word_bytes; word <= last; ++word)
      if (copiers_[word].at) fail(access, lane, word);
  });
}

void CopiesInFlight::fail(const WarpAccess& access, int lane, std::uint64_t word) const {
  const Copier& copier = copiers_[word];
  const std::uint64_t address = std::max((*access.addresses)[static_cast<std::size_t>(lane)], word * word_bytes);
  report(FaultKind::shared_race,
         fmt::format("{} {}, which cp.async at {} still has to fill: thread {} has not waited "
                     "for it",
                     verb_of(access.kind), block_.describe_shared(address), place_of(*copier.at),
                     text_of(index_in(copier.thread, block_.launch->block))),
         block_, access, lane);
}

}  // namespace cudal1::vgpu
