#include "device/vgpu/machine/shared_arrays.hpp"

#include <gtest/gtest.h>

#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/shared_origins.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {
namespace {

TEST(SharedArrays, AreCalledWhatTheProgramCallsThem) {
  EXPECT_EQ(name_of_variable("_ZZ6kernelPfE4tile"), "tile");
  EXPECT_EQ(name_of_variable("_ZZ6kernelILi4EEvPfE4tile_0"), "tile");
  EXPECT_EQ(name_of_variable("_ZN5space4rowsE"), "rows");
  EXPECT_EQ(name_of_variable("rows"), "rows");
}

TEST(SharedArrays, TellWhereAnAddressLies) {
  SharedArrays arrays;
  arrays.add("_ZZ1kE4tile", 0, 100);
  arrays.add("_ZZ1kE4sums", 128, 64);
  EXPECT_EQ(arrays.describe(96, 192), "byte 96 of shared memory (byte 96 of 'tile', 100 bytes)");
  EXPECT_EQ(arrays.describe(132, 192), "byte 132 of shared memory (byte 4 of 'sums', 64 bytes)");
  EXPECT_EQ(arrays.remark_on(108, 192), " (8 bytes after the end of 'tile', 100 bytes)");
  EXPECT_EQ(arrays.remark_on(200, 192), " (8 bytes after the end of 'sums', 64 bytes)");
  EXPECT_EQ(arrays.remark_on(std::uint64_t{0} - 4, 192), " (4 bytes before the beginning of 'tile')");
}

TEST(SharedArrays, WithoutASizeHaveWhatTheLaunchAskedFor) {
  SharedArrays arrays;
  arrays.add("_ZZ1kE4tile", 0, 128);
  arrays.add_dynamic("rows", 128);
  EXPECT_EQ(arrays.remark_on(132, 192), " (byte 4 of 'rows', 64 bytes)");
  EXPECT_EQ(arrays.remark_on(192, 192), " (0 bytes after the end of 'rows', 64 bytes)");
  arrays.add_dynamic("columns", 128);
  EXPECT_EQ(arrays.remark_on(132, 192), " (byte 4 of 'rows' or 'columns', 64 bytes)");
}

TEST(SharedArrays, AreNotNamedWhereThereAreNone) {
  EXPECT_EQ(SharedArrays().describe(8, 16), "byte 8 of shared memory");
}

TEST(SharedArrays, WithoutASizeBeginAtAPlaceThatFitsThem) {
  const ptx::Module module = ptx::parse(R"(.version 7.5
.target sm_86
.address_size 64
.extern .shared .align 16 .b8 own[];
.visible .entry k() {
  .reg .b32 %r<2>;
  .shared .align 8 .b8 _ZZ1kE4tile[24];
  ld.shared.u32 %r1, [own];
  st.shared.u32 [_ZZ1kE4tile], %r1;
  ret;
})");
  const Kernel kernel = decode(module, *module.find("k"), {});
  EXPECT_EQ(kernel.static_shared_bytes, 32u);
  EXPECT_EQ(kernel.shared_arrays.remark_on(32, 64), " (byte 0 of 'own', 32 bytes)");
}

//! The module's arrays without a size are one memory, which each kernel calls by its own name.
TEST(SharedArrays, OfAKernelAreThoseThatItNames) {
  const ptx::Module module = ptx::parse(R"(.version 7.5
.target sm_86
.address_size 64
.extern .shared .align 4 .b8 others[];
.extern .shared .align 4 .b8 own[];
.visible .entry k() {
  .reg .b32 %r<2>;
  .shared .align 4 .b8 _ZZ1kE4tile[16];
  ld.shared.u32 %r1, [own+4];
  st.shared.u32 [_ZZ1kE4tile], %r1;
  ret;
})");
  const Kernel kernel = decode(module, *module.find("k"), {});
  EXPECT_EQ(kernel.shared_arrays.remark_on(4, 64), " (byte 4 of 'tile', 16 bytes)");
  EXPECT_EQ(kernel.shared_arrays.remark_on(20, 64), " (byte 4 of 'own', 48 bytes)");
}

TEST(SharedArrays, AnAddressIsBoundToTheArrayItWasMadeFrom) {
  const ptx::Module module = ptx::parse(R"(.version 7.5
.target sm_86
.address_size 64
.visible .entry k() {
  .reg .b64 %rd<12>;
  .reg .b32 %r<3>;
  .reg .pred %p<2>;
  .shared .align 4 .b8 a[16];
  .shared .align 4 .b8 b[16];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  mov.u64 %rd2, a;
  add.s64 %rd3, %rd2, %rd1;
  mov.u64 %rd4, b;
  mov.u64 %rd5, %rd4;
LOOP:
  add.s64 %rd5, %rd5, 4;
  selp.b64 %rd6, %rd2, %rd4, %p1;
  mov.u64 %rd7, %rd2;
  @%p1 mov.u64 %rd7, %rd4;
  sub.s64 %rd8, %rd4, %rd2;
  add.s64 %rd9, %rd2, %rd8;
  and.b64 %rd10, %rd3, -16;
  ld.shared.u64 %rd11, [%rd3];
  @%p1 bra LOOP;
  ret;
})");
  const auto origins =
      shared_origins(*module.find("k"), [](const std::string& name) { return name == "a" || name == "b"; });
  const std::map<std::string, std::string> expected{{"%rd2", "a"}, {"%rd3", "a"}, {"%rd4", "b"}, {"%rd5", "b"}};
  EXPECT_EQ(origins, expected);
}

TEST(SharedArrays, TellHowFarFromTheArrayThatWasMeant) {
  SharedArrays arrays;
  arrays.add("tile", 0, 128);
  arrays.add("sums", 128, 64);
  EXPECT_EQ(arrays.remark_on(132, 192, 1), " (4 bytes after the end of 'tile', 128 bytes)");
  EXPECT_EQ(arrays.remark_on(124, 192, 2), " (4 bytes before the beginning of 'sums', 64 bytes)");
  EXPECT_EQ(arrays.remark_on(132, 192, 2), " (byte 4 of 'sums', 64 bytes)");
  EXPECT_EQ(arrays.remark_on(132, 192, 0), " (byte 4 of 'sums', 64 bytes)");
}

}  // namespace
}  // namespace cudal1::vgpu
