// Who may use how much of a device's memory: a ledger of estimates, kept before processes are started.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace cudal1 {

//! Safe to use from many threads. Outlives what it hands out.
//!
//! A part of another ledger hands out no more than its total, and that only while the whole has it: so many small users
//! leave room for a large one, which would wait for ever if each of them took what the one before had left.
class DeviceMemory {
 public:
  static constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;

  explicit DeviceMemory(std::uint64_t total_bytes = unlimited, DeviceMemory* whole = nullptr)
      : total_(total_bytes), whole_(whole) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

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
    Share(DeviceMemory& memory, std::uint64_t bytes) : memory_(&memory), bytes_(bytes) {}
    DeviceMemory* memory_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  //! Nothing where others have it; nobody waits here. More than everything means everything, which is there when nobody
  //! has any.
  std::optional<Share> try_take(std::uint64_t bytes);

  //! Who has it has the device to itself.
  bool is_everything(std::uint64_t bytes) const { return bytes >= total_; }
  //! What to ask for next after `bytes` were too few: twice as much, a quarter at least; everything where nobody knows
  //! how much there is.
  std::uint64_t more_than(std::uint64_t bytes) const;
  std::uint64_t total_bytes() const { return total_; }

 private:
  bool take(std::uint64_t bytes);
  void put_back(std::uint64_t bytes);

  const std::uint64_t total_;
  DeviceMemory* const whole_;
  std::mutex mutex_;
  std::uint64_t taken_ = 0;
};

//! What processes of ours may use together: what is free on that GPU now, less a reserve. Throws DeviceError.
std::uint64_t device_bytes_to_share(int ordinal);

}  // namespace cudal1
