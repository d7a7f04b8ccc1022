// Who may use how much of a device's memory: a ledger of estimates, kept before processes are started.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>

namespace cudal1 {

//! Safe to use from many threads. Outlives what it hands out.
//!
//! There are two kinds of users. Some *take* a share and give it back by themselves, soon: judges. Others *keep* one
//! until the first kind has gone altogether: workers, which wait to be measured. So that neither waits for the other in
//! a circle, those of the first kind are announced, and while any is to come, what is kept leaves room for the largest
//! of them, and three quarters of everything. Then whoever takes waits only for others that take, and whoever keeps
//! waits for them and for others that are measured. What little is kept meanwhile is not for a few large ones.
class DeviceMemory {
 public:
  static constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;

  explicit DeviceMemory(std::uint64_t total_bytes = unlimited) : total_(total_bytes) {}

  //! At least a byte, so that who has everything is alone. Goes back when it is destroyed.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept;
    Share& operator=(Share&& other) noexcept;
    ~Share() { give_back(); }
    void give_back();
    std::uint64_t bytes() const { return bytes_; }

   private:
    friend class DeviceMemory;
    Share(DeviceMemory& memory, std::uint64_t bytes, bool is_kept)
        : memory_(&memory), bytes_(bytes), is_kept_(is_kept) {}
    DeviceMemory* memory_ = nullptr;
    std::uint64_t bytes_ = 0;
    bool is_kept_ = false;
  };

  //! That somebody will take so much; until it goes.
  class Announcement {
   public:
    Announcement() = default;
    Announcement(Announcement&& other) noexcept;
    Announcement& operator=(Announcement&& other) noexcept;
    ~Announcement() { withdraw(); }
    void withdraw();

   private:
    friend class DeviceMemory;
    Announcement(DeviceMemory& memory, std::uint64_t bytes) : memory_(&memory), bytes_(bytes) {}
    DeviceMemory* memory_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  //! Nothing where others have it; nobody waits here. More than everything means everything, which is there when nobody
  //! has any.
  std::optional<Share> try_take(std::uint64_t bytes);
  std::optional<Share> try_keep(std::uint64_t bytes);
  Announcement announce(std::uint64_t bytes);

  //! Who has it has the device to itself.
  bool is_everything(std::uint64_t bytes) const { return bytes >= total_; }
  //! What to ask for next after `bytes` were too few: twice as much, a quarter at least; everything where nobody knows
  //! how much there is.
  std::uint64_t more_than(std::uint64_t bytes) const;
  //! Can be taken some time even if so much was not announced.
  std::uint64_t always_for_takers() const { return total_ - total_ / 4; }
  std::uint64_t total_bytes() const { return total_; }

 private:
  std::optional<Share> try_hand_out(std::uint64_t bytes, bool is_kept);
  std::uint64_t set_aside() const;

  const std::uint64_t total_;
  std::mutex mutex_;
  std::uint64_t taken_ = 0, kept_ = 0;
  std::multiset<std::uint64_t> announced_;
};

//! What processes of ours may use together: what is free on that GPU now, less a reserve. Throws DeviceError.
std::uint64_t device_bytes_to_share(int ordinal);

}  // namespace cudal1
