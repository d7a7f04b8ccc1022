#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "device/vgpu/machine/decode_arithmetic.hpp"
#include "device/vgpu/ptx/parser.hpp"
#include "interesting_numbers.hpp"
#include "scalar_oracle.hpp"

namespace cudal1::vgpu {
namespace {

std::string type_name(Kind kind) {
  switch (kind) {
    case Kind::predicate:
      return "pred";
    case Kind::bits16:
      return "b16";
    case Kind::bits32:
      return "b32";
    case Kind::real32:
      return "f32";
    case Kind::real64:
      return "f64";
    default:
      return "b64";
  }
}

//! One instruction in a function of its own, with a register for every operand.
class OneInstruction {
 public:
  explicit OneInstruction(const std::string& opcode) : opcode_(opcode), entry_(*find_arithmetic(opcode)) {
    std::string declarations = fmt::format(".reg .{} %result;\n", type_name(entry_.result)), operands = "%result";
    if (entry_.second_result) {
      declarations += ".reg .pred %second;\n";
      operands += "|%second";
    }
    for (std::size_t i = 0; i < entry_.operands.size(); ++i) {
      declarations += fmt::format(".reg .{} %in{};\n", type_name(entry_.operands[i]), i);
      operands += fmt::format(", %in{}", i);
    }
    const ptx::Module module = ptx::parse(".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n" +
                                          declarations + opcode + " " + operands + ";\n}\n");
    map_ = std::make_unique<RegisterMap>(module.functions[0]);
    operation_ = decode_arithmetic(module.functions[0].instructions[0], *map_);
  }

  //! Compares all lanes of one execution with the oracle; lanes outside the mask must keep what they had.
  //! Empty, or where they differ.
  std::string try_once(Random& random) {
    Registers registers(map_->bytes());
    std::vector<std::vector<std::uint64_t>> given(warp_size);
    std::vector<std::uint64_t> before(warp_size);
    for (int lane = 0; lane < warp_size; ++lane) {
      for (std::size_t i = 0; i < entry_.operands.size(); ++i) {
        given[lane].push_back(interesting_bits(random, entry_.operands[i]));
        write(registers, operation_.operands[i], entry_.operands[i], lane, given[lane].back());
      }
      before[lane] = interesting_bits(random, entry_.result);
      write(registers, operation_.result, entry_.result, lane, before[lane]);
    }
    const auto carry_before = static_cast<Mask>(random.next());
    if (map_->carry() != 0) registers.predicate(map_->carry()) = carry_before;
    const Mask mask = random.below(2) == 0 ? full_mask : static_cast<Mask>(random.next());
    (random.below(2) == 0 ? entry_.run : entry_.plain)(registers, operation_, mask);
    for (int lane = 0; lane < warp_size; ++lane) {
      const bool active = (mask >> lane & 1) != 0;
      bool carry = (carry_before >> lane & 1) != 0;
      const std::uint64_t wanted = active ? evaluate_in_one_lane(opcode_, given[lane], &carry) : before[lane];
      const std::uint64_t found = read(registers, operation_.result, entry_.result, lane);
      if (found != wanted && !(active && may_differ(found, wanted)))
        return fmt::format("{} lane {}: {:#x}, not {:#x} of {:#x}", opcode_, lane, found, wanted,
                           fmt::join(given[lane], ", "));
      if ((registers.predicate(map_->carry()) >> lane & 1) != (carry ? 1u : 0u)) return opcode_ + ": the carry";
      if (entry_.second_result && active &&
          (registers.predicate(operation_.second_result) >> lane & 1) !=
              second_predicate_in_one_lane(opcode_, given[lane]))
        return opcode_ + ": the second result";
    }
    return "";
  }

 private:
  //! Which NaN an f64 operation gives is not defined, and approximations are not bit-exact.
  bool may_differ(std::uint64_t a, std::uint64_t b) const {
    const auto is_nan = [](std::uint64_t bits) { return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000; };
    if (entry_.result == Kind::real64) return is_nan(a) && is_nan(b);
    return opcode_.find(".approx.") != std::string::npos && (a > b ? a - b : b - a) <= 1;
  }

