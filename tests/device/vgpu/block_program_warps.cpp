// Parts of random block programs that stay inside a warp.
#include <fmt/format.h>

#include <bit>

#include "block_program.hpp"
#include "interesting_numbers.hpp"
#include "scalar_oracle.hpp"

namespace cudal1::vgpu {
namespace {

bool is_plain(Kind kind) { return kind == Kind::bits32 || kind == Kind::real32 || kind == Kind::predicate; }

//! Exact, of 32 bits and predicates, without a carry, and no fault whatever the numbers are.
bool fits(const std::string& name) {
  const ArithmeticOpcode& known = *find_arithmetic(name);
  if (name.find(".approx.") != std::string::npos || known.reads_carry || known.writes_carry) return false;
  const bool divides = name.starts_with("div.") || name.starts_with("rem.");
  if (divides && (name.find(".s") != std::string::npos || name.find(".u") != std::string::npos)) return false;
  for (const Kind kind : known.operands)
    if (!is_plain(kind)) return false;
  return is_plain(known.result);
}

const std::vector<std::string>& plain_opcodes() {
  static const std::vector<std::string> opcodes = [] {
    std::vector<std::string> found = arithmetic_opcodes();
    std::erase_if(found, [](const std::string& name) { return !fits(name); });
    return found;
  }();
  return opcodes;
}

std::uint64_t value_of(const ThreadRegisters& thread, Kind kind, std::size_t name) {
  return kind == Kind::predicate ? thread.predicates[name] : thread.words[name];
}

std::string name_of(Kind kind, std::size_t name) {
  return fmt::format("{}{}", kind == Kind::predicate ? "%p" : "%w", name);
}

//! Lines that only lanes with a predicate go through, as a branch around them or as a guard.
std::string only_where(std::size_t predicate, bool by_branch, std::size_t label, const std::string& line) {
  if (!by_branch) return fmt::format("@%p{} {}", predicate, line);
  return fmt::format("@!%p{} bra S{};\n{}S{}:\n", predicate, label, line, label);
}

}  // namespace

std::vector<std::size_t> BlockProgramMaker::different_words(std::size_t count) {
  std::vector<std::size_t> names;
  const std::size_t first = any(word_registers), step = 2 * any(word_registers / 2) + 1;
  for (std::size_t i = 0; i < count; ++i) names.push_back((first + i * step) % word_registers);
  return names;
}

BlockPart BlockProgramMaker::arithmetic() {
  const std::string opcode = plain_opcodes()[any(plain_opcodes().size())];
  const ArithmeticOpcode& known = *find_arithmetic(opcode);
  const std::size_t result = any(known.result == Kind::predicate ? predicate_registers : word_registers);
  const bool guarded = any(3) == 0;
  const std::size_t guard = any(predicate_registers);
  std::vector<std::size_t> operands;
  std::string text =
      fmt::format("{}{} {}", guarded ? fmt::format("@%p{} ", guard) : "", opcode, name_of(known.result, result));
  for (const Kind kind : known.operands) {
    operands.push_back(any(kind == Kind::predicate ? predicate_registers : word_registers));
    text += fmt::format(", {}", name_of(kind, operands.back()));
  }
  return {text + ";\n", [=, &known](BlockState& state) {
            for (ThreadRegisters& thread : state.threads) {
              if (guarded && thread.predicates[guard] == 0) continue;
              std::vector<std::uint64_t> values;
              for (std::size_t i = 0; i < operands.size(); ++i)
                values.push_back(value_of(thread, known.operands[i], operands[i]));
              const auto bits = static_cast<std::uint32_t>(evaluate_in_one_lane(opcode, values));
              (known.result == Kind::predicate ? thread.predicates[result] : thread.words[result]) = bits;
            }
          }};
}

BlockPart BlockProgramMaker::shuffle() {
  const std::string mode = one_of({"up", "down", "bfly", "idx"});
  const std::size_t result = any(word_registers), value = any(word_registers), flag = any(predicate_registers);
  const bool fixed = any(2) == 0;  // as numbers, or in registers that differ by lane
  const auto count_bits = static_cast<std::uint32_t>(random_.next()),
             clamp_bits = static_cast<std::uint32_t>(random_.next());
  const std::size_t count = any(word_registers), clamp = any(word_registers);
  const std::string b = fixed ? fmt::format("{}", count_bits & 31u) : fmt::format("%w{}", count);
  const std::string c = fixed ? fmt::format("{}", clamp_bits & 0x1f1fu) : fmt::format("%w{}", clamp);
  return {fmt::format("shfl.sync.{}.b32 %w{}|%p{}, %w{}, {}, {}, 0xffffffff;\n", mode, result, flag, value, b, c),
          [=](BlockState& state) {
            for (std::size_t warp = 0; warp < state.warps(); ++warp) {
              WarpWords counts = state.words(warp, count), clamps = state.words(warp, clamp);
              if (fixed) counts.fill(count_bits & 31u), clamps.fill(clamp_bits & 0x1f1fu);
              const ShuffledWords shuffled = shuffle_by_oracle(mode, state.words(warp, value), counts, clamps);
              state.set_words(warp, result, shuffled.values);
              for (std::size_t lane = 0; lane < 32; ++lane)
                state.thread(warp, lane).predicates[flag] = shuffled.in_range[lane];
            }
          }};
}

BlockPart BlockProgramMaker::vote() {
  const std::string mode = one_of({"all", "any", "uni", "ballot"});
  const std::size_t flag = any(predicate_registers);
  const bool negated = any(2) == 0, counts = mode == "ballot";
  const std::size_t result = any(counts ? word_registers : predicate_registers);
  return {fmt::format("vote.sync.{}.{} {}{}, {}%p{}, 0xffffffff;\n", mode, counts ? "b32" : "pred",
                      counts ? "%w" : "%p", result, negated ? "!" : "", flag),
          [=](BlockState& state) {
            for (std::size_t warp = 0; warp < state.warps(); ++warp) {
              const std::uint32_t lanes = negated ? ~state.ballot(warp, flag) : state.ballot(warp, flag);
              const bool all = lanes == 0xffffffffu, none = lanes == 0;
              const bool holds = mode == "all" ? all : mode == "any" ? !none : all || none;
              for (std::size_t lane = 0; lane < 32; ++lane) {
                ThreadRegisters& thread = state.thread(warp, lane);
                (counts ? thread.words[result] : thread.predicates[result]) = counts ? lanes : holds;
              }
            }
          }};
}

//! A ballot of those lanes that go through a branch, or of a guarded vote.
BlockPart BlockProgramMaker::vote_of_some() {
  const std::size_t taken = any(predicate_registers), flag = any(predicate_registers), result = any(word_registers);
  const bool by_branch = any(2) == 0;
  const std::string line = fmt::format("vote.sync.ballot.b32 %w{}, %p{}, %m;\n", result, flag);
  return {fmt::format("vote.sync.ballot.b32 %m, %p{}, 0xffffffff;\n", taken) +
              only_where(taken, by_branch, any(std::uint64_t{1} << 40), line),
          [=](BlockState& state) {
            for (std::size_t warp = 0; warp < state.warps(); ++warp) {
              const std::uint32_t members = state.ballot(warp, taken), lanes = members & state.ballot(warp, flag);
              for (std::size_t lane = 0; lane < 32; ++lane)
                if ((members >> lane & 1u) != 0) state.thread(warp, lane).words[result] = lanes;
            }
          }};
}

//! Of numbers with few bits, so that some are the same.
BlockPart BlockProgramMaker::match() {
  const bool wide = any(2) == 0, all = any(2) == 0;
  const auto kept = static_cast<std::uint32_t>(random_.next() & random_.next() & random_.next());
  const std::size_t value = any(word_registers), result = any(word_registers), flag = any(predicate_registers);
  std::string text = fmt::format("and.b32 %t0, %w{}, {};\n", value, kept);
  if (wide) text += "mul.wide.u32 %a, %t0, 0x80000001;\n";
  text += fmt::format("match.{}.sync.b{} %w{}{}, {}, 0xffffffff;\n", all ? "all" : "any", wide ? 64 : 32, result,
                      all ? fmt::format("|%p{}", flag) : "", wide ? "%a" : "%t0");
  return {text, [=](BlockState& state) {
            for (std::size_t warp = 0; warp < state.warps(); ++warp) {
              std::array<std::uint64_t, 32> values{};
              for (std::size_t lane = 0; lane < 32; ++lane) values[lane] = state.words(warp, value)[lane] & kept;
              for (std::size_t lane = 0; lane < 32; ++lane) {
                const std::uint32_t equal = matching_lanes(values, 0xffffffffu, static_cast<int>(lane));
                ThreadRegisters& thread = state.thread(warp, lane);
                thread.words[result] = !all || equal == 0xffffffffu ? equal : 0u;
                if (all) thread.predicates[flag] = equal == 0xffffffffu;
              }
            }
          }};
}

BlockPart BlockProgramMaker::reduction() {
  const bool bitwise = any(2) == 0;
  const std::string operation = bitwise ? one_of({"and", "or", "xor"}) : one_of({"add", "min", "max"});
  const std::string type = bitwise ? "b32" : one_of({"u32", "s32"});
  const std::size_t value = any(word_registers), result = any(word_registers);
  return {fmt::format("redux.sync.{}.{} %w{}, %w{}, 0xffffffff;\n", operation, type, result, value),
          [=](BlockState& state) {
            for (std::size_t warp = 0; warp < state.warps(); ++warp) {
              WarpWords all{};
              all.fill(reduce_by_oracle(operation, type, state.words(warp, value), 0xffffffffu));
              state.set_words(warp, result, all);
            }
          }};
}

BlockPart BlockProgramMaker::reduction_of_some() {
  const std::string operation = one_of({"add", "min", "max"}), type = one_of({"u32", "s32"});
  const std::size_t taken = any(predicate_registers), value = any(word_registers), result = any(word_registers);
  const std::string line = fmt::format("redux.sync.{}.{} %w{}, %w{}, %m;\n", operation, type, result, value);
  return {fmt::format("vote.sync.ballot.b32 %m, %p{}, 0xffffffff;\n", taken) +
              only_where(taken, any(2) == 0, any(std::uint64_t{1} << 40), line),
          [=](BlockState& state) {
            for (std::size_t warp = 0; warp < state.warps(); ++warp) {
              const std::uint32_t members = state.ballot(warp, taken);
              const std::uint32_t reduced = reduce_by_oracle(operation, type, state.words(warp, value), members);
              for (std::size_t lane = 0; lane < 32; ++lane)
                if ((members >> lane & 1u) != 0) state.thread(warp, lane).words[result] = reduced;
            }
          }};
}

BlockPart BlockProgramMaker::matrix_product() {
  static const std::vector<MatrixShape> shapes{
      {16, 8, 16, "f16", "f16"}, {16, 8, 8, "f16", "f16"}, {16, 8, 16, "bf16", "bf16"}, {16, 8, 8, "bf16", "bf16"},
      {16, 8, 32, "s8", "s8"},   {16, 8, 16, "u8", "s8"},  {8, 8, 16, "s8", "u8"},      {16, 8, 32, "u8", "u8"}};
  const MatrixShape shape = shapes[any(shapes.size())];
  const std::string sum = shape.a == "f16" || shape.a == "bf16" ? "f32" : "s32";
  const auto a = different_words(shape.registers_of_a()), b = different_words(shape.registers_of_b());
  const auto c = different_words(shape.registers_of_c()), d = different_words(shape.registers_of_c());
  const auto list = [](const std::vector<std::size_t>& names) {
    std::string text;
    for (const std::size_t name : names) text += fmt::format("{}%w{}", text.empty() ? "{" : ", ", name);
    return text + "}";
  };
  return {fmt::format("mma.sync.aligned.m{}n{}k{}.row.col.{}.{}.{}.{} {}, {}, {}, {};\n", shape.m, shape.n, shape.k,
                      sum, shape.a, shape.b, sum, list(d), list(a), list(b), list(c)),
          [=](BlockState& state) {
            for (std::size_t warp = 0; warp < state.warps(); ++warp) {
              const auto registers = [&](const std::vector<std::size_t>& names) {
                std::vector<WarpWords> values;
                for (const std::size_t name : names) values.push_back(state.words(warp, name));
                return values;
              };
              const auto result = multiply_by_oracle(shape, registers(a), registers(b), registers(c));
              for (std::size_t i = 0; i < d.size(); ++i) state.set_words(warp, d[i], result[i]);
            }
          }};
}

BlockPart BlockProgramMaker::transposition() {
  const std::size_t value = any(word_registers), result = any(word_registers);
  return {fmt::format("movmatrix.sync.aligned.m8n8.trans.b16 %w{}, %w{};\n", result, value), [=](BlockState& state) {
            for (std::size_t warp = 0; warp < state.warps(); ++warp)
              state.set_words(warp, result,
                              SmallMatrix::of_registers(state.words(warp, value)).transposed().as_registers());
          }};
}

}  // namespace cudal1::vgpu
