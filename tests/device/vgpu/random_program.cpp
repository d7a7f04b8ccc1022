#include "random_program.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/random.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"
#include "interesting_numbers.hpp"
#include "scalar_oracle.hpp"

namespace cudal1::vgpu {
namespace {

// Registers come in four sizes; fp32 and 32-bit integers share theirs, so that each sees the other's bits.
enum Pool { predicates, halves, words, doubles, pool_count };
constexpr std::uint64_t registers_in_pool = 4;
constexpr std::array<const char*, pool_count> pool_names{"%p", "%h", "%w", "%d"};
constexpr std::array<Kind, pool_count> pool_kinds{Kind::predicate, Kind::bits16, Kind::bits32, Kind::bits64};
constexpr int checked_lanes = 3;
constexpr std::uint64_t in_address = 0x10000, out_address = 0x200000;

Pool pool_of(Kind kind) {
  switch (bits_of(kind)) {
    case 1:
      return predicates;
    case 16:
      return halves;
    case 32:
      return words;
    default:
      return doubles;
  }
}

struct RegisterName {
  Pool pool = words;
  std::size_t index = 0;
  std::string text() const { return fmt::format("{}{}", pool_names[pool], index); }
};

struct Source {
  RegisterName name;
  bool is_number = false;
  std::uint64_t bits = 0;
  Kind kind = Kind::bits32;
  std::string text() const {
    if (!is_number) return name.text();
    if (kind == Kind::real32) return fmt::format("0f{:08X}", bits);
    if (kind == Kind::real64) return fmt::format("0d{:016X}", bits);
    return fmt::format("{}", bits);
  }
};

struct Line {
  std::string opcode;
  bool guarded = false, guard_negated = false;
  RegisterName guard, result, second;
  bool has_second = false;
  std::vector<Source> operands;
  std::size_t target = 0;  //!< of bra: a line
};

//! A lane's registers.
struct LaneState {
  std::array<std::array<std::uint64_t, registers_in_pool>, pool_count> registers{};
  bool carry = false;
  std::uint64_t& at(const RegisterName& name) { return registers[name.pool][name.index]; }
};

// --- making one
//! Division of integers, which ends the kernel where a divisor is zero: arithmetic_test.cpp has it.
bool may_end_the_kernel(const std::string& name) {
  const bool divides = name.starts_with("div.") || name.starts_with("rem.");
  return divides && (name.find(".s") != std::string::npos || name.find(".u") != std::string::npos);
}

//! Approximations have no one right result; all others do.
const std::vector<std::string>& exact_opcodes() {
  static const std::vector<std::string> opcodes = [] {
    std::vector<std::string> found = arithmetic_opcodes();
    std::erase_if(found, [](const std::string& name) {
      return name.find(".approx.") != std::string::npos || may_end_the_kernel(name);
    });
    return found;
  }();
  return opcodes;
}

class Maker {
 public:
  explicit Maker(const Choose& choose) : choose_(choose), random_(choose(std::uint64_t{1} << 32)) {}

  std::vector<Line> program() {
    const std::uint64_t count = 4 + choose_(8);
    const bool loops = choose_(4) == 0;
    if (loops) lines_.push_back(move_number({words, 3}, choose_(2)));
    const std::size_t begin = lines_.size();
    for (std::uint64_t i = 0; i < count; ++i) add_instruction(loops);
    for (Line& line : lines_)  // none jumps over the end, where the loop counts
      if (line.opcode == "bra") line.target = std::min(line.target, lines_.size());
    if (loops) add_loop_end(begin);
    return std::move(lines_);
  }

 private:
  RegisterName any_register(Pool pool, bool keep_counter = false) {
    return {pool, choose_(keep_counter && pool == words ? registers_in_pool - 1 : registers_in_pool)};
  }

  Source source(Kind kind) {
    Source made;
    made.kind = kind;
    made.name = any_register(pool_of(kind));
    made.is_number = kind != Kind::predicate && choose_(8) == 0;
    made.bits = interesting_bits(random_, kind);
    return made;
  }

  void add_instruction(bool keep_counter) {
    const std::string& opcode = exact_opcodes()[choose_(exact_opcodes().size())];
    const ArithmeticOpcode& known = *find_arithmetic(opcode);
    Line line;
    line.opcode = opcode;
    line.result = any_register(pool_of(known.result), keep_counter);
    line.has_second = opcode.starts_with("setp") && choose_(2) == 0;
    line.second = {predicates, (line.result.index + 1) % registers_in_pool};
    for (const Kind kind : known.operands) line.operands.push_back(source(kind));
    guard(line);
    lines_.push_back(line);
    if (known.result == Kind::real64) add_one_nan(line);
    if (choose_(8) == 0) add_branch();
  }

