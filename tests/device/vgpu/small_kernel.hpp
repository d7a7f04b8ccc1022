// Kernels k(x, y, n) on two buffers of words, written by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {

class SmallKernel : public ::testing::Test {
 protected:
  static constexpr std::uint64_t x_address = 0x10000, y_address = 0x200000;

  //! With %r1: index of the thread in the grid; %r3: of the block; %r5: in the block; %r2: n; %rd3, %rd4: x and y;
  //! %rd1, %rd2: their words at %r1.
  void load(const std::string& body, const std::string& outside = "") {
    module_ = ptx::parse(
        ".version 7.0\n.target sm_80\n.address_size 64\n" + outside +
        ".entry k(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<32>;\n"
        ".reg .f32 %f<32>;\n.reg .b64 %rd<16>;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
        "mad.lo.s32 %r1, %r3, %r4, %r5;\nld.param.u32 %r2, [n];\nld.param.u64 %rd3, [x];\nld.param.u64 %rd4, [y];\n"
        "mul.wide.u32 %rd5, %r1, 4;\nadd.s64 %rd1, %rd3, %rd5;\nadd.s64 %rd2, %rd4, %rd5;\n" +
        body + "ret;\n}\n");
    kernel_ = decode(module_, *module_.find("k"), {});
    launch_.kernel = &kernel_;
    launch_.most_instructions = 1'000'000;
  }

  KernelCounters run(std::uint32_t blocks, std::uint32_t threads, std::uint32_t n = 0) {
    std::vector<std::byte> parameters(kernel_.parameter_bytes);
    std::memcpy(parameters.data(), &x_address, 8);
    std::memcpy(parameters.data() + 8, &y_address, 8);
    std::memcpy(parameters.data() + 16, &n, 4);
    launch_.grid = {blocks, 1, 1};
    launch_.block = {threads, 1, 1};
    launch_.parameters = parameters;
    GlobalMemory memory;
    memory.add({x_address, 4 * x_.size(), reinterpret_cast<std::byte*>(x_.data()), "x", false});
    memory.add({y_address, 4 * y_.size(), reinterpret_cast<std::byte*>(y_.data()), "y", true});
    return run_grid(launch_, memory);
  }

  //! What the kernel was ended for; its kind and message.
  std::string fault_of(std::uint32_t blocks, std::uint32_t threads) try {
    run(blocks, threads);
    return "no fault";
  } catch (const KernelFault& fault) {
    return fault.what();
  }

  ptx::Module module_;
  Kernel kernel_;
  Launch launch_;
  std::vector<std::uint32_t> x_ = std::vector<std::uint32_t>(4096), y_ = std::vector<std::uint32_t>(4096);
};

}  // namespace cudal1::vgpu
