#include "device/vgpu/model/occupancy.hpp"

#include <gtest/gtest.h>

namespace cudal1::vgpu {
namespace {

struct Case {
  const char* gpu;
  std::uint32_t threads, registers;
  std::uint64_t shared_bytes;
  std::int64_t blocks;
  Occupancy::Limit limit;
};

//! What NVIDIA's occupancy calculator says.
TEST(OccupancyRules, AreNvidias) {
  using enum Occupancy::Limit;
  const Case cases[] = {
      {"h200", 256, 32, 0, 8, warps},                  // 64 warps: full
      {"h200", 1024, 32, 0, 2, warps},                 //
      {"h200", 32, 32, 0, 32, blocks},                 // 32 blocks of one warp: half full
      {"h200", 256, 64, 0, 4, registers},              // 64 * 256 = a quarter of the file
      {"h200", 256, 65, 0, 3, registers},              // 65 become 72
      {"h200", 256, 255, 0, 1, registers},             // two warps on each scheduler
      {"h200", 1024, 64, 0, 1, registers},             //
      {"h200", 1024, 65, 0, 0, impossible},            //
      {"h200", 32, 255, 0, 8, registers},              //
      {"h200", 96, 168, 0, 4, registers},              // 12 warps of 5376 registers, three in a block
      {"h200", 256, 32, 48 << 10, 4, shared_memory},   // 49 of 228 KiB each
      {"h200", 128, 32, 227 << 10, 1, shared_memory},  // all there is
      {"h200", 128, 32, (227 << 10) + 1, 0, impossible},
      {"a100", 256, 32, 48 << 10, 3, shared_memory},  // 164 KiB
      {"a100", 256, 32, 0, 8, warps},
      {"rtx4090", 256, 32, 0, 6, warps},  // 48 warps
      {"rtx4090", 32, 32, 0, 24, blocks},
      {"rtx4090", 1024, 32, 0, 1, warps},
      {"rtx4090", 512, 40, 0, 3, warps},
      {"rtx4090", 256, 32, 48 << 10, 2, shared_memory},
      {"l40", 2048, 32, 0, 0, impossible},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.gpu << " " << c.threads << " threads " << c.registers << " registers "
                                    << c.shared_bytes << " bytes");
    const Occupancy occupancy = occupancy_of(find_profile(c.gpu), c.threads, c.registers, c.shared_bytes);
    EXPECT_EQ(occupancy.blocks, c.blocks);
    EXPECT_EQ(occupancy.limit, c.limit) << to_string(occupancy.limit);
  }
}

TEST(OccupancyRules, SharesAreOfTheWarps) {
  const Occupancy occupancy = occupancy_of(find_profile("h200"), 96, 168, 0);
  EXPECT_EQ(occupancy.warps, 12);
  EXPECT_DOUBLE_EQ(occupancy.share, 12.0 / 64);
}

}  // namespace
}  // namespace cudal1::vgpu
