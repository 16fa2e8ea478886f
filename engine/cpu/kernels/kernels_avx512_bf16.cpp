// SPDX-License-Identifier: GPL-3.0-or-later
// AVX-512 with VDPBF16PS for products of bf16 weights: 32 values of k an instruction and no widening. All
// else is the AVX-512 set's.

#include "cpu/kernels/vector_avx512.h"
#include "cpu/kernels/vector_products.h"

namespace draftscope::engine::cpu {
namespace {

struct PairDot {
  using Sums = VectorAvx512;
  using Weight = __m512bh;
  using Activation = __m512bh;
  static constexpr int step = 32;
  static constexpr std::int64_t weight_bytes = 2;
  static constexpr std::int64_t activation_bytes = 2;
  static constexpr int max_accumulators = 24;
  static constexpr int outputs_of_many_rows = 2;

  static bool wants_prefetches() { return streams_want_prefetches(); }
  static Weight weight(const std::byte* p) { return reinterpret_cast<Weight>(_mm512_loadu_si512(p)); }
  static Weight weight_first(const std::byte* p, std::int64_t n) {
    return reinterpret_cast<Weight>(_mm512_maskz_loadu_epi16(static_cast<__mmask32>((1U << n) - 1U), p));
  }
  static Activation activation(const std::byte* p) { return weight(p); }
  static __m512 multiply_add(__m512 sum, Weight w, Activation x) { return _mm512_dpbf16_ps(sum, w, x); }
};

void pack(const float* row, std::int32_t index, std::int64_t depth, std::byte* set) {
  std::byte* out = set + index * activation_row_bytes<PairDot>(depth);
  for (std::int64_t k = 0; k < depth; k += PairDot::step) {
    const std::int64_t rest = depth - k;
    const auto first = VectorAvx512::load_first(row + k, rest < 16 ? rest : 16, 0.0F);
    const auto second = rest <= 16
                            ? VectorAvx512::zero()
                            : VectorAvx512::load_first(row + k + 16, rest - 16 < 16 ? rest - 16 : 16, 0.0F);
    const auto both = _mm512_cvtne2ps_pbh(second, first);
    _mm512_storeu_si512(out + k * PairDot::activation_bytes, reinterpret_cast<__m512i>(both));
  }
}

}  // namespace

const Kernels& avx512_bf16_kernels() {
  static const Kernels kernels = [] {
    Kernels set = avx512_kernels();
    set.name = "avx512-bf16";
    set.products[static_cast<std::size_t>(DType::bf16)] = {set_bytes_of<PairDot>, pack,
                                                           vector_product<PairDot>};
    return set;
  }();
  return kernels;
}

}  // namespace draftscope::engine::cpu
