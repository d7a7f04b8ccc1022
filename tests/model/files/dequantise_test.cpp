// Values worked from the formats' definition; python_parity/ compares random blocks with the gguf package.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "base/result.hpp"
#include "model/files/half_floats.hpp"
#include "model/model_weights.hpp"

namespace cudal1 {
namespace {

constexpr std::uint16_t half_one = 0x3c00, half_two = 0x4000, half_quarter = 0x3400, half_minus_three = 0xc200;

//! Bytes of a block, written down one part after the other.
class BlockBytes {
 public:
  BlockBytes& half(std::uint16_t bits) { return byte(bits & 255).byte(bits >> 8); }
  BlockBytes& byte(int value) {
    bytes_.push_back(static_cast<std::byte>(value));
    return *this;
  }
  BlockBytes& bytes(std::size_t count, const std::function<int(int)>& value) {
    for (std::size_t i = 0; i < count; ++i) byte(value(static_cast<int>(i)));
    return *this;
  }

  std::vector<float> decoded(WeightType type) const {
    EXPECT_EQ(bytes_.size(), bytes_per_block(type));
    std::vector<float> values(elements_per_block(type));
    dequantise({type, {static_cast<std::int64_t>(values.size())}, bytes_}, values);
    return values;
  }

 private:
  std::vector<std::byte> bytes_;
};

TEST(HalfFloats, AreExactForEveryBitPattern) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10) & 31, fraction = static_cast<int>(bits) & 1023;
    const double sign = bits & 0x8000 ? -1.0 : 1.0;
    const float value = float_of_f16(static_cast<std::uint16_t>(bits));
    if (exponent == 31 && fraction != 0)
      EXPECT_TRUE(std::isnan(value));
    else if (exponent == 31)
      EXPECT_EQ(value, sign * std::numeric_limits<double>::infinity());
    else if (exponent == 0)
      EXPECT_EQ(value, sign * std::ldexp(fraction, -24));
    else
      EXPECT_EQ(value, sign * std::ldexp(1024 + fraction, exponent - 25));
    EXPECT_EQ(std::signbit(value), (bits & 0x8000) != 0);
  }
  EXPECT_EQ(float_of_bf16(0x3f80), 1.0f);
  EXPECT_EQ(float_of_bf16(0xc049), -3.140625f);
}

TEST(Dequantise, SixteenBitTensorsElementByElement) {
  const std::uint16_t halves[] = {half_one, half_minus_three, half_quarter};
  std::vector<float> values(3);
  dequantise({WeightType::f16, {3}, std::as_bytes(std::span(halves))}, values);
  EXPECT_EQ(values, (std::vector<float>{1.0f, -3.0f, 0.25f}));
  const std::uint16_t brains[] = {0x3f80, 0x4000, 0xbf80};
  dequantise({WeightType::bf16, {3}, std::as_bytes(std::span(brains))}, values);
  EXPECT_EQ(values, (std::vector<float>{1.0f, 2.0f, -1.0f}));
}

TEST(Dequantise, Q8_0IsASignedByteTimesAScale) {
  const auto values = BlockBytes().half(half_quarter).bytes(32, [](int i) { return i - 16; }).decoded(WeightType::q8_0);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], 0.25f * static_cast<float>(i - 16));
}

TEST(Dequantise, Q4_0HasItsSecondHalfInTheHighNibblesAndEightInTheMiddle) {
  const auto values =
      BlockBytes().half(half_two).bytes(16, [](int i) { return i | ((15 - i) << 4); }).decoded(WeightType::q4_0);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(i)], 2.0f * static_cast<float>(i - 8));
    EXPECT_EQ(values[static_cast<std::size_t>(i + 16)], 2.0f * static_cast<float>(7 - i));
  }
}

TEST(Dequantise, Q4_1AddsAMinimum) {
  const auto values = BlockBytes()
                          .half(half_quarter)
                          .half(half_minus_three)
                          .bytes(16, [](int i) { return i | ((15 - i) << 4); })
                          .decoded(WeightType::q4_1);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(i)], 0.25f * static_cast<float>(i) - 3.0f);
    EXPECT_EQ(values[static_cast<std::size_t>(i + 16)], 0.25f * static_cast<float>(15 - i) - 3.0f);
  }
}

TEST(Dequantise, Q5_0TakesItsFifthBitsFromAWordOfTheirOwn) {
  // Fifth bits of elements 0, 8, 16 and 24: the lowest bit of each byte.
  const auto values = BlockBytes()
                          .half(half_one)
                          .bytes(4, [](int) { return 1; })
                          .bytes(16, [](int i) { return i; })
                          .decoded(WeightType::q5_0);
  for (int i = 0; i < 32; ++i) {
    const int nibble = i < 16 ? i : 0;
    EXPECT_EQ(values[static_cast<std::size_t>(i)], static_cast<float>(nibble + (i % 8 == 0 ? 16 : 0) - 16)) << i;
  }
}

