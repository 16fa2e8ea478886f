// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers that a lane decodes from codes of 4 bits (kernels/grouped_weights.h). For every code, zero point
// and scale they equal the fp32 result, rounded once.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>

#include "cuda/kernels/grouped_weights.h"
#include "numbers/bf16.h"

namespace draftscope::engine::cuda {
namespace {

constexpr std::uint32_t codes_of_4_bits = 16;
constexpr std::uint32_t largest_zero_point = 16;  // It exceeds the range of files.

/// Visits every scale that a packed matrix may have, as fp16.
template <typename Visit>
void for_each_finite_scale(Visit visit) {
  for (std::uint32_t bits = 0; bits < 1U << 16U; ++bits)
    if ((bits & 0x7c00U) != 0x7c00U) visit(bits);
}

/// Packs codes from `first` on in the layout of grouped_layout.h.
std::uint32_t word_of_codes(std::uint32_t first) {
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < part_values; ++i) word |= (first + i) << (i % 2 * 16 + i / 2 * 4);
  return word;
}

/// How many numbers of a part differ from (code − zero) · scale; zeros may have either sign in bf16.
template <typename Element>
int wrong_numbers(const Part& part, std::uint32_t first, std::int32_t zero, float scale) {
  int wrong = 0;
  for (std::int32_t i = 0; i < part_values; ++i) {
    const float exact = static_cast<float>(static_cast<std::int32_t>(first) + i - zero) * scale;
    const std::uint32_t expected = Element::from_float(exact);
    const std::uint32_t found = part.pairs[i / 2] >> (i % 2 * 16) & 0xffffU;
    const bool both_zeros = std::is_same_v<Element, Bf16> && ((expected | found) & 0x7fffU) == 0;
    if (expected != found && !both_zeros) ++wrong;
  }
  return wrong;
}

template <typename Element>
void expect_right_int4() {
  for (std::uint32_t first = 0; first < codes_of_4_bits; first += part_values) {
    const Chunk held{{0, 0, word_of_codes(first), 0}};
    for (std::uint32_t zero = 0; zero <= largest_zero_point; ++zero) {
      int wrong = 0;
      for_each_finite_scale([&](std::uint32_t scale) {
        const Part part =
            Int4Weights<Element>::part(held, 2, CodeScale<Element>::of_run(scale | int4_offset(zero) << 16U));
        wrong += wrong_numbers<Element>(part, first, static_cast<std::int32_t>(zero),
                                        f16_to_float(static_cast<std::uint16_t>(scale)));
      });
      EXPECT_EQ(wrong, 0) << "codes from " << first << ", zero point " << zero;
    }
  }
}

TEST(FourBits, BecomeFp16NumbersThatAreRoundedOnce) {
  expect_right_int4<F16>();
}

TEST(FourBits, BecomeBf16NumbersThatAreRoundedOnce) {
  expect_right_int4<Bf16>();
}

TEST(FourBits, OfQ4_0AreRoundedOnce) {
  for (std::uint32_t first = 0; first < codes_of_4_bits; first += part_values)
    for (int index = 0; index < Q4_0Weights::parts; ++index) {
      Chunk held{};
      held.words[index] = word_of_codes(first);
      int wrong = 0;
      for_each_finite_scale([&](std::uint32_t scale) {
        Q4_0Weights::Scales scales{};
        scales.words[index / 2] = scale << (index % 2 * 16);
        wrong += wrong_numbers<Bf16>(Q4_0Weights::part(held, index, scales), first, 8,
                                     f16_to_float(static_cast<std::uint16_t>(scale)));
      });
      EXPECT_EQ(wrong, 0) << "codes from " << first << ", part " << index;
    }
}

/// Cases are products half-way between two numbers, where the addend decides, subnormal numbers, and zeros.
TEST(EmulatedPairs, AreRoundedOnce) {
  constexpr std::uint32_t sixteenth_more = 0x3f883f88U;  // 1 + 2^-4 in bf16; its square is 1.125 + 2^-8.
  EXPECT_EQ(Bf16::multiply_add_pairs(sixteenth_more, sixteenth_more, 0x00808080U), 0x3f913f90U);
  EXPECT_EQ(Bf16::multiply_pairs(sixteenth_more, sixteenth_more), 0x3f903f90U);
  // (1 + 2^-5) (1 + 2^-6) in fp16, plus or minus 2^-24, for which fp32 has no bit.
  EXPECT_EQ(F16::multiply_add_pairs(0x3c203c20U, 0x3c103c10U, 0x00018001U), 0x3c313c30U);
  EXPECT_EQ(F16::multiply_pairs(0x3c203c20U, 0x3c103c10U), 0x3c303c30U);
  EXPECT_EQ(F16::multiply_pairs(0x00030001U, 0x38003800U), 0x00020000U);
  EXPECT_EQ(Bf16::multiply_pairs(0x00030001U, 0x3f003f00U), 0x00020000U);
  EXPECT_EQ(F16::multiply_pairs(0x80007bffU, 0x3c004000U), 0x80007c00U);
  EXPECT_EQ(Bf16::multiply_pairs(0x80000000U, 0x3f80bf80U), 0x80008000U);
  EXPECT_EQ(F16::multiply_add_pairs(0x3c00bc00U, 0x3c003c00U, 0xbc003c00U), 0U);
}

/// Numbers of similar sizes, so that products and sums are exact in double.
template <typename Element>
void expect_nearest_pairs(std::uint32_t exponent_one, int mantissa_bits) {
  std::mt19937 random(7);
  const auto number = [&] {
    const std::uint32_t exponent = exponent_one + random() % 8;
    return exponent << mantissa_bits | random() % (1U << mantissa_bits) | (random() % 2) << 15U;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t a = number();
    const std::uint32_t b = number();
    const std::uint32_t c = number();
    const auto value = [](std::uint32_t bits) {
      return static_cast<double>(Element::to_float(static_cast<std::uint16_t>(bits)));
    };
    const double exact = value(a) * value(b) + value(c);
    const std::uint32_t found = Element::multiply_add_pairs(a, b, c) & 0xffffU;
    const double error = std::abs(value(found) - exact);
    for (const std::uint32_t other : {found - 1, found + 1}) {
      const double others = std::abs(value(other) - exact);
      ASSERT_TRUE(error < others || (error == others && found % 2 == 0) || (found & 0x7fffU) == 0)
          << std::hex << a << " · " << b << " + " << c << " = " << found;
    }
  }
}

TEST(EmulatedPairs, AreTheNearestOfTheirNeighbours) {
  expect_nearest_pairs<Bf16>(120, 7);
  expect_nearest_pairs<F16>(12, 10);
}

}  // namespace
}  // namespace draftscope::engine::cuda
