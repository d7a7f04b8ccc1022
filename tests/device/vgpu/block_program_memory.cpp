// Parts of random block programs that go through memory. Each thread has a place of 16 bytes of its own, in an order
// that changes; what any thread may touch is only read, or changed by operations whose order does not matter.
#include <fmt/format.h>

#include "block_program.hpp"
#include "scalar_oracle.hpp"

namespace cudal1::vgpu {
namespace {

constexpr const char* barrier = "bar.sync 0;\n";

//! %a is the place of thread `tid ^ order`.
std::string own_place(std::size_t order, const char* base) {
  return fmt::format("xor.b32 %t0, %tid, {};\nmad.wide.u32 %a, %t0, 16, {};\n", order, base);
}
//! %a is the place that a register names.
std::string named_place(std::size_t name, std::size_t threads, const char* base) {
  return fmt::format("and.b32 %t0, %w{}, {};\nmad.wide.u32 %a, %t0, 16, {};\n", name, threads - 1, base);
}

//! How a load or a store moves bytes.
struct Move {
  const char* type;
  std::size_t size;      //!< bytes of an element
  std::size_t elements;  //!< 1, 2 or 4
  bool has_sign;
};
constexpr Move moves[] = {{"u8", 1, 1, false},     {"s8", 1, 1, true},     {"u16", 2, 1, false},
                          {"s16", 2, 1, true},     {"b32", 4, 1, false},   {"v2.b32", 4, 2, false},
                          {"v4.b32", 4, 4, false}, {"v2.u16", 2, 2, false}};

std::string list_of(const std::vector<std::size_t>& names) {
  if (names.size() == 1) return fmt::format("%w{}", names[0]);
  std::string text;
  for (const std::size_t name : names) text += fmt::format("{}%w{}", text.empty() ? "{" : ", ", name);
  return text + "}";
}

std::uint32_t extended(std::uint64_t bits, const Move& move) {
  if (!move.has_sign) return static_cast<std::uint32_t>(bits);
  return static_cast<std::uint32_t>(move.size == 1 ? static_cast<std::int8_t>(bits) : static_cast<std::int16_t>(bits));
}

//! What an atomic operation leaves; all of these give the same in any order as long as all threads do the same one.
std::uint64_t changed(const std::string& operation, bool has_sign, std::size_t size, std::uint64_t old,
                      std::uint64_t value) {
  const std::uint64_t all = size == 8 ? ~std::uint64_t{0} : 0xffffffffu;
  const auto as_signed = [&](std::uint64_t bits) {
    return size == 8 ? static_cast<std::int64_t>(bits) : static_cast<std::int64_t>(static_cast<std::int32_t>(bits));
  };
  const bool less = has_sign ? as_signed(value) < as_signed(old) : value < old;
  if (operation == "add") return (old + value) & all;
  if (operation == "min") return less ? value : old;
  if (operation == "max") return less || value == old ? old : value;
  if (operation == "and") return old & value;
  if (operation == "or") return old | value;
  if (operation == "xor") return old ^ value;
  if (operation == "inc") return old >= value ? 0 : old + 1;
  if (operation == "dec") return old == 0 || old > value ? value : old - 1;
  return value;  // exch
}

}  // namespace

BlockPart BlockProgramMaker::own_store() {
  const Move move = moves[any(std::size(moves))];
  const std::size_t order = any(threads_), bytes = move.size * move.elements;
  const std::size_t offset = bytes * any(bytes_of_place / bytes);
  const auto names = different_words(move.elements);
  return {own_place(order, "%tile") +
              fmt::format("st.shared.{} [%a+{}], {};\n{}", move.type, offset, list_of(names), barrier),
          [=](BlockState& state) {
            for (std::size_t t = 0; t < state.threads.size(); ++t)
              for (std::size_t i = 0; i < names.size(); ++i)
                state.shared.write((t ^ order) * bytes_of_place + offset + i * move.size, move.size,
                                   state.threads[t].words[names[i]]);
          }};
}

BlockPart BlockProgramMaker::load_of_any() {
  const Move move = moves[any(std::size(moves))];
  const std::size_t bytes = move.size * move.elements, offset = bytes * any(bytes_of_place / bytes);
  const std::size_t place = any(word_registers), threads = threads_;
  const auto names = different_words(move.elements);
  return {named_place(place, threads_, "%tile") +
              fmt::format("ld.shared.{} {}, [%a+{}];\n{}", move.type, list_of(names), offset, barrier),
          [=](BlockState& state) {
            for (ThreadRegisters& thread : state.threads) {
              const std::size_t at = (thread.words[place] & (threads - 1)) * bytes_of_place + offset;
              for (std::size_t i = 0; i < names.size(); ++i)
                thread.words[names[i]] = extended(state.shared.read(at + i * move.size, move.size), move);
            }
          }};
}

//! Row r of matrix m lies where lane 8 m + r says.
BlockPart BlockProgramMaker::matrix_load() {
  const std::size_t matrices = std::size_t{1} << any(3), place = any(word_registers), threads = threads_;
  const bool transposed = any(2) == 0;
  const auto names = different_words(matrices);
  const std::string list = matrices == 1 ? fmt::format("{{{}}}", list_of(names)) : list_of(names);
  return {
      named_place(place, threads_, "%tile") + fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [%a];\n{}",
                                                          matrices, transposed ? ".trans" : "", list, barrier),
      [=](BlockState& state) {
        for (std::size_t warp = 0; warp < state.warps(); ++warp) {
          const WarpWords places = state.words(warp, place);
          for (std::size_t m = 0; m < matrices; ++m) {
            SmallMatrix matrix;
            for (std::size_t row = 0; row < 8; ++row)
              for (std::size_t column = 0; column < 8; ++column)
                matrix.rows[row][column] = static_cast<std::uint16_t>(
                    state.shared.read((places[8 * m + row] & (threads - 1)) * bytes_of_place + 2 * column, 2));
            state.set_words(warp, names[m], (transposed ? matrix.transposed() : matrix).as_registers());
          }
        }
      }};
}

