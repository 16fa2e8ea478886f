// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a rank launches beside a whole model's kernels: products in parts, sums over ranks, the head of its
// own tokens. PassLauncher asks for it where its backend is one of several ranks'.

#include <draftscope/base/result.h>
#include <draftscope/profiler/device_trace.h>
#include <cstdint>

#include "cuda/device_memory.h"
#include "cuda/gpu.h"
#include "cuda/kernels/pass_state.h"
#include "cuda/ranks/rank_part.h"

namespace draftscope::engine::cuda {

/// Device memory of a rank beside a whole model's (Buffers).
struct RankBuffers {
  float* sums = nullptr;            ///< [parts][rows of the widest pass][d_model]
  float* gathered = nullptr;        ///< [ranks][max_decode_rows][d_model]
  HeadPartial* partials = nullptr;  ///< [ranks][max_decode_rows][tiles of max_tokens()]
  float* logits = nullptr;          ///< [ranks][max_decode_rows][max_tokens()]
};

/// Takes the same pieces in the same order every time; with a null base it only measures.
[[nodiscard]] RankBuffers place_rank_buffers(Pieces& pieces, const RankPart& part, std::int32_t rows);

class RankLauncher {
 public:
  /// Nothing is owned. `rows` of the widest pass; `trace`, perhaps null, hears what graphs compute.
  RankLauncher(Gpu& gpu, const RankPart& part, const RankBuffers& buffers, std::int32_t rows,
               profiler::DeviceTrace* trace);

  /// o or down of up to max_decode_rows rows, from the activations that feed it to the residual stream.
  [[nodiscard]] Result<void> add_product(const PassParams& params, WeightFormat format, Norm sublayer,
                                         std::int32_t layer_place, std::int32_t rows) const;

  /// A part's place in `sums`, and its share of the matrix, for wide products.
  struct WidePart {
    std::int32_t first_column;
    float* out;  ///< [rows][d_model]
  };
  [[nodiscard]] std::int32_t parts(Norm sublayer) const;
  [[nodiscard]] WidePart wide_part(Norm sublayer, std::int32_t part) const;
  /// Behind the products of all parts of a wide pass. `scale` is the matrix's, whose products lack it, or
  /// null.
  [[nodiscard]] Result<void> add_wide_parts(const PassParams& params, Norm sublayer, const float* scale,
                                            std::int32_t rows) const;

  /// Tokens that the head of this rank has.
  [[nodiscard]] std::int32_t tokens() const { return part_.tokens(part_.place.rank); }
  /// Points the head's results at this rank's places, for a launch over `rows` rows in all.
  void aim_head(PassParams& params, std::int32_t rows) const;
  /// Behind it: every rank's results as those of one head. `params` are a whole model's.
  [[nodiscard]] Result<void> join_head(const PassParams& params, std::int32_t rows) const;

 private:
  [[nodiscard]] std::int32_t depth(Norm sublayer) const;
  /// Adds own parts, which begin at `parts`, and brings every rank's sums together, row block by row block.
  [[nodiscard]] Result<void> add_parts(const PassParams& params, Norm sublayer, const float* parts,
                                       std::int32_t part_rows, const float* scale, std::int32_t rows) const;
  [[nodiscard]] Result<void> add_sums(const PassParams& params, Norm sublayer, std::int32_t rows) const;
  [[nodiscard]] float* own_sums(std::int32_t rows) const;
  [[nodiscard]] std::int32_t max_tiles() const;

  Gpu& gpu_;
  const RankPart& part_;
  RankBuffers buffers_;
  std::int32_t rows_;
  profiler::DeviceTrace* trace_;
  GpuDescription device_;
};

}  // namespace draftscope::engine::cuda