  static void write(Registers& registers, Slot slot, Kind kind, int lane, std::uint64_t bits) {
    if (kind == Kind::predicate) {
      Mask& mask = registers.predicate(slot);
      mask = (mask & ~(Mask{1} << lane)) | static_cast<Mask>(bits) << lane;
    } else if (kind == Kind::bits64 || kind == Kind::real64) {
      registers.words<std::uint64_t>(slot)[lane] = bits;
    } else {
      registers.words<std::uint32_t>(slot)[lane] = static_cast<std::uint32_t>(bits);
    }
  }
  static std::uint64_t read(Registers& registers, Slot slot, Kind kind, int lane) {
    if (kind == Kind::predicate) return registers.predicate(slot) >> lane & 1;
    if (kind == Kind::bits64 || kind == Kind::real64) return registers.words<std::uint64_t>(slot)[lane];
    return registers.words<std::uint32_t>(slot)[lane];
  }

  std::string opcode_;
  const ArithmeticOpcode& entry_;
  std::unique_ptr<RegisterMap> map_;
  Operation operation_;
};

TEST(Arithmetic, EveryInstructionAgreesWithTheScalarOracle) {
  Random random(2026);
  const std::vector<std::string> opcodes = arithmetic_opcodes();
  EXPECT_GT(opcodes.size(), 1500u);
  for (const std::string& opcode : opcodes) {
    OneInstruction instruction(opcode);
    std::string problem;
    for (int i = 0; i < 30 && problem.empty(); ++i) problem = instruction.try_once(random);
    EXPECT_EQ(problem, "");
  }
}

ptx::Function function_with(const std::string& body) {
  return ptx::parse(".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n" + body + "}\n").functions.at(0);
}

TEST(DecodeArithmetic, ConstantsAreRegistersThatAreThereBefore) {
  const ptx::Function function = function_with(
      ".reg .b32 %r<4>;\n.reg .f32 %f<2>;\n.reg .pred %p<3>;\n"
      "add.s32 %r1, %r2, -5;\nmul.rn.f32 %f1, %f0, 2.5;\nsetp.lt.s32 %p1|%p2, %r1, 7;\n");
  RegisterMap map(function);
  std::vector<Operation> operations;
  for (const ptx::Instruction& instruction : function.instructions)
    operations.push_back(decode_arithmetic(instruction, map));
  Registers registers(map.bytes());
  map.fill_constants(registers);
  for (int lane = 0; lane < warp_size; ++lane) {
    registers.words<std::uint32_t>(map.find("%r2")->slot)[lane] = static_cast<std::uint32_t>(lane);
    registers.words<float>(map.find("%f0")->slot)[lane] = 4.0f;
  }
  for (const Operation& operation : operations) operation.run(registers, operation, full_mask);
  EXPECT_EQ(registers.words<std::int32_t>(map.find("%r1")->slot)[3], -2);
  EXPECT_EQ(registers.words<float>(map.find("%f1")->slot)[31], 10.0f);
  EXPECT_EQ(registers.predicate(map.find("%p1")->slot), (Mask{1} << 12) - 1);
  EXPECT_EQ(registers.predicate(map.find("%p2")->slot), ~((Mask{1} << 12) - 1));
}

std::string problem_with(const std::string& instruction) try {
  const ptx::Function function =
      function_with(".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<2>;\n" + instruction + ";\n");
  RegisterMap map(function);
  decode_arithmetic(function.instructions.at(0), map);
  return "";
} catch (const ptx::PtxError& error) {
  return error.what();
}

TEST(DecodeArithmetic, RefusesByNameAndLine) {
  EXPECT_EQ(problem_with("frobnicate.s32 %r1, %r2"), "PTX line 9: the instruction 'frobnicate.s32' is not known");
  EXPECT_EQ(problem_with("add.s32 %r1, %r2"), "PTX line 9: 'add.s32' takes 3 operands, not 2");
  EXPECT_EQ(problem_with("add.s32 %r1, %r2, %rd1"),
            "PTX line 9: the register '%rd1' has 64 bits where 'add.s32' needs 32");
  EXPECT_EQ(problem_with("add.s32 %r1, %r2, %r9"), "PTX line 9: the register '%r9' is not known");
  EXPECT_EQ(problem_with("add.s32 5, %r2, %r1"), "PTX line 9: a register is expected");
  EXPECT_EQ(problem_with("add.s32 %r1, %r2, 0f3F800000"), "");  // bits are bits
  EXPECT_EQ(problem_with("add.f32 %f1, %f0, 1"), "PTX line 9: an integer where a floating-point number is expected");
}

}  // namespace
}  // namespace cudal1::vgpu