TEST(Dequantise, Q5_1AddsAMinimumToFiveBits) {
  const auto values = BlockBytes()
                          .half(half_two)
                          .half(half_quarter)
                          .bytes(4, [](int i) { return i == 3 ? 0x80 : 0; })  // the fifth bit of element 31
                          .bytes(16, [](int) { return 0xf1; })
                          .decoded(WeightType::q5_1);
  EXPECT_EQ(values[0], 2.25f);
  EXPECT_EQ(values[16], 30.25f);
  EXPECT_EQ(values[31], 62.25f);
}

//! Scales 3, 10, … 52 and minima 40, 41, … 47 of the eight sub-blocks, packed into twelve bytes of six bits each.
void add_k_scales(BlockBytes& block) {
  const auto scale = [](int r) { return 7 * r + 3; };
  const auto minimum = [](int r) { return r + 40; };
  block.bytes(4, [&](int i) { return scale(i) | ((scale(i + 4) >> 4) << 6); });
  block.bytes(4, [&](int i) { return minimum(i) | ((minimum(i + 4) >> 4) << 6); });
  block.bytes(4, [&](int i) { return (scale(i + 4) & 15) | ((minimum(i + 4) & 15) << 4); });
}

TEST(Dequantise, Q4_KScalesSubBlocksOf32) {
  BlockBytes block;
  block.half(half_two).half(half_quarter);
  add_k_scales(block);
  block.bytes(128, [](int i) { return (i % 16) | ((15 - i % 16) << 4); });
  const auto values = block.decoded(WeightType::q4_k);
  for (int i = 0; i < 256; ++i) {
    const int r = i / 32, quantum = r % 2 == 0 ? i % 16 : 15 - i % 16;
    EXPECT_EQ(values[static_cast<std::size_t>(i)],
              2.0f * static_cast<float>((7 * r + 3) * quantum) - 0.25f * static_cast<float>(r + 40))
        << i;
  }
}

TEST(Dequantise, Q5_KTakesBitRForSubBlockR) {
  BlockBytes block;
  block.half(half_two).half(half_quarter);
  add_k_scales(block);
  block.bytes(32, [](int i) { return 1 << (i % 8); }).bytes(128, [](int i) { return (i % 16) | ((15 - i % 16) << 4); });
  const auto values = block.decoded(WeightType::q5_k);
  for (int i = 0; i < 256; ++i) {
    const int r = i / 32, nibble = r % 2 == 0 ? i % 16 : 15 - i % 16, quantum = nibble + (i % 8 == r ? 16 : 0);
    EXPECT_EQ(values[static_cast<std::size_t>(i)],
              2.0f * static_cast<float>((7 * r + 3) * quantum) - 0.25f * static_cast<float>(r + 40))
        << i;
  }
}

TEST(Dequantise, Q6_KHasSixteenSignedScalesAndThirtyTwoInTheMiddle) {
  BlockBytes block;
  block.bytes(128, [](int i) { return (i % 16) | ((15 - i % 16) << 4); });
  block.bytes(64, [](int) { return 0b11'10'01'00; });  // the quarters of a half have upper bits 0, 1, 2 and 3
  block.bytes(16, [](int i) { return i - 8; });
  block.half(half_quarter);
  const auto values = block.decoded(WeightType::q6_k);
  for (int i = 0; i < 256; ++i) {
    const int quarter = i / 32 % 4, nibble = quarter < 2 ? i % 16 : 15 - i % 16;
    EXPECT_EQ(values[static_cast<std::size_t>(i)],
              0.25f * static_cast<float>((i / 16 - 8) * (nibble + 16 * quarter - 32)))
        << i;
  }
}

TEST(Dequantise, RefusesSizesThatDoNotFit) {
  const std::vector<std::byte> bytes(34);
  std::vector<float> values(32);
  EXPECT_NO_THROW(dequantise({WeightType::q8_0, {32}, bytes}, values));
  EXPECT_THROW(dequantise({WeightType::q8_0, {16}, bytes}, std::span(values).first(16)), Error);
  EXPECT_THROW(dequantise({WeightType::q8_0, {32}, bytes}, std::span(values).first(31)), Error);
  EXPECT_THROW(dequantise({WeightType::q8_0, {32}, std::span(bytes).first(33)}, values), Error);
}

}  // namespace
}  // namespace cudal1
