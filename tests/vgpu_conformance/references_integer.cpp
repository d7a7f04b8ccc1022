#include <algorithm>
#include <bit>
#include <numeric>

#include "references.hpp"

namespace cudal1::conformance {
namespace {

using Words = std::span<std::uint32_t>;
using Integers = std::span<std::int32_t>;

std::uint32_t reversed(std::uint32_t bits) {
  std::uint32_t result = 0;
  for (int i = 0; i < 32; ++i) result |= (bits >> i & 1u) << (31 - i);
  return result;
}

void shared_stride(const Task& task) {
  const Words x = task.buffer<std::uint32_t>("x"), y = task.buffer<std::uint32_t>("y");
  const auto stride = static_cast<std::size_t>(task.value("STRIDE"));
  const auto rounds = static_cast<std::size_t>(task.value("rounds"));
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = static_cast<std::uint32_t>(i / 256);
    for (std::size_t round = 0; round < rounds; ++round) y[i] = y[i] * 3u + x[(i % 256 * stride + round) % 2048];
  }
}

void pointer_chase(const Task& task) {
  const Integers next = task.buffer<std::int32_t>("next"), y = task.buffer<std::int32_t>("y");
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto start = static_cast<std::uint32_t>(i) * 2654435761u % static_cast<std::uint32_t>(next.size());
    y[i] = static_cast<std::int32_t>(start);
    for (std::int64_t step = 0; step < task.value("steps"); ++step) y[i] = next[static_cast<std::size_t>(y[i])];
  }
}

std::uint64_t advance(std::uint64_t state, std::int64_t method) {
  auto low = static_cast<std::uint32_t>(state);
  switch (method) {
    case 0:
      low ^= low << 13;
      low ^= low >> 17;
      return low ^ low << 5;
    case 1:
      state ^= state << 13;
      state ^= state >> 7;
      return state ^ state << 17;
    case 2:
      return low * 1664525u + 1013904223u;
    case 3:
      return state * 6364136223846793005u + 1442695040888963407u;
    case 4:
      return low % 65521u * 16807u + 12345u % (low | 1u);
    default:
      return (state | std::uint64_t{1} << 40) % 2147483647u * 48271u + 1000000007u % (state | 1u);
  }
}

void random_numbers(const Task& task) {
  const Words seeds = task.buffer<std::uint32_t>("seeds"), y = task.buffer<std::uint32_t>("y");
  for (std::size_t i = 0; i < y.size(); ++i) {
    std::uint64_t state = seeds[i] | 1u;
    for (std::int64_t step = 0; step < task.value("STEPS"); ++step) state = advance(state, task.value("METHOD"));
    y[i] = static_cast<std::uint32_t>(state ^ state >> 32);
  }
}

//! The constant table holds squares; METHOD 3 asks for the same entry in all threads.
void lookup_table(const Task& task) {
  const Words table = task.buffer<std::uint32_t>("table"), y = task.buffer<std::uint32_t>("y");
  const std::int64_t method = task.value("METHOD");
  for (std::uint32_t i = 0; i < y.size(); ++i) {
    y[i] = i;
    for (std::uint32_t round = 0; round < task.value("rounds"); ++round) {
      const std::uint32_t at = (method == 3 ? round * 7 : i * 5 + round * 7) % 64;
      y[i] = y[i] * 31u + (method == 2 || method == 3 ? at * at : table[at]);
    }
  }
}

int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

void recursion(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x"), y = task.buffer<std::int32_t>("y");
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = fibonacci(static_cast<int>(i % 10)) + std::gcd(x[i], 5040);
}

std::uint32_t switched(std::uint32_t v) {
  switch (v % 8) {
    case 0:
      return v * 3 + 1;
    case 1:
      return (v ^ v >> 3) + 1000;
    case 2:
      return reversed(v);
    case 3:
      return std::rotl(v - 77, 7);
    case 4:
      return std::rotl(v, 7);
    case 5:
      return v * 125 + 5 + 2;
    case 6:
      return static_cast<std::uint32_t>(std::popcount(v)) * 12345u;
    default:
      return ~v;
  }
}

void switch_table(const Task& task) {
  const Words x = task.buffer<std::uint32_t>("x"), y = task.buffer<std::uint32_t>("y");
  const auto four_times = [](std::uint32_t v) { return switched(switched(switched(switched(v)))); };
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = four_times(x[i]) + four_times(x[i ^ 1]);
}

