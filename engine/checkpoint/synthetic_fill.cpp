// SPDX-License-Identifier: GPL-3.0-or-later
#include "synthetic_fill.h"

#include <draftscope/base/counter_random.h>
#include <draftscope/base/parallel.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "checkpoint_hash.h"
#include "numbers/trait_numbers.h"

namespace draftscope::engine {
namespace {

std::uint64_t tensor_key(std::uint64_t seed, TensorKind kind, std::int32_t layer) {
  const auto number = 32 * static_cast<std::uint64_t>(layer + 1) + static_cast<std::uint64_t>(kind);
  return splitmix(seed + splitmix_step * (number + 1));
}

/// The part of the recipe that is the same for a run of elements with the same high32(e).
struct Run {
  std::uint32_t low_key;
  std::uint32_t addend;  ///< high32(key) + high32(e) × 0x9E3779B9
  float scale;
};

inline std::uint32_t element_bits(std::uint32_t low, const Run& run) {
  std::uint32_t x = low ^ run.low_key;
  x = (x ^ (x >> 16)) * 0x7FEB352DU;
  x ^= x >> 15;
  x = (x + run.addend) * 0x846CA68BU;
  return x ^ (x >> 16);
}

inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

[[gnu::always_inline]] inline void fill_run(std::uint16_t* out, std::uint32_t first, std::uint32_t n,
                                            const Run& run) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t x = element_bits(first + i, run);
    const std::uint32_t pairs = (x & 0x00FF00FFU) + ((x >> 8) & 0x00FF00FFU);
    const auto centred = static_cast<std::int32_t>((pairs & 0xFFFFU) + (pairs >> 16)) - 510;
    out[i] = to_bf16(static_cast<float>(centred) * run.scale);
  }
}

void fill_run_baseline(std::uint16_t* out, std::uint32_t first, std::uint32_t n, const Run& run) {
  fill_run(out, first, n, run);
}

#if defined(__x86_64__)
// Compiles the same code for wider vectors, which is about four times as fast. The arithmetic is exact, so
// the bits are the same.
[[gnu::target("avx2")]] void fill_run_avx2(std::uint16_t* out, std::uint32_t first, std::uint32_t n,
                                           const Run& run) {
  fill_run(out, first, n, run);
}
#endif

using FillRun = void (*)(std::uint16_t*, std::uint32_t, std::uint32_t, const Run&);

FillRun fastest_fill() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return fill_run_avx2;
#endif
  return fill_run_baseline;
}

/// Standard deviation of the embedding that gives the residual stream a standard deviation of 1.
double embedding_deviation(const speculation::ModelShape& shape) {
  const double multiplier = shape.traits.embedding_multiplier;
  return 1.0 / (multiplier > 0.0 ? multiplier : std::sqrt(shape.d_model));
}

/// Factor of queries and keys that compensates a scale of scores other than 1 / sqrt(head_dim).
double score_correction(const speculation::ModelShape& shape) {
  const double multiplier = shape.traits.attention_multiplier;
  return multiplier > 0.0 ? std::sqrt(1.0 / (multiplier * std::sqrt(shape.head_dim))) : 1.0;
}

/// Factor of a norm. If sublayers' outputs are normalised, the size of their matrices has no effect, so the
/// norm's factor replaces it.
double norm_scale(TensorKind kind, const speculation::ModelShape& shape, double redundancy) {
  switch (kind) {
    case TensorKind::final_norm:
      return (shape.tied_embeddings ? 4.0 / std::sqrt(shape.d_model) / embedding_deviation(shape) : 4.0) /
             shape.traits.logit_multiplier;
    case TensorKind::q_norm:
    case TensorKind::k_norm:
      return 2.0 * score_correction(shape);
    case TensorKind::attention_output_norm:
    case TensorKind::mlp_output_norm:
      return 1.0 - redundancy;
    default:
      return 1.0;
  }
}

double scale_of(TensorKind kind, const speculation::ModelShape& shape, double redundancy) {
  // Standard deviation of a sum of four random bytes.
  const double unit = std::sqrt(21845.0);
  const double kept = 1.0 - redundancy;
  switch (kind) {
    case TensorKind::attention_norm:
    case TensorKind::mlp_norm:
    case TensorKind::final_norm:
    case TensorKind::q_norm:
    case TensorKind::k_norm:
    case TensorKind::attention_output_norm:
    case TensorKind::mlp_output_norm:
      return norm_scale(kind, shape, redundancy);
    case TensorKind::embedding:
      return embedding_deviation(shape) / unit;
    case TensorKind::q:
    case TensorKind::k:
      return 2.0 / std::sqrt(shape.d_model) / unit * score_correction(shape);
    case TensorKind::v:
    case TensorKind::gate:
    case TensorKind::up:
    case TensorKind::head:
      return 1.0 / std::sqrt(shape.d_model) / unit;
    case TensorKind::o:
      return kept / std::sqrt(shape.q_width()) / unit;
    case TensorKind::down:
      return kept / std::sqrt(shape.d_ff) / unit;
    case TensorKind::o_bias:
    case TensorKind::down_bias:
      return kept / 8.0 / unit;
    default:
      return 1.0 / 8.0 / unit;
  }
}

