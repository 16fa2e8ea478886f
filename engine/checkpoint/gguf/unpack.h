// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The packed blocks of GGUF tensors and their widening to fp32: a pure function a format, each product and
// sum rounded to fp32 in the order that its formula shows. Layouts and formulas are those of ggml, as the
// Python package gguf computes them, to which the tests hold these functions. Bytes are little-endian, at any
// alignment. "Nibbles" of bytes b₀ … b₁₅: weight i < 16 is the low half of bᵢ, weight 16 + i its high half.

#include <cstddef>
#include <cstdint>

namespace draftscope::engine::gguf {

/// 2 bytes d (fp16), 32 signed bytes q: w = d · q.
struct Q8_0 {
  static constexpr std::uint32_t weights = 32;
  static constexpr std::uint32_t bytes = 34;
};
/// 2 bytes d, 16 bytes of nibbles q: w = d · (q − 8).
struct Q4_0 {
  static constexpr std::uint32_t weights = 32;
  static constexpr std::uint32_t bytes = 18;
};
/// 2 bytes d, 2 bytes m (fp16), 16 bytes of nibbles q: w = d · q + m.
struct Q4_1 {
  static constexpr std::uint32_t weights = 32;
  static constexpr std::uint32_t bytes = 20;
};
/// 2 bytes d, 4 bytes of fifth bits (bit i: of weight i), 16 bytes of nibbles: w = d · (q − 16).
struct Q5_0 {
  static constexpr std::uint32_t weights = 32;
  static constexpr std::uint32_t bytes = 22;
};
/// 2 bytes d, 2 bytes m, 4 bytes of fifth bits, 16 bytes of nibbles: w = d · q + m.
struct Q5_1 {
  static constexpr std::uint32_t weights = 32;
  static constexpr std::uint32_t bytes = 24;
};
/// 8 sub-blocks of 32. 2 bytes d, 2 bytes e (fp16), 12 bytes of 8 scales s and 8 minima m of 6 bits, 128
/// bytes: each 32 hold the low halves of sub-block 2j and, as their high halves, 2j + 1: w = (d · s) · q − (e
/// · m). Scales: bytes 0–3 have s₀–s₃ in their low 6 bits, bytes 4–7 m₀–m₃; bytes 8–11 have the low 4 bits of
/// s₄–s₇ in their low and of m₄–m₇ in their high halves, whose upper 2 bits are the upper ones of bytes 0–3
/// and 4–7.
struct Q4_K {
  static constexpr std::uint32_t weights = 256;
  static constexpr std::uint32_t bytes = 144;
};
/// As Q4_K, with 32 bytes of fifth bits before the 128: bit j of byte i is of weight i of sub-block j.
struct Q5_K {
  static constexpr std::uint32_t weights = 256;
  static constexpr std::uint32_t bytes = 176;
};
/// 128 bytes of low 4 bits, 64 bytes of upper 2 bits, 16 signed scales s (of 16 weights each), 2 bytes d.
/// Each half of 128 weights has 64 and 32 of these bytes; weight 32k + i has low bits in byte (i + 32 (k mod
/// 2)), its half k / 2, and upper bits in byte i at 2k: w = (d · s) · (q − 32).
struct Q6_K {
  static constexpr std::uint32_t weights = 256;
  static constexpr std::uint32_t bytes = 210;
};
/// 2 bytes d, 16 bytes of nibbles: w = d · table[q], 16 values from −127 to 113.
struct IQ4_NL {
  static constexpr std::uint32_t weights = 32;
  static constexpr std::uint32_t bytes = 18;
};
/// 8 sub-blocks of 32. 2 bytes d, 2 bytes of upper scale bits (2 each), 4 bytes of lower ones (4 each), 128
/// bytes: 16 of nibbles for each sub-block: w = (d · (s − 32)) · table[q], with IQ4_NL's table.
struct IQ4_XS {
  static constexpr std::uint32_t weights = 256;
  static constexpr std::uint32_t bytes = 136;
};
/// 1 byte e, 16 bytes of nibbles, each an FP4 (E2M1): w = 2^(e − 127) · fp4.
struct MXFP4 {
  static constexpr std::uint32_t weights = 32;
  static constexpr std::uint32_t bytes = 17;
};

void unpack_f32(const std::byte* numbers, std::size_t count, float* out);
void unpack_f16(const std::byte* numbers, std::size_t count, float* out);
void unpack_bf16(const std::byte* numbers, std::size_t count, float* out);

// One block each.
void unpack_q8_0(const std::byte* block, float* out);
void unpack_q4_0(const std::byte* block, float* out);
void unpack_q4_1(const std::byte* block, float* out);
void unpack_q5_0(const std::byte* block, float* out);
void unpack_q5_1(const std::byte* block, float* out);
void unpack_q4_k(const std::byte* block, float* out);
void unpack_q5_k(const std::byte* block, float* out);
void unpack_q6_k(const std::byte* block, float* out);
void unpack_iq4_nl(const std::byte* block, float* out);
void unpack_iq4_xs(const std::byte* block, float* out);
void unpack_mxfp4(const std::byte* block, float* out);

}  // namespace draftscope::engine::gguf
