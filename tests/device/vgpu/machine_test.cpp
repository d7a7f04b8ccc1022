#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <numeric>

#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/lexer.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {
namespace {

constexpr std::uint64_t x_address = 0x10000, y_address = 0x200000;

//! A kernel k(x, y, n) on two buffers of words.
class Machine : public ::testing::Test {
 protected:
  void load(const std::string& body, const std::string& outside = "") {
    module_ = ptx::parse(".version 7.0\n.target sm_80\n.address_size 64\n" + outside +
                         ".entry k(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n" + registers + body + "}\n");
    kernel_ = decode(module_, *module_.find("k"), {});
  }

  void run(std::uint32_t blocks, Index3 block, std::uint32_t n) {
    std::vector<std::byte> parameters(kernel_.parameter_bytes);
    std::memcpy(parameters.data(), &x_address, 8);
    std::memcpy(parameters.data() + 8, &y_address, 8);
    std::memcpy(parameters.data() + 16, &n, 4);
    GlobalMemory memory;
    memory.add({x_address, 4 * x_.size(), reinterpret_cast<std::byte*>(x_.data()), "x", false});
    memory.add({y_address, 4 * y_.size(), reinterpret_cast<std::byte*>(y_.data()), "y", true});
    run_grid({&kernel_, {blocks, 1, 1}, block, 0, parameters, 100'000}, memory);
  }

  FaultKind fault_of(std::uint32_t blocks, Index3 block, std::uint32_t n) try {
    run(blocks, block, n);
    ADD_FAILURE() << "no fault";
    return FaultKind::deadlock;
  } catch (const KernelFault& fault) {
    message_ = fault.what();
    return fault.kind;
  }

  static constexpr const char* registers =
      ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<32>;\n.reg .b64 %rd<16>;\n";
  //! %r1: index of the thread in the grid; %r2: n; %rd1, %rd2: addresses of x and y at that index.
  const std::string head =
      "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\nmad.lo.s32 %r1, %r3, %r4, %r5;\n"
      "ld.param.u32 %r2, [n];\nld.param.u64 %rd3, [x];\nld.param.u64 %rd4, [y];\n"
      "cvta.to.global.u64 %rd3, %rd3;\ncvta.to.global.u64 %rd4, %rd4;\n"
      "mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd1, %rd3, %rd5;\nadd.s64 %rd2, %rd4, %rd5;\n";

  ptx::Module module_;
  Kernel kernel_;
  std::vector<std::uint32_t> x_ = std::vector<std::uint32_t>(256), y_ = std::vector<std::uint32_t>(256);
  std::string message_;
};

TEST_F(Machine, RunsEveryThreadOfEveryBlock) {
  std::iota(x_.begin(), x_.end(), 100);
  load(head +
       "setp.ge.u32 %p1, %r1, %r2;\n@%p1 bra END;\nld.global.u32 %r6, [%rd1];\nadd.s32 %r6, %r6, %r1;\n"
       "st.global.u32 [%rd2], %r6;\nEND:\nret;\n");
  run(3, {64, 1, 1}, 150);
  for (std::uint32_t i = 0; i < 150; ++i) EXPECT_EQ(y_[i], 100 + 2 * i);
  EXPECT_EQ(y_[150], 0u);
}

TEST_F(Machine, KnowsThreeDimensions) {
  load(
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\nmov.u32 %r4, %laneid;\n"
      "mad.lo.s32 %r5, %r3, 3, %r2;\nmad.lo.s32 %r5, %r5, 5, %r1;\nld.param.u64 %rd1, [y];\n"
      "mul.wide.u32 %rd2, %r5, 4;\nadd.s64 %rd1, %rd1, %rd2;\nst.global.u32 [%rd1], %r4;\nret;\n");
  run(1, {5, 3, 4}, 0);
  for (std::uint32_t i = 0; i < 60; ++i) EXPECT_EQ(y_[i], i % 32) << i;
}

TEST_F(Machine, LanesThatPartMeetAgain) {
  // Each lane counts down from its own number; the sum of a warp after the loop shows that all were there again.
  load(head +
       "mov.u32 %r6, 0;\nmov.u32 %r7, %laneid;\nLOOP:\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra DONE;\n"
       "add.s32 %r6, %r6, %r7;\nsub.s32 %r7, %r7, 1;\nbra.uni LOOP;\nDONE:\n"
       "shfl.sync.bfly.b32 %r8, %r6, 16, 31, -1;\nadd.s32 %r6, %r6, %r8;\nst.global.u32 [%rd2], %r6;\nret;\n");
  run(1, {32, 1, 1}, 0);
  const auto sum = [](std::uint32_t n) { return n * (n + 1) / 2; };
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(y_[i], sum(i) + sum(i ^ 16u));
}

TEST_F(Machine, BarriersSeparateWhatABlockWritesAndReads) {
  const std::string reverse =
      "mul.wide.u32 %rd6, %r5, 4;\nmov.u64 %rd7, tile;\nadd.s64 %rd8, %rd7, %rd6;\nst.shared.u32 [%rd8], %r1;\n"
      "bar.sync 0;\nsub.s32 %r6, 127, %r5;\nmul.wide.u32 %rd6, %r6, 4;\nadd.s64 %rd8, %rd7, %rd6;\n"
      "ld.shared.u32 %r7, [%rd8];\nst.global.u32 [%rd2], %r7;\nret;\n";
  load(head + reverse, ".shared .align 4 .b8 tile[512];\n");
  run(2, {128, 1, 1}, 0);
  for (std::uint32_t i = 0; i < 256; ++i) EXPECT_EQ(y_[i], i / 128 * 128 + 127 - i % 128);
}

TEST_F(Machine, AtomicsOfAllThreadsAddUp) {
  load(head + "atom.global.add.u32 %r6, [%rd4], 1;\nred.global.max.u32 [%rd4+4], %r1;\nret;\n");
  run(4, {48, 1, 1}, 0);
  EXPECT_EQ(y_[0], 192u);
  EXPECT_EQ(y_[1], 191u);
}

TEST_F(Machine, LoadsExtendAndVectorsStayInOrder) {
  x_ = {0x80ff7f01u, 2, 3, 4};
  load(head +
       ".reg .b16 %rs<4>;\nld.global.s8 %r6, [%rd3+2];\nst.global.u32 [%rd4], %r6;\nld.global.u16 %rs1, [%rd3+2];\n"
       "st.global.u16 [%rd4+4], %rs1;\nld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd3];\n"
       "st.global.v2.u32 [%rd4+8], {%r10, %r8};\nret;\n");
  run(1, {1, 1, 1}, 0);
  EXPECT_EQ(y_[0], 0xffffffffu);
  EXPECT_EQ(y_[1], 0x80ffu);
  EXPECT_EQ(y_[2], 4u);
  EXPECT_EQ(y_[3], 2u);
}

TEST_F(Machine, LocalMemoryIsEveryThreadsOwn) {
  load(".local .align 4 .b8 depot[8];\n" + head +
       "mov.u64 %rd6, depot;\nst.local.u32 [%rd6+4], %r1;\ncvta.local.u64 %rd7, %rd6;\nld.u32 %r6, [%rd7+4];\n"
       "st.global.u32 [%rd2], %r6;\nret;\n");
  run(1, {64, 1, 1}, 0);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(y_[i], i);
}

TEST_F(Machine, NamesTheBufferTheThreadAndTheLineOfAnAccessOutOfBounds) {
  load(head + ".loc 1 17 3\nst.global.u32 [%rd2], %r1;\nret;\n");
  EXPECT_EQ(fault_of(3, {100, 1, 1}, 0), FaultKind::out_of_bounds);
  EXPECT_EQ(
      message_,
      "out of bounds: writes 4 bytes at 0 bytes after the end of 'y' (address 0x200400) (line 17, block (2, 0, 0), "
      "thread (56, 0, 0))");
}

TEST_F(Machine, FindsWritesToWhatIsOnlyRead) {
  load(head + "st.global.u32 [%rd1], %r1;\nret;\n");
  EXPECT_EQ(fault_of(1, {1, 1, 1}, 0), FaultKind::read_only);
}

TEST_F(Machine, FindsMisalignedAccesses) {
  load(head + "ld.global.u32 %r6, [%rd1+2];\nret;\n");
  EXPECT_EQ(fault_of(1, {1, 1, 1}, 0), FaultKind::misaligned);
  EXPECT_NE(message_.find("an access of 4 bytes at byte 2 of 'x'"), std::string::npos) << message_;
}

TEST_F(Machine, EndsLoopsThatDoNot) {
  load("LOOP:\nbra.uni LOOP;\n");
  EXPECT_EQ(fault_of(1, {1, 1, 1}, 0), FaultKind::too_many_instructions);
}

TEST_F(Machine, NamesADeadlock) {
  load(head + "setp.lt.u32 %p1, %r5, 32;\n@%p1 bar.sync 1;\n@!%p1 bar.sync 2;\nret;\n");
  EXPECT_EQ(fault_of(1, {64, 1, 1}, 0), FaultKind::deadlock);
}

TEST_F(Machine, ThreadsThatHaveEndedAreNotWaitedFor) {
  load(head + "setp.lt.u32 %p1, %r5, 40;\n@%p1 exit;\nbar.sync 0;\nst.global.u32 [%rd2], %r1;\nret;\n");
  run(1, {64, 1, 1}, 0);
  EXPECT_EQ(y_[39], 0u);
  EXPECT_EQ(y_[40], 40u);
}

TEST_F(Machine, AShuffleFromALaneThatTakesNoPartIsAFault) {
  load(head + "setp.lt.u32 %p1, %r5, 8;\n@%p1 shfl.sync.idx.b32 %r6, %r5, 9, 31, 255;\nret;\n");
  EXPECT_EQ(fault_of(1, {32, 1, 1}, 0), FaultKind::inactive_lane);
}

TEST_F(Machine, ConversionsReadTheLowBitsOfWideRegistersAndExtendToThem) {
  x_ = {0xfffffff0u, 0x12345678u, 0x9abc80f0u};
  load(head +
       "ld.global.v2.u32 {%r6, %r7}, [%rd3];\nmov.b64 %rd6, {%r6, %r7};\n"  // 0x12345678fffffff0
       "cvt.s64.s32 %rd7, %rd6;\nst.global.u64 [%rd4], %rd7;\ncvt.u64.u8 %rd7, %rd6;\nst.global.u64 [%rd4+8], %rd7;\n"
       "cvt.s16.s32 %rd7, %rd6;\nst.global.u64 [%rd4+16], %rd7;\ncvt.u16.u64 %rd7, %rd6;\n"
       "st.global.u64 [%rd4+24], %rd7;\nld.global.u32 %r8, [%rd3+8];\ncvt.s16.s32 %r9, %r8;\n"
       "st.global.u32 [%rd4+32], %r9;\ncvt.s8.s32 %r9, %r8;\nst.global.u32 [%rd4+36], %r9;\n"
       "cvt.u8.u32 %r9, %r8;\nst.global.u32 [%rd4+40], %r9;\ncvt.rn.f32.s32 %f1, %rd6;\nst.global.f32 [%rd4+44], %f1;\n"
       "cvt.rzi.s32.f32 %rd7, %f1;\nst.global.u64 [%rd4+48], %rd7;\nret;\n");
  run(1, {1, 1, 1}, 0);
  const std::uint32_t ones = 0xffffffffu, minus_16 = 0xfffffff0u;
  EXPECT_EQ(std::vector(y_.begin(), y_.begin() + 14),
            (std::vector<std::uint32_t>{minus_16, ones, 0xf0, 0, minus_16, ones, 0xfff0, 0, 0xffff80f0u, minus_16, 0xf0,
                                        std::bit_cast<std::uint32_t>(-16.0f), minus_16, ones}));
}

TEST_F(Machine, ARegisterThatIsTooNarrowIsRefused) {
  EXPECT_THROW(load("cvt.s64.s32 %r1, %r2;\nret;\n"), ptx::PtxError);
  EXPECT_THROW(load("cvt.s32.s64 %r1, %r2;\nret;\n"), ptx::PtxError);
  EXPECT_THROW(load("cvt.s64.f32 %rd1, %rd2;\nret;\n"), ptx::PtxError);
}

TEST_F(Machine, LoadsAndStoresUseThePartOfAWideRegisterThatTheirTypeHas) {
  x_ = {0x80000001u, 0x000000ffu};
  load(head +
       "ld.global.s32 %rd6, [%rd3];\nst.global.u64 [%rd4], %rd6;\nld.global.u32 %rd6, [%rd3];\n"
       "st.global.u64 [%rd4+8], %rd6;\nld.global.s8 %rd6, [%rd3+4];\nst.global.u64 [%rd4+16], %rd6;\n"
       "st.global.u8 [%rd4+24], %rd6;\nret;\n");
  run(1, {1, 1, 1}, 0);
  EXPECT_EQ(std::vector(y_.begin(), y_.begin() + 7),
            (std::vector<std::uint32_t>{0x80000001u, 0xffffffffu, 0x80000001u, 0, 0xffffffffu, 0xffffffffu, 0xffu}));
}

TEST_F(Machine, RefusesWhatItDoesNotKnowWhenItIsLoaded) {
  EXPECT_THROW(load("wgmma.fence.sync.aligned;\n"), ptx::UnknownInstruction);
  EXPECT_THROW(load("bra NOWHERE;\n"), ptx::PtxError);
  EXPECT_THROW(load("ld.global.frob.u32 %r1, [%rd1];\n"), ptx::PtxError);
}

}  // namespace
}  // namespace cudal1::vgpu