/// The value with which training of xIELU begins, from before a softplus.
float first_number(TensorKind kind) {
  switch (kind) {
    case TensorKind::alpha_p:
      return static_cast<float>(std::log(std::expm1(0.8)));
    case TensorKind::alpha_n:
      return static_cast<float>(std::log(std::expm1(0.3)));
    case TensorKind::beta:
      return 0.5F;
    default:
      return -1e-6F;
  }
}

/// Elements [begin, end) of one tensor; begin and end have the same high32 (part_elements divides 2^32).
struct Part {
  const TensorSlot* slot;
  std::uint64_t begin;
  std::uint64_t end;
};
constexpr std::uint64_t part_elements = std::uint64_t{1} << 20;

std::uint16_t* elements_of(const TensorSlot& slot) {
  // Views are read-only for everything that runs after the fill.
  return reinterpret_cast<std::uint16_t*>(const_cast<std::byte*>(slot.view->data));
}

/// Fills a norm; `offset` is the number that the architecture adds to a norm's weight.
void fill_norm(const TensorSlot& slot, const Run& run, float offset) {
  const auto positive = to_bf16(run.scale - offset);
  const auto negative = to_bf16(-run.scale - offset);
  const std::span<std::uint16_t> elements(elements_of(slot), static_cast<std::size_t>(slot.columns));
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const bool is_negative =
        slot.kind == TensorKind::final_norm && (element_bits(static_cast<std::uint32_t>(e), run) & 1U) != 0;
    elements[e] = is_negative ? negative : positive;
  }
}

void add_parts(const TensorSlot& slot, std::uint64_t begin, std::uint64_t end, std::vector<Part>& parts) {
  while (begin < end) {
    const std::uint64_t next = std::min(end, (begin / part_elements + 1) * part_elements);
    parts.push_back({&slot, begin, next});
    begin = next;
  }
}

void fill_parts(const std::vector<Part>& parts, const speculation::ModelShape& shape, SyntheticSeed seed,
                std::size_t threads) {
  const auto fill = fastest_fill();
  for_each_index(parts.size(), threads, [&](std::size_t index) {
    const auto& [slot, begin, end] = parts[index];
    const std::uint64_t key = tensor_key(seed.seed, slot->kind, slot->layer);
    const Run run{
        static_cast<std::uint32_t>(key),
        static_cast<std::uint32_t>(key >> 32) + static_cast<std::uint32_t>(begin >> 32) * 0x9E3779B9U,
        static_cast<float>(scale_of(slot->kind, shape, seed.redundancy))};
    if (slot->is_norm())
      fill_norm(*slot, run, norm_offset(shape));
    else if (slot->is_number())
      *elements_of(*slot) = to_bf16(first_number(slot->kind));
    else
      fill(elements_of(*slot) + begin, static_cast<std::uint32_t>(begin),
           static_cast<std::uint32_t>(end - begin), run);
  });
}

}  // namespace

void fill_synthetic(const std::vector<TensorSlot>& slots, const speculation::ModelShape& shape,
                    SyntheticSeed seed, std::size_t threads) {
  std::vector<Part> parts;
  for (const auto& slot : slots) {
    const auto elements = static_cast<std::uint64_t>(slot.rows * slot.columns);
    if (slot.is_norm())
      parts.push_back({&slot, 0, elements});
    else
      add_parts(slot, 0, elements, parts);
  }
  fill_parts(parts, shape, seed, threads);
}

void fill_synthetic_samples(const std::vector<TensorSlot>& slots, const speculation::ModelShape& shape,
                            SyntheticSeed seed) {
  std::vector<Part> parts;
  for (const auto& slot : slots) {
    const auto elements = static_cast<std::uint64_t>(slot.rows * slot.columns);
    if (slot.is_norm()) {
      parts.push_back({&slot, 0, elements});
    } else if (slot.is_vector()) {
      add_parts(slot, 0, elements, parts);
    } else {
      const HashSample sample = hash_sample(*slot.view);
      // Elements that the sample covers partially are filled completely.
      add_parts(slot, sample.offset / 2,
                std::min<std::uint64_t>((sample.offset + sample.bytes + 1) / 2, elements), parts);
    }
  }
  fill_parts(parts, shape, seed, 1);
}

}  // namespace draftscope::engine