  void guard(Line& line) {
    line.guarded = choose_(4) == 0;
    line.guard_negated = choose_(2) == 0;
    line.guard = any_register(predicates);
  }

  //! Which NaN an fp64 operation gives is not defined: all become one.
  void add_one_nan(const Line& made) {
    const Source result{made.result, false, 0, Kind::real64};
    lines_.push_back({"setp.nan.f64", false, false, {}, {predicates, 3}, {}, false, {result, result}, 0});
    const Source nan{{}, true, 0x7ff8000000000000u, Kind::real64};
    const Source chosen{{predicates, 3}, false, 0, Kind::predicate};
    lines_.push_back({"selp.f64", false, false, {}, made.result, {}, false, {nan, result, chosen}, 0});
  }

  void add_branch() {
    Line line;
    line.opcode = "bra";
    line.guarded = true;
    line.guard_negated = choose_(2) == 0;
    line.guard = any_register(predicates);
    line.target = lines_.size() + 2 + choose_(3);
    lines_.push_back(line);
  }

  Line move_number(RegisterName to, std::uint64_t bits) {
    return {"mov.u32", false, false, {}, to, {}, false, {{{}, true, bits, Kind::bits32}}, 0};
  }

  //! %w3 counts, and is nobody's result inside.
  void add_loop_end(std::size_t begin) {
    const Source counter{{words, 3}, false, 0, Kind::bits32};
    lines_.push_back({"add.u32", false, false, {}, {words, 3}, {}, false, {counter, {{}, true, 1, Kind::bits32}}, 0});
    const Source limit{{}, true, 2 + choose_(2), Kind::bits32};
    lines_.push_back({"setp.lt.u32", false, false, {}, {predicates, 2}, {}, false, {counter, limit}, 0});
    Line back;
    back.opcode = "bra";
    back.guarded = true;
    back.guard = {predicates, 2};
    back.target = begin;
    lines_.push_back(back);
  }

