// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/costs/sum_ends.h"

#include <array>
#include <cmath>

namespace draftscope::simulator {

namespace {

// Of two, four and eight ranks together.
constexpr std::int32_t parts_of_all = 8;

struct KernelEnds {
  std::string_view kernels;
  SumEnds ends;
};

// Of bf16 weights, from kernels that summed in parts. What further rows take on avx2 are instructions, as
// callgrind counted them of 256 outputs of 128 to 512 columns in 1 to 8 parts, of one row and of three more
// (the law is within 3 % of them). A single row's ends hide behind its loads: of the 17 values of k that
// their instructions are, times showed 4. The other sets never ran there: their instructions were counted in
// the compiled code, and the same share of a single row's hides. What tiles (amx-bf16) take is not known.
constexpr std::array<KernelEnds, 3> known_ends{{
    {"avx2", {.first_row = {4.0, 20.0}, .further_rows = {38.6, 68.0}}},
    {"avx512", {.first_row = {10.0, 42.0}, .further_rows = {68.0, 51.0}}},
    {"avx512-bf16", {.first_row = {20.0, 90.0}, .further_rows = {117.0, 109.0}}},
}};

/// The set whose product of that type a set has: those of other types than bf16 are AVX-512's.
std::string_view product_set(std::string_view kernels, WeightType weights) {
  const bool has_wide_lanes = kernels.starts_with("avx512") || kernels.starts_with("amx");
  return has_wide_lanes && weights != WeightType::bf16 ? "avx512" : kernels;
}

}  // namespace

SumEnds sum_ends_of(std::string_view kernels, WeightType weights) {
  const bool is_plain =
      weights == WeightType::bf16 || weights == WeightType::fp16 || weights == WeightType::fp32;
  for (const KernelEnds& known : known_ends)
    if (is_plain && known.kernels == product_set(kernels, weights)) return known.ends;
  return {};
}

double rank_share(const SumEnds::Ends& ends, double columns, std::int32_t ranks) {
  if (ranks <= 1) return 1.0;
  const bool is_fixed = parts_of_all % ranks == 0 && std::fmod(columns, parts_of_all) == 0.0;
  const std::int32_t parts = is_fixed ? parts_of_all / ranks : 1;
  return (columns / ranks + parts * ends.of_part + ends.of_output) /
         (columns + ends.of_part + ends.of_output);
}

}  // namespace draftscope::simulator
