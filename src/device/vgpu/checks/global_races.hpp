// Races in global memory between the blocks of one launch: two blocks touch the same bytes, one of them with a plain
// write, and nothing orders them.
#pragma once

#include "device/vgpu/checks/finding.hpp"
#include "device/vgpu/checks/global_shadow.hpp"

namespace cudal1::vgpu {

//! What the blocks of a launch share.
struct GlobalRaceState {
  explicit GlobalRaceState(std::uint32_t blocks) : hand_overs(blocks) {}
  GlobalShadow shadow;
  BlockHandOvers hand_overs;
};

//! Of one block. Strong accesses count as atomics. Throws KernelFault.
class GlobalRaces {
 public:
  GlobalRaces(const BlockPlace& block, GlobalRaceState& state);

  void access(const WarpAccess& access);
  void fence();
  //! Also after the block's last access.
  void settle();

 private:
  //! What an access makes of a history; valid as long as the access.
  struct Transition {
    std::uint32_t from = 0, to = 0;
    bool takes = false;  // a read of what others change atomically
  };
  struct CachedPage {
    std::uint64_t number = ~std::uint64_t{0};
    ShadowPage* page = nullptr;  // null: memory that no kernel may write
  };

  ShadowPage* page_at(std::uint64_t address);
  void access_pages(const WarpAccess& access, const BlockParty& now);
  void access_page(const WarpAccess& access, const BlockParty& now, ShadowPage& page, Mask lanes);
  void access_pieces(const WarpAccess& access, const BlockParty& now, ShadowPage& page, int lane, std::uint64_t bytes);
  Transition transition(const WarpAccess& access, const BlockParty& now, std::uint32_t from, std::uint64_t address,
                        int lane);
  std::uint32_t after_write(const BlockParty& now);
  std::uint32_t after_use(const BlockParty& now, std::uint32_t from);
  bool races(const BlockParty& earlier) const;
  void hand_over(const WarpAccess& access);
  [[noreturn]] void fail(const WarpAccess& access, int lane, std::uint64_t address, const BlockParty& earlier) const;

  const BlockPlace& block_;
  GlobalRaceState& state_;
  std::uint32_t number_;
  BlockHandOvers::Moment moment_;
  std::uint32_t places_to_take_ = 0;
  Transition last_;
  BlockParty last_write_;  // and the number of its history
  std::uint32_t last_write_number_ = 0;
  std::array<CachedPage, 64> pages_;
};

}  // namespace cudal1::vgpu