void division_64(const Task& task) {
  const auto a = task.buffer<std::int64_t>("a"), b = task.buffer<std::int64_t>("b"), y = task.buffer<std::int64_t>("y");
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t divisor = b[i] >> (i % 40) | 1;
    y[i] = a[i] / divisor;
    y[i + n] = a[i] % divisor;
    y[i + 2 * n] = static_cast<std::int64_t>(static_cast<std::uint64_t>(a[i]) / static_cast<std::uint64_t>(divisor));
    y[i + 3 * n] = static_cast<std::int32_t>(a[i]) / (static_cast<std::int32_t>(b[i] >> 40) | 1);
    y[i + 4 * n] = static_cast<std::uint32_t>(a[i]) % (static_cast<std::uint32_t>(b[i] >> 50) | 1u);
    y[i + 5 * n] = a[i] / 1000000007 + static_cast<std::uint32_t>(a[i]) / 10u;
  }
}

//! Position of the lowest bit, from 1; 0 where none is set.
std::uint32_t first_set(std::uint64_t bits) {
  return bits == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(bits)) + 1;
}

void bit_tricks(const Task& task) {
  const Words a = task.buffer<std::uint32_t>("a"), b = task.buffer<std::uint32_t>("b");
  const Words y = task.buffer<std::uint32_t>("y");
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t p = a[i] >> (i % 32), q = b[i];
    const std::uint64_t wide = static_cast<std::uint64_t>(p) << 32 | q;
    const auto signed_p = static_cast<std::int32_t>(p), signed_q = static_cast<std::int32_t>(q);
    const std::int64_t apart = std::int64_t{signed_p} - signed_q;
    y[i] = static_cast<std::uint32_t>(std::popcount(p) + std::popcount(wide) * 100);
    y[i + n] = static_cast<std::uint32_t>(std::countl_zero(p) + std::countl_zero(wide) * 100);
    y[i + 2 * n] = first_set(p) + first_set(wide) * 100;
    y[i + 3 * n] = reversed(q);
    // The upper word of q:p shifted to the left.
    y[i + 4 * n] = static_cast<std::uint32_t>(((static_cast<std::uint64_t>(q) << 32 | p) << (i % 32)) >> 32);
    // Bytes 2, 5, 1 and 6 of q:p, the lowest first.
    y[i + 5 * n] = (p >> 16 & 255u) | (q >> 8 & 255u) << 8 | (p >> 8 & 255u) << 16 | (q >> 16 & 255u) << 24;
    y[i + 6 * n] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(p) * q >> 32);
    y[i + 7 * n] = static_cast<std::uint32_t>((std::int64_t{signed_p} * signed_q) >> 32);
    y[i + 8 * n] = static_cast<std::uint32_t>(apart < 0 ? -apart : apart) + 5u;
    const std::int64_t middle = (std::int64_t{signed_p} + signed_q + 1) >> 1;
    y[i + 9 * n] = static_cast<std::uint32_t>(middle) ^ (p & (0u - p));
  }
}

void crc32(const Task& task) {
  const auto bytes = task.buffer<std::uint8_t>("bytes");
  const Words slow = task.buffer<std::uint32_t>("slow"), quick = task.buffer<std::uint32_t>("quick");
  for (std::size_t i = 0; i < slow.size(); ++i) {
    std::uint32_t sum = ~0u;
    for (const std::uint8_t byte : bytes.subspan(i * 64, 64)) {
      sum ^= byte;
      for (int bit = 0; bit < 8; ++bit) sum = sum & 1u ? sum >> 1 ^ 0xedb88320u : sum >> 1;
    }
    slow[i] = quick[i] = ~sum;
  }
}

void move_discs(int count, int from, int to, int& moves, int& mixed) {
  if (count == 0) return;
  const int other = 3 - from - to;
  move_discs(count - 1, from, other, moves, mixed);
  ++moves;
  mixed = static_cast<int>(static_cast<unsigned>(mixed) * 31u + static_cast<unsigned>(count * 3 + to));
  move_discs(count - 1, other, to, moves, mixed);
}

void local_stack(const Task& task) {
  const Integers y = task.buffer<std::int32_t>("y");
  for (std::size_t i = 0; i < y.size(); ++i) {
    int moves = 0, mixed = 0;
    move_discs(static_cast<int>(3 + i % 4), 0, 2, moves, mixed);
    y[i] = moves * 100000 + (mixed & 0xffff);
  }
}

void collatz(const Task& task) {
  const Integers x = task.buffer<std::int32_t>("x"), y = task.buffer<std::int32_t>("y");
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::int32_t steps = 0;
    for (std::int64_t v = x[i] + 1; v != 1; ++steps) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    y[i] = steps * 1000 + x[i / 128 * 128];
  }
}

}  // namespace

const References& integer_references() {
  static const References table{{"shared_stride", shared_stride},
                                {"pointer_chase", pointer_chase},
                                {"random_numbers", random_numbers},
                                {"lookup_table", lookup_table},
                                {"recursion", recursion},
                                {"switch_table", switch_table},
                                {"division_64", division_64},
                                {"bit_tricks", bit_tricks},
                                {"crc32", crc32},
                                {"local_stack", local_stack},
                                {"collatz", collatz}};
  return table;
}

}  // namespace cudal1::conformance