//! Many threads change one place.
BlockPart BlockProgramMaker::atomics_of_all() {
  const bool shared = any(2) == 0, wide = any(3) == 0;
  const std::string operation = one_of({"add", "min", "max", "and", "or", "xor", "inc", "dec"});
  const bool counts = operation == "inc" || operation == "dec",
             bitwise = operation == "and" || operation == "or" || operation == "xor";
  const std::size_t size = wide && !counts ? 8 : 4, offset = size * any(bytes_of_place / size);
  const bool has_sign = !counts && !bitwise && operation != "add" && any(2) == 0;
  const std::string type = fmt::format("{}{}", bitwise ? "b" : has_sign ? "s" : "u", 8 * size);
  const std::size_t place = any(word_registers), value = any(size == 8 ? wide_registers : word_registers);
  const std::size_t threads = threads_, bound = 1 + any(1000);
  const std::string given = counts ? fmt::format("{}", bound) : fmt::format("{}{}", size == 8 ? "%d" : "%w", value);
  return {named_place(place, threads_, shared ? "%tile" : "%atoms") +
              fmt::format("red.{}.{}.{} [%a+{}], {};\n{}", shared ? "shared" : "global", operation, type, offset, given,
                          barrier),
          [=](BlockState& state) {
            for (ThreadRegisters& thread : state.threads) {
              Bytes& memory = shared ? state.shared : state.global;
              const std::size_t at = (thread.words[place] & (threads - 1)) * bytes_of_place + offset;
              const std::uint64_t by = counts ? bound : size == 8 ? thread.wide[value] : thread.words[value];
              memory.write(at, size, changed(operation, has_sign, size, memory.read(at, size), by));
            }
          }};
}

//! One thread changes a place, so that what was there before is known.
BlockPart BlockProgramMaker::atomic_on_own() {
  const bool shared = any(2) == 0, swaps = any(4) == 0;
  const std::string operation = swaps ? "cas" : one_of({"add", "min", "max", "exch"});
  const std::string type = operation == "cas" || operation == "exch" ? "b32" : one_of({"u32", "s32"});
  const std::size_t order = any(threads_), offset = 4 * any(bytes_of_place / 4);
  const std::size_t result = any(word_registers), expected = any(word_registers), value = any(word_registers);
  return {own_place(order, shared ? "%tile" : "%atoms") +
              fmt::format("atom.{}.{}.{} %w{}, [%a+{}], {}%w{};\n{}", shared ? "shared" : "global", operation,
                          operation == "add" ? "u32" : type, result, offset,
                          swaps ? fmt::format("%w{}, ", expected) : "", value, barrier),
          [=](BlockState& state) {
            for (std::size_t t = 0; t < state.threads.size(); ++t) {
              ThreadRegisters& thread = state.threads[t];
              Bytes& memory = shared ? state.shared : state.global;
              const std::size_t at = (t ^ order) * bytes_of_place + offset;
              const std::uint64_t old = memory.read(at, 4), by = thread.words[value];
              const bool keeps = swaps && old != thread.words[expected];
              if (!keeps) memory.write(at, 4, changed(operation, type == "s32", 4, old, by));
              thread.words[result] = static_cast<std::uint32_t>(old);
            }
          }};
}

