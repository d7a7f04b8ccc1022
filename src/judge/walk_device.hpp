// Where the judge's walks over its own tensors run, other than on the processor; known to the whole process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace cudal1 {

//! What a walk is given: eight bytes, and how much memory they point to.
struct WalkArgument {
  std::uint64_t bits = 0;
  std::uint64_t bytes = 0;  //!< 0: a number, or nothing
  bool is_written = false;
};

class WalkDevice {
 public:
  virtual ~WalkDevice() = default;

  //! A kernel of walk_kernels.hpp, behind what PyTorch was asked for before. Does not wait for it. Throws DeviceError.
  void launch(const std::string& kernel, std::uint32_t blocks, std::span<const WalkArgument> arguments) {
    ++launches_;
    run(kernel, blocks, arguments);
  }
  //! More of them would wait for each other.
  virtual std::uint32_t most_blocks() const = 0;
  std::uint64_t launches() const { return launches_; }

 private:
  virtual void run(const std::string& kernel, std::uint32_t blocks, std::span<const WalkArgument> arguments) = 0;

  std::atomic<std::uint64_t> launches_ = 0;
};

//! From now on walks over tensors of this GPU run there. Null: by operators, as before anybody asked.
void use_walk_device(int ordinal, std::shared_ptr<WalkDevice> device);

//! Null where there is none.
std::shared_ptr<WalkDevice> walk_device_of(int ordinal);

}  // namespace cudal1
