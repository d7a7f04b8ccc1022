#include "random_block_program.hpp"

#include <fmt/format.h>

#include <span>

#include "block_program.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"
#include "interesting_numbers.hpp"

namespace cudal1::vgpu {
namespace {

// A thread's record: 8 words, 2 wide ones, 4 predicates as words.
constexpr std::size_t record_bytes = 64, wide_offset = 32, predicate_offset = 48;
constexpr std::uint64_t in_address = 0x10000, out_address = 0x200000, atoms_address = 0x400000;

std::string access_text(bool loading) {
  std::string text;
  const auto access = [&](const char* type, const char* pool, std::size_t name, std::size_t offset) {
    text += loading ? fmt::format("ld.global.{} {}{}, [%in+{}];\n", type, pool, name, offset)
                    : fmt::format("st.global.{} [%out+{}], {}{};\n", type, offset, pool, name);
  };
  for (std::size_t i = 0; i < word_registers; ++i) access("b32", "%w", i, 4 * i);
  for (std::size_t i = 0; i < wide_registers; ++i) access("b64", "%d", i, wide_offset + 8 * i);
  for (std::size_t i = 0; i < predicate_registers; ++i) {
    if (!loading) text += fmt::format("selp.u32 %t0, 1, 0, %p{};\n", i);
    access("b32", "%t", 0, predicate_offset + 4 * i);
    if (loading) text += fmt::format("setp.ne.u32 %p{}, %t0, 0;\n", i);
  }
  return text;
}

//! Behind the records comes what is in shared memory at the end.
std::string text_of(const std::vector<BlockPart>& parts, std::size_t threads) {
  std::string text = fmt::format(
      ".version 7.5\n.target sm_86\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y, .param .u64 z)\n{{\n"
      ".shared .align 16 .b8 tile[{}];\n.reg .pred %p<4>;\n.reg .b32 %w<8>, %t<4>, %tid, %m;\n.reg .b64 %d<2>;\n"
      ".reg .b64 %in, %out, %atoms, %tile, %a, %b;\nld.param.u64 %in, [x];\nld.param.u64 %out, [y];\n"
      "ld.param.u64 %atoms, [z];\nmov.u64 %tile, tile;\nmov.u32 %tid, %tid.x;\nmad.wide.u32 %b, %tid, 16, %out;\n"
      "mad.wide.u32 %in, %tid, {}, %in;\nmad.wide.u32 %out, %tid, {}, %out;\n"
      "mad.wide.u32 %a, %tid, 16, %tile;\nmov.u32 %t0, 0;\nst.shared.v4.b32 [%a], {{%t0, %t0, %t0, %t0}};\n",
      threads * bytes_of_place, record_bytes, record_bytes);
  text += access_text(true) + "bar.sync 0;\n";
  for (const BlockPart& part : parts) text += part.text;
  text += access_text(false);
  text += fmt::format(
      "bar.sync 0;\nmad.wide.u32 %a, %tid, 16, %tile;\nld.shared.v4.b32 {{%w0, %w1, %w2, %w3}}, [%a];\n"
      "ld.param.u64 %out, [y];\nmad.wide.u32 %b, %tid, 16, %out;\nst.global.v4.b32 [%b+{}], {{%w0, %w1, %w2, %w3}};\n"
      "ret;\n}}\n",
      threads * record_bytes);
  return text;
}

BlockState initial_state(std::size_t threads, Random& random) {
  BlockState state;
  state.threads.resize(threads);
  for (ThreadRegisters& thread : state.threads) {
    for (std::uint32_t& word : thread.words) word = static_cast<std::uint32_t>(interesting_bits(random, Kind::bits32));
    for (std::uint64_t& wide : thread.wide) wide = interesting_bits(random, Kind::bits64);
    for (std::uint32_t& predicate : thread.predicates) predicate = static_cast<std::uint32_t>(random.below(2));
  }
  state.shared.bytes.resize(threads * bytes_of_place);
  state.global.bytes.resize(threads * bytes_of_place);
  for (std::uint8_t& byte : state.global.bytes) byte = static_cast<std::uint8_t>(random.next());
  return state;
}

std::vector<std::uint8_t> records_of(const BlockState& state) {
  std::vector<std::uint8_t> records(state.threads.size() * record_bytes);
  for (std::size_t t = 0; t < state.threads.size(); ++t) {
    std::uint8_t* record = records.data() + t * record_bytes;
    std::memcpy(record, state.threads[t].words.data(), 4 * word_registers);
    std::memcpy(record + wide_offset, state.threads[t].wide.data(), 8 * wide_registers);
    std::memcpy(record + predicate_offset, state.threads[t].predicates.data(), 4 * predicate_registers);
  }
  return records;
}

//! What the machine leaves of a state: registers, shared and global memory behind each other.
std::vector<std::uint8_t> run_by_machine(const std::string& text, const BlockState& before) {
  const ptx::Module module = ptx::parse(text);
  const Kernel kernel = decode(module, module.functions[0], {});
  std::vector<std::uint8_t> in = records_of(before), atoms = before.global.bytes;
  std::vector<std::uint8_t> out(in.size() + before.shared.bytes.size());
  GlobalMemory memory;
  memory.add({in_address, in.size(), reinterpret_cast<std::byte*>(in.data()), "x", false});
  memory.add({out_address, out.size(), reinterpret_cast<std::byte*>(out.data()), "y", true});
  memory.add({atoms_address, atoms.size(), reinterpret_cast<std::byte*>(atoms.data()), "z", true});
  const std::array<std::uint64_t, 3> addresses{in_address, out_address, atoms_address};
  Launch launch{&kernel,
                {1, 1, 1},
                {static_cast<std::uint32_t>(before.threads.size()), 1, 1},
                0,
                std::as_bytes(std::span(addresses))};
  launch.threads = 1;
  launch.most_instructions = 100'000;
  run_grid(launch, memory);
  out.insert(out.end(), atoms.begin(), atoms.end());
  return out;
}

std::vector<std::uint8_t> run_by_oracle(const std::vector<BlockPart>& parts, BlockState state) {
  for (const BlockPart& part : parts) part.meaning(state);
  std::vector<std::uint8_t> left = records_of(state);
  left.insert(left.end(), state.shared.bytes.begin(), state.shared.bytes.end());
  left.insert(left.end(), state.global.bytes.begin(), state.global.bytes.end());
  return left;
}

std::string place_of(std::size_t word, std::size_t threads) {
  const std::size_t records = threads * record_bytes, at = 4 * word;
  if (at >= records) {
    const bool shared = at < records + threads * bytes_of_place;
    return fmt::format("byte {} of {} memory", at - records - (shared ? 0 : threads * bytes_of_place),
                       shared ? "shared" : "global");
  }
  const std::size_t offset = at % record_bytes;
  const std::string name = offset < wide_offset        ? fmt::format("%w{}", offset / 4)
                           : offset < predicate_offset ? fmt::format("%d{}", (offset - wide_offset) / 8)
                                                       : fmt::format("%p{}", (offset - predicate_offset) / 4);
  return fmt::format("{} of thread {}", name, at / record_bytes);
}

}  // namespace

std::string try_random_block_program(const Choose& choose) {
  const std::size_t threads = std::size_t{32} << choose(3);
  const std::vector<BlockPart> parts = BlockProgramMaker(choose, threads).program();
  Random random(choose(std::uint64_t{1} << 32));
  const BlockState before = initial_state(threads, random);
  const std::string text = text_of(parts, threads);
  const std::vector<std::uint8_t> found = run_by_machine(text, before), wanted = run_by_oracle(parts, before);
  for (std::size_t word = 0; word < wanted.size() / 4; ++word) {
    std::uint32_t is = 0, should_be = 0;
    std::memcpy(&is, found.data() + 4 * word, 4);
    std::memcpy(&should_be, wanted.data() + 4 * word, 4);
    if (is != should_be) return fmt::format("{}{} is {:#x}, not {:#x}", text, place_of(word, threads), is, should_be);
  }
  return "";
}

}  // namespace cudal1::vgpu