//! From the atomics' memory to shared memory, with zeros behind what is copied.
BlockPart BlockProgramMaker::asynchronous_copy() {
  const std::size_t size = std::size_t{4} << any(3), order = any(threads_), place = any(word_registers);
  const std::size_t copied = any(2) == 0 ? size : any(size + 1), offset = size * any(bytes_of_place / size);
  const std::size_t threads = threads_;
  const std::string wait = any(2) == 0 ? "cp.async.wait_all;\n" : "cp.async.commit_group;\ncp.async.wait_group 0;\n";
  return {own_place(order, "%tile") + "mov.u64 %b, %a;\n" + named_place(place, threads_, "%atoms") +
              fmt::format("cp.async.{}.shared.global [%b+{}], [%a+{}], {}, {};\n{}{}", size == 16 ? "cg" : "ca", offset,
                          offset, size, copied, wait, barrier),
          [=](BlockState& state) {
            for (std::size_t t = 0; t < state.threads.size(); ++t) {
              const std::size_t from = (state.threads[t].words[place] & (threads - 1)) * bytes_of_place + offset;
              for (std::size_t i = 0; i < size; ++i)
                state.shared.write((t ^ order) * bytes_of_place + offset + i, 1,
                                   i < copied ? state.global.read(from + i, 1) : 0);
            }
          }};
}

BlockPart BlockProgramMaker::barrier_vote() {
  const std::string mode = one_of({"popc", "and", "or"});
  const std::size_t number = any(16), flag = any(predicate_registers);
  const bool counts = mode == "popc", negated = any(2) == 0;
  const std::size_t result = any(counts ? word_registers : predicate_registers);
  return {fmt::format("bar.red.{}.{} {}{}, {}, {}%p{};\n", mode, counts ? "u32" : "pred", counts ? "%w" : "%p", result,
                      number, negated ? "!" : "", flag),
          [=](BlockState& state) {
            std::uint32_t count = 0;
            for (const ThreadRegisters& thread : state.threads) count += (thread.predicates[flag] != 0) != negated;
            const bool holds = mode == "and" ? count == state.threads.size() : count > 0;
            for (ThreadRegisters& thread : state.threads)
              (counts ? thread.words[result] : thread.predicates[result]) = counts ? count : holds;
          }};
}

BlockPart BlockProgramMaker::part() {
  using Make = BlockPart (BlockProgramMaker::*)();
  static constexpr Make makers[] = {&BlockProgramMaker::arithmetic,     &BlockProgramMaker::arithmetic,
                                    &BlockProgramMaker::arithmetic,     &BlockProgramMaker::shuffle,
                                    &BlockProgramMaker::shuffle,        &BlockProgramMaker::vote,
                                    &BlockProgramMaker::vote_of_some,   &BlockProgramMaker::match,
                                    &BlockProgramMaker::reduction,      &BlockProgramMaker::reduction_of_some,
                                    &BlockProgramMaker::matrix_product, &BlockProgramMaker::transposition,
                                    &BlockProgramMaker::own_store,      &BlockProgramMaker::own_store,
                                    &BlockProgramMaker::load_of_any,    &BlockProgramMaker::load_of_any,
                                    &BlockProgramMaker::matrix_load,    &BlockProgramMaker::atomics_of_all,
                                    &BlockProgramMaker::atomic_on_own,  &BlockProgramMaker::asynchronous_copy,
                                    &BlockProgramMaker::barrier_vote};
  return (this->*makers[any(std::size(makers))])();
}

std::vector<BlockPart> BlockProgramMaker::program() {
  std::vector<BlockPart> parts;
  for (std::uint64_t left = 4 + any(8); left > 0; --left) parts.push_back(part());
  return parts;
}

}  // namespace cudal1::vgpu
