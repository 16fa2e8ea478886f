// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// RMS norms of rows of the residual stream, by all threads of a block. Each thread takes runs of four values,
// a block's width apart. It keeps up to 4,096 values of a row in registers between the two passes over it.
// Squares are summed by thread, by warp, then over the warps in order: a row's bits depend on its values and
// the block's width alone.

#include "device.h"

namespace draftscope::engine::cuda {

template <typename Element>
DRAFTSCOPE_DEVICE std::uint32_t pack(float low, float high) {
  return Element::pair_from_floats(low, high);
}

/// Σ x² over a row by one warp, always in the same order.
DRAFTSCOPE_DEVICE float row_square_sum(const float* row, int depth) {
  const int lane = thread_index() % warp_threads;
  float sum = 0.0F;
  for (int i = lane * 4; i < depth; i += warp_threads * 4)
    for (int j = 0; j < 4; ++j) sum += row[i + j] * row[i + j];
  for (int mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
  return sum;
}

/// 1 / the root mean square of a row. Each thread of the block passes its part of the sum of squares; all
/// threads call this and get the result. `warp_sums` is unused shared memory for one float per warp.
DRAFTSCOPE_DEVICE float rms_factor(float squares, int depth, float epsilon, float* warp_sums) {
  for (int mask = 16; mask > 0; mask /= 2) squares += shuffle_xor(squares, mask);
  if (thread_index() % warp_threads == 0) warp_sums[thread_index() / warp_threads] = squares;
  synchronise();
  float total = 0.0F;
  for (int warp = 0; warp < block_threads() / warp_threads; ++warp) total += warp_sums[warp];
  return 1.0F / sqrtf(total / static_cast<float>(depth) + epsilon);
}

template <typename Element>
class RowNorm {
  static constexpr int run_values = 4;
  static constexpr int kept_runs = 4;
  struct Values {
    FloatChunk runs[kept_runs];
  };

 public:
  /// Loads as much of the norm's weights `norm` as fits in registers; a null norm only rounds. `depth` is a
  /// multiple of 8.
  DRAFTSCOPE_DEVICE RowNorm(const float* norm, int depth, float epsilon)
      : norm_(norm), depth_(depth), epsilon_(epsilon), weights_{} {
    if (norm != nullptr) weights_ = kept(norm);
  }

  /// Normalises rows 0 … n - 1 from `from(row)`, fp32, to `to(row)`, 16 bits, both aligned to 16 bytes. All
  /// threads of a block call it; `warp_sums` is shared memory for two floats per warp. The next row is loaded
  /// while one is summed.
  template <typename From, typename To>
  DRAFTSCOPE_DEVICE void bring(int n, float* warp_sums, const From& from, const To& to) const {
    if (n == 0) return;
    Values next = kept(from(0));
    for (int row = 0; row < n; ++row) {
      const Values values = next;
      if (row + 1 < n) next = kept(from(row + 1));
      float scale = 1.0F;
      if (norm_ != nullptr)
        // The sums alternate between two places: a warp may be one row ahead of another that still reads.
        scale = scale_of(values, from(row), warp_sums + row % 2 * (block_threads() / warp_threads));
      write(values, scale, from(row), to(row));
    }
  }

 private:
  DRAFTSCOPE_DEVICE static int place(int run) {
    return (run * block_threads() + thread_index()) * run_values;
  }
  DRAFTSCOPE_DEVICE static FloatChunk at(const float* row, int i) {
    return *reinterpret_cast<const FloatChunk*>(row + i);
  }

  DRAFTSCOPE_DEVICE Values kept(const float* row) const {
    Values values;
#pragma unroll
    for (int run = 0; run < kept_runs; ++run)
      values.runs[run] = place(run) < depth_ ? at(row, place(run)) : FloatChunk{};
    return values;
  }

  DRAFTSCOPE_DEVICE float scale_of(const Values& values, const float* row, float* warp_sums) const {
    float sum = 0.0F;
    const auto add = [&](const FloatChunk& run) {
      for (int j = 0; j < run_values; ++j) sum += run.values[j] * run.values[j];
    };
#pragma unroll
    for (int run = 0; run < kept_runs; ++run) add(values.runs[run]);
    for (int run = kept_runs; place(run) < depth_; ++run) add(at(row, place(run)));
    return rms_factor(sum, depth_, epsilon_, warp_sums);
  }

  DRAFTSCOPE_DEVICE void write(const Values& values, float scale, const float* row,
                               std::uint32_t* out) const {
#pragma unroll
    for (int run = 0; run < kept_runs; ++run)
      if (place(run) < depth_) write_run(values.runs[run], weights_.runs[run], scale, out + place(run) / 2);
    for (int run = kept_runs; place(run) < depth_; ++run)
      write_run(at(row, place(run)), norm_ == nullptr ? FloatChunk{} : at(norm_, place(run)), scale,
                out + place(run) / 2);
  }

  DRAFTSCOPE_DEVICE void write_run(const FloatChunk& run, const FloatChunk& weights, float scale,
                                   std::uint32_t* out) const {
    HalfChunk packed;
#pragma unroll
    for (int j = 0; j < run_values; j += 2)
      packed.words[j / 2] = norm_ == nullptr
                                ? pack<Element>(run.values[j], run.values[j + 1])
                                : pack<Element>(run.values[j] * scale * weights.values[j],
                                                run.values[j + 1] * scale * weights.values[j + 1]);
    *reinterpret_cast<HalfChunk*>(out) = packed;
  }

  const float* norm_;
  int depth_;
  float epsilon_;
  Values weights_;
};

}  // namespace draftscope::engine::cuda
