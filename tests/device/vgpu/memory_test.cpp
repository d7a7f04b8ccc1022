// How messages say where an address lies.
#include "device/vgpu/machine/memory.hpp"

#include <gtest/gtest.h>

namespace cudal1::vgpu {
namespace {

class DescribedAddress : public ::testing::Test {
 protected:
  DescribedAddress() {
    memory_.add({0x10000, 256, nullptr, "x", false});
    memory_.add({0x20000, 1024, nullptr, "y", true});
  }
  GlobalMemory memory_;
};

TEST_F(DescribedAddress, InABuffer) {
  EXPECT_EQ(memory_.describe(0x10004), "byte 4 of 'x', which has 256 (address 0x10004)");
}

TEST_F(DescribedAddress, NearABuffer) {
  EXPECT_EQ(memory_.describe(0x10100), "0 bytes after the end of 'x' (address 0x10100)");
  EXPECT_EQ(memory_.describe(0x1fffc), "4 bytes before the beginning of 'y' (address 0x1fffc)");
  EXPECT_EQ(memory_.describe(0xfffc), "4 bytes before the beginning of 'x' (address 0xfffc)");
  EXPECT_EQ(memory_.describe(0x2a000), "39936 bytes after the end of 'y' (address 0x2a000)");
}

TEST_F(DescribedAddress, FarFromAll) {
  EXPECT_EQ(memory_.describe(0xfffffffffffff000), "address 0xfffffffffffff000, with no buffer near");
  EXPECT_EQ(GlobalMemory().describe(0), "address 0x0, with no buffer near");
}

}  // namespace
}  // namespace cudal1::vgpu