  const Choose& choose_;
  Random random_;
  std::vector<Line> lines_;
};

// --- as text
std::string text_of(const Line& line) {
  std::string text = line.guarded ? fmt::format("@{}{} ", line.guard_negated ? "!" : "", line.guard.text()) : "";
  text += line.opcode + " ";
  if (line.opcode == "bra") return text + fmt::format("L{};\n", line.target);
  text += line.result.text();
  if (line.has_second) text += fmt::format("|{}", line.second.text());
  for (const Source& operand : line.operands) text += fmt::format(", {}", operand.text());
  return text + ";\n";
}

//! Each lane has a record of 128 bytes: registers of 64 bits, of 32, of 16, and a word of predicates.
constexpr std::size_t record_bytes = 128;
constexpr std::array<std::size_t, pool_count> record_offsets{56, 48, 32, 0};

std::string access_text(bool loading) {
  std::string text;
  for (std::uint64_t i = 0; i < registers_in_pool; ++i) {
    const auto access = [&](Pool pool, const char* type, std::size_t size) {
      const std::size_t offset = record_offsets[pool] + size * i;
      text += loading ? fmt::format("ld.global.{} {}{}, [%in+{}];\n", type, pool_names[pool], i, offset)
                      : fmt::format("st.global.{} [%out+{}], {}{};\n", type, offset, pool_names[pool], i);
    };
    access(doubles, "b64", 8);
    access(words, "b32", 4);
    access(halves, "b16", 2);
    const std::size_t offset = record_offsets[predicates] + 4 * i;
    text += loading ? fmt::format("ld.global.u32 %t, [%in+{}];\nsetp.ne.u32 %p{}, %t, 0;\n", offset, i)
                    : fmt::format("selp.u32 %t, 1, 0, %p{};\nst.global.u32 [%out+{}], %t;\n", i, offset);
  }
  return text;
}

std::string text_of(const std::vector<Line>& lines) {
  static const std::string head =
      ".version 7.5\n.target sm_86\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y)\n{\n"
      ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %w<4>;\n.reg .b64 %d<4>;\n.reg .b32 %t;\n.reg .b64 %in, %out;\n"
      "ld.param.u64 %in, [x];\nld.param.u64 %out, [y];\nmov.u32 %t, %tid.x;\nmad.wide.u32 %in, %t, 128, %in;\n"
      "mad.wide.u32 %out, %t, 128, %out;\n" +
      access_text(true);
  static const std::string tail = access_text(false) + "ret;\n}\n";
  std::string text = head;
  for (std::size_t i = 0; i < lines.size(); ++i) text += fmt::format("L{}:\n", i) + text_of(lines[i]);
  return text + fmt::format("L{}:\n", lines.size()) + tail;
}

// --- by the machine
using Records = std::vector<std::byte>;

Records run_by_machine(const std::string& text, Records in) {
  const ptx::Module module = ptx::parse(text);
  const Kernel kernel = decode(module, module.functions[0], {});
  Records out(in.size());
  GlobalMemory memory;
  memory.add({in_address, in.size(), in.data(), "x", false});
  memory.add({out_address, out.size(), out.data(), "y", true});
  std::array<std::uint64_t, 2> addresses{in_address, out_address};
  Launch launch{&kernel, {1, 1, 1}, {warp_size, 1, 1}, 0, std::as_bytes(std::span(addresses))};
  launch.threads = 1;
  launch.counting = false;
  launch.most_instructions = 10'000;
  run_grid(launch, memory);
  return out;
}

// --- by the oracle
LaneState state_of(const Records& records, int lane) {
  LaneState state;
  const std::byte* record = records.data() + static_cast<std::size_t>(lane) * record_bytes;
  for (std::size_t i = 0; i < registers_in_pool; ++i) {
    std::memcpy(&state.registers[doubles][i], record + record_offsets[doubles] + 8 * i, 8);
    std::memcpy(&state.registers[words][i], record + record_offsets[words] + 4 * i, 4);
    std::memcpy(&state.registers[halves][i], record + record_offsets[halves] + 2 * i, 2);
    std::memcpy(&state.registers[predicates][i], record + record_offsets[predicates] + 4 * i, 4);
  }
  return state;
}

void evaluate(const Line& line, LaneState& state) {
  std::vector<std::uint64_t> operands;
  for (const Source& operand : line.operands)
    operands.push_back(operand.is_number ? operand.bits : state.at(operand.name));
  const std::uint64_t result = evaluate_in_one_lane(line.opcode, operands, &state.carry);
  if (line.has_second) state.at(line.second) = second_predicate_in_one_lane(line.opcode, operands);
  state.at(line.result) = result;
}

void run_by_oracle(const std::vector<Line>& lines, LaneState& state) {
  for (std::size_t at = 0; at < lines.size();) {
    const Line& line = lines[at++];
    if (line.guarded && (state.at(line.guard) != 0) == line.guard_negated) continue;
    if (line.opcode == "bra")
      at = line.target;
    else
      evaluate(line, state);
  }
}

Records input(Random& random) {
  Records records(warp_size * record_bytes);
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    for (std::size_t i = 0; i < registers_in_pool; ++i) {
      std::byte* record = records.data() + lane * record_bytes;
      const auto put = [&](Pool pool, std::size_t size) {
        const std::uint64_t bits = interesting_bits(random, pool_kinds[pool]);
        std::memcpy(record + record_offsets[pool] + size * i, &bits, size);
      };
      put(doubles, 8);
      put(words, 4);
      put(halves, 2);
      put(predicates, 4);
    }
  return records;
}

}  // namespace

std::string try_random_program(const Choose& choose) {
  const std::vector<Line> lines = Maker(choose).program();
  Random random(choose(std::uint64_t{1} << 32));
  const Records in = input(random);
  const std::string text = text_of(lines);
  const Records out = run_by_machine(text, in);
  for (int i = 0; i < checked_lanes; ++i) {
    const auto lane = static_cast<int>(choose(warp_size));
    LaneState wanted = state_of(in, lane);
    run_by_oracle(lines, wanted);
    const LaneState found = state_of(out, lane);
    for (std::size_t pool = 0; pool < pool_count; ++pool)
      for (std::size_t j = 0; j < registers_in_pool; ++j)
        if (wanted.registers[pool][j] != found.registers[pool][j])
          return fmt::format("{}lane {}: {}{} is {:#x}, not {:#x}", text, lane, pool_names[pool], j,
                             found.registers[pool][j], wanted.registers[pool][j]);
  }
  return "";
}

}  // namespace cudal1::vgpu
